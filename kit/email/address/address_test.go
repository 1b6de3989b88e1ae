package address

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{ // "": there is no normal form
		" Ada@Example.COM ":              "ada@example.com",
		"äda@bücher.example":             "äda@xn--bcher-kva.example",
		"äda@BÜCHER.example":             "äda@xn--bcher-kva.example",
		"a\u0308da@bu\u0308cher.example": "äda@xn--bcher-kva.example",
		"äda@XN--BCHER-KVA.example":      "äda@xn--bcher-kva.example",
		"ÄDA@example.com":                "Äda@example.com", // only the receiving server knows whether case matters
		"A\u0308DA@example.com":          "Äda@example.com",
		"H\u0331@example.com":            "\u1E96@example.com", // has no character in upper case
		"h@H\u0331.example":              "h@xn--ckg.example",
		"h@\u1E96.example":               "h@xn--ckg.example",
		"ada@faß.example":                "ada@xn--fa-hia.example",
		"ada@gmaıl.example":              "ada@xn--gmal-nza.example", // a separate domain
		`"a@b"@Example.com`:              `"a@b"@example.com`,
		`"Ada"@example.com`:              "ada@example.com",
		` "\A\d\a"@example.com `:         "ada@example.com",
		`"ada.b+c"@example.com`:          "ada.b+c@example.com",
		`"äda"@example.com`:              "äda@example.com",
		"\"a\\\u0308da\"@example.com":    "äda@example.com", // the mark composes with the letter before the backslash
		"\"\u00a0ada\"@example.com":      "\"\u00a0ada\"@example.com",
		`"a\@b"@example.com`:             `"a@b"@example.com`,
		`"a b"@example.com`:              `"a b"@example.com`,
		"\"a<\u0338\"@example.com":       "a\u226e@example.com", // the mark composes with <, which needs quotes
		"\"a<\\\u0338\"@example.com":     "a\u226e@example.com",
		`"\ \a"@example.com`:             `" a"@example.com`,
		`"a\"\\\b"@example.com`:          `"a\"\\b"@example.com`,
		`"a..b"@example.com`:             `"a..b"@example.com`,
		`".a"@example.com`:               `".a"@example.com`,
		`""@example.com`:                 `""@example.com`,
		`"@example.com`:                  `"@example.com`, // not well formed, as the next four
		`"a"b"@example.com`:              `"a"b"@example.com`,
		`"a\"@example.com`:               `"a\"@example.com`,
		`"a"."b"@example.com`:            `"a"."b"@example.com`,
		`\ada@example.com`:               `\ada@example.com`,
		"ada@r3---a.example":             "ada@r3---a.example",

		"\u212Aate@example.com":   "", // the Kelvin sign is not k
		"kate@\u212Aate.example":  "",
		"k\u0130m@example.com":    "", // the dotted capital I is not i
		"ada\u1FEF@example.com":   "", // the Greek varia is not a backtick
		"ada@ex\u00ADample.com":   "", // a soft hyphen
		"ada@ｅｘａｍｐｌｅ.com":         "",
		"ada@\u017Fite.example":   "", // the long s
		"ada@example\u3002com":    "", // an ideographic full stop
		"ada@xn--zz.example":      "",
		"ada@xn--ite-5jb.example": "", // the long s
		"ada@xn--gmail-.example":  "", // decodes to ASCII
		"ada@example.com.":        "",
		"ada@bücher.example.":     "",
		"ad\xffa@example.com":     "",
		strings.Repeat("a", 30) + "@" + strings.Repeat("ü.", 28) + "example": "", // 261 bytes
		"Ada":  "",
		"ada@": "",
		"@a":   "",
		"":     "",
	} {
		got, ok := Normalize(address)
		if got != want || ok != (want != "") {
			t.Errorf("%+q: got %+q, want %+q", address, got, want)
		}
		if again, _ := Normalize(got); again != got {
			t.Errorf("%+q is not its own normal form: %+q", got, again)
		}
		if again, _ := Normalize(Readable(got)); again != got {
			t.Errorf("%+q is not the normal form of %+q: %+q", got, Readable(got), again)
		}
	}
	if got := Readable("äda@xn--bcher-kva.example"); got != "äda@bücher.example" {
		t.Errorf("readable: %q", got)
	}
}

// TestEveryCharacter normalizes addresses with each character of Unicode, before the @ and in the domain. Two addresses have
// the same normal form only if they have the same character. The encoding of the character can differ. For ASCII characters and
// in the domain, the case can also differ. A character that is not ASCII never becomes ASCII.
func TestEveryCharacter(t *testing.T) {
	t.Parallel()
	for _, place := range []struct {
		before, after string
		character     func(s string) string // the same string for the same character
	}{
		{"a", "b@example.com", func(s string) string {
			if s[0] < utf8.RuneSelf {
				return strings.ToLower(s)
			}
			return norm.NFC.String(s)
		}},
		{"ada@a", "b.example", func(s string) string { return norm.NFC.String(strings.ToLower(norm.NFC.String(s))) }},
	} {
		t.Run(place.before+place.after, func(t *testing.T) {
			t.Parallel()
			valid := 0
			for r := range unicode.MaxRune + 1 {
				if r >= 0x40000 && r&0xffff >= 0x200 { // planes 4 to 16 have no characters except the first 512 of plane 14, or private ones
					continue
				}
				address := place.before + string(r) + place.after
				normal, ok := Normalize(address)
				if !ok || !utf8.ValidRune(r) || r == '@' {
					continue
				}
				valid++
				character := place.character(string(r))
				if r >= utf8.RuneSelf && character[0] < utf8.RuneSelf {
					t.Errorf("%U becomes ASCII: %q", r, normal)
				}
				if want := norm.NFC.String(place.before + character + place.after); normal != want && Readable(normal) != want {
					t.Errorf("%U: %+q is the normal form of %+q", r, normal, Readable(normal))
				}
				if normal == address {
					continue
				}
				for _, again := range []string{normal, Readable(normal)} {
					if got, _ := Normalize(again); got != normal {
						t.Errorf("%U: %+q has the normal form %+q, not %+q", r, again, got, normal)
					}
				}
			}
			if valid < 90_000 { // Unicode 15 has more letters
				t.Errorf("only %d characters are valid", valid)
			}
		})
	}
}
