package files_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/ginseng/kit/files"
)

func TestCleanName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ disposition, query, want string }{
		{`attachment; filename="a.txt"`, "", "a.txt"},
		{`attachment; filename="a.txt"; filename*=UTF-8''%e2%82%ac%20rates.txt`, "q", "€ rates.txt"},
		{`attachment; filename*=UTF-8''%2e%2e%2fetc%2fpasswd`, "", "passwd"},
		{`form-data; name="cover"; filename="say \"hi\".png"`, "", `say "hi".png`},
		{`form-data; name="cover"; filename="say %22hi%22%0D%0A.png"`, "", `say "hi".png`},
		{`form-data; name="cover"; filename="größe.png"`, "", "größe.png"},
		{`form-data; name="cover"`, "q.png", "q.png"},
		{`attachment; filename*=UTF-8''a%2522b%250Ac.txt`, "", "a%22b%0Ac.txt"},
		{`form-data; name="cover"; filename="a%22.txt"; filename*=UTF-8''a%2522b.txt`, "", "a%22b.txt"},
		{`attachment; filename="a%22b%0Ac.txt"`, "", "a%22b%0Ac.txt"},
		{`attachment; filename=Zürich.png`, "q.png", "Zürich.png"},
		{`attachment; FileName=Zürich.png ; size=1`, "q.png", "Zürich.png"},
		{`attachment; filename=Zürich.png; filename*=UTF-8''%e2%82%ac.txt`, "", "€.txt"},
		{`attachment; filename=""`, "q.png", "q.png"},
		{`attachment; filename=not valid; "`, "q.png", "q.png"},
		{"", "", ""},
		{"", "../../etc/passwd", "passwd"},
		{"", `C:\Users\ada\photo.png`, "photo.png"},
		{"", "..", ""}, {"", "a/.", ""}, {"", "a/", ""}, {"", "  ", ""}, {"", "\x00\r\n\t", ""},
		{"", "a\x00b\r\nSet-Cookie: x\x7f\u0085.txt", "abSet-Cookie: x.txt"},
		{"", "photo\u202egnp.exe", "photognp.exe"},
		{"", "\u200e\u200f\u061c\u2066a\u2069.txt", "a.txt"},
		{"", "\xff\xfe.txt", "\ufffd.txt"},
		{"", "👩‍👧.png", "👩‍👧.png"},
		{"", " .htaccess ", ".htaccess"},
	} {
		if got := files.CleanName(test.disposition, test.query); got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.disposition, test.query, got, test.want)
		}
	}
	for _, long := range []string{strings.Repeat("x", 4096), strings.Repeat("ü", 2048), "x" + strings.Repeat("日", 2048), strings.Repeat("a ", 2048)} {
		got := files.CleanName("", long)
		if len(got) > 255 || len(got) < 252 || !utf8.ValidString(got) || !strings.HasPrefix(long, got) {
			t.Errorf("%.10q…: %d bytes, %q", long, len(got), got)
		}
	}
}
