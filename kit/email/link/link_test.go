package link

import (
	"regexp"
	"strings"
	"testing"

	"example.com/ginseng/kit/apperr"
)

const aToken = "Zk3n0cXGk2-_Zk3n0cXGk2-_Zk3n0cXGk2-_Zk3n0cX"

// TestCheckLink: the code "" means that the link is valid.
func TestCheckLink(t *testing.T) {
	t.Parallel()
	set := NewLinks("RESET_LINK_ORIGINS", []string{"https://app.example.com", "http://Intra.example.com:8080", "https://[2001:db8::1]"}, false)
	development := NewLinks("RESET_LINK_ORIGINS", nil, true)
	for link, want := range map[string][2]string{ // with LinkOrigins, and in development without them
		"https://app.example.com/reset":                            {"", "one_of"},
		"https://app.example.com":                                  {"", "one_of"},
		"HTTPS://APP.example.COM:443/reset":                        {"", "one_of"},
		"https://app.example.com:/reset":                           {"", "one_of"},
		"https://app.example.com/a?b=%20c&d=https://e.example/@#f": {"", "one_of"},
		"https://app.example.com/{token}?a={token}#/{token}":       {"", "one_of"},
		"https://app.example.com/%7Btoken%7D":                      {"", "one_of"},
		"http://intra.example.com:8080/":                           {"", "one_of"},
		"https://[2001:DB8::1]/":                                   {"", "one_of"},
		"http://localhost:5173/reset/{token}":                      {"one_of", ""},
		"https://LOCALHOST/":                                       {"one_of", ""},
		"http://127.0.0.1:1/":                                      {"one_of", ""},
		"http://[::1]:8080/":                                       {"one_of", ""},

		// another origin
		"http://app.example.com/":                       {"one_of", "one_of"},
		"https://app.example.com:8443/":                 {"one_of", "one_of"},
		"http://intra.example.com/":                     {"one_of", "one_of"},
		"https://evil.example/":                         {"one_of", "one_of"},
		"https://app.example.com.evil.example/":         {"one_of", "one_of"},
		"https://evil-app.example.com/":                 {"one_of", "one_of"},
		"https://app.example.com./":                     {"one_of", "one_of"},
		"https://example.com/":                          {"one_of", "one_of"},
		"https://xn--pp-6kc.example.com/":               {"one_of", "one_of"},
		"http://localhost.evil.example/":                {"one_of", "one_of"},
		"http://127.0.0.1.evil.example/":                {"one_of", "one_of"},
		"http://127.1/":                                 {"one_of", "one_of"},
		"http://0x7f000001/":                            {"one_of", "one_of"},
		"http://[::ffff:127.0.0.1]/":                    {"one_of", "one_of"},
		"https://{token}app.example.com/":               {"format", "format"},
		"http://localhost{token}/":                      {"format", "format"},
		"https://evil.example/?{token}@app.example.com": {"format", "format"},
		"https://evil.example#@app.example.com/":        {"one_of", "one_of"},
		"https://evil.example/https://app.example.com/": {"one_of", "one_of"},

		// a query with an address to which a page may redirect
		"https://app.example.com/redirect?to=https://evil.example/{token}":       {"format", "format"},
		"https://app.example.com/redirect?to=https%3A%2F%2Fevil.example/{token}": {"format", "format"},
		"https://app.example.com/?to=//evil.example/?t=%7Btoken%7D":              {"format", "format"},
		"https://app.example.com/?a=b;to={token}":                                {"format", "format"},
		"https://app.example.com/?{token}=a":                                     {"format", "format"},
		"https://app.example.com/?a{token}":                                      {"format", "format"},
		"https://app.example.com/?{token}":                                       {"", "one_of"},
		"https://app.example.com/?a=b&t={token}&c":                               {"", "one_of"},

		// not a URL, or a URL that browsers may parse differently
		"javascript:alert(1)//https://app.example.com/": {"format", "format"},
		"data:text/html,x":                      {"format", "format"},
		"//app.example.com/":                    {"format", "format"},
		"/reset":                                {"format", "format"},
		"reset":                                 {"format", "format"},
		"":                                      {"format", "format"},
		"ftp://app.example.com/":                {"format", "format"},
		"https:app.example.com/":                {"format", "format"},
		"https:///app.example.com/":             {"format", "format"},
		"https://":                              {"format", "format"},
		"https://:443/":                         {"format", "format"},
		"https://ada@app.example.com/":          {"format", "format"},
		"https://app.example.com@evil.example/": {"format", "format"},
		"https://app.example.com:x@evil.example/": {"format", "format"},
		"https://@app.example.com/":               {"format", "format"},
		"https://{token}@app.example.com/":        {"format", "format"},
		`https://evil.example\@app.example.com/`:  {"format", "format"},
		`https:\\evil.example/`:                   {"format", "format"},
		`https://app.example.com\.evil.example/`:  {"format", "format"},
		"https://app.example.com\t/":              {"format", "format"},
		"https://app.example.com/\r\nBcc: x":      {"format", "format"},
		"https://app.example.com/ x":              {"format", "format"},
		"https://app.example.com/\x00":            {"format", "format"},
		"https://app%2eexample.com/":              {"format", "format"},
		"https://app.example.com/%zz":             {"format", "format"},
		"https://app.example.com/%{token}":        {"format", "format"},
		"https://app.example.com:port/":           {"format", "format"},
		"https://app.example.com:{token}/":        {"format", "format"},
		"https://аpp.example.com/":                {"format", "format"}, // the first letter is Cyrillic
		"https://app.example.com／evil.example/":   {"format", "format"}, // a fullwidth slash
		"https://app.e{token}ample.com/":          {"format", "format"},
		"https://app.e%7Btoken%7Dample.com/":      {"format", "format"},
		"https://app.example.com/{other}":         {"format", "format"},
		`https://app.example.com/"><script>`:      {"format", "format"},
	} {
		for i, l := range []Links{set, development} {
			code, fields := "", l.check(link)
			if fields != nil {
				e := fields.(*apperr.Error)
				code = string(e.Fields[0].Code)
				if e.Code != apperr.ValidationFailed || e.Fields[0].Param != "link" || e.Fields[0].In != "body" || strings.Contains(e.Fields[0].Message, "evil") {
					t.Errorf("%q: %+v", link, e)
				}
				if origins, ok := e.Fields[0].Expected.([]string); code == "one_of" && (!ok || len(origins) != len(l.pages)) {
					t.Errorf("%q: expected %v", link, e.Fields[0].Expected)
				}
			}
			if code != want[i] {
				t.Errorf("%q (%d): %q, want %q", link, i, code, want[i])
			}
		}
	}
}

// TestLinkPath: a page with a path allows itself and the pages below it.
func TestLinkPath(t *testing.T) {
	t.Parallel()
	l := NewLinks("RESET_LINK_ORIGINS", []string{"https://app.example.com/account/reset/", "https://x.example.com/x", "https://other.example.com"}, false)
	for link, want := range map[string]string{
		"https://app.example.com/account/reset":                              "",
		"https://app.example.com/account/reset/":                             "",
		"https://app.example.com/account/reset/{token}":                      "",
		"https://app.example.com/account/reset/de/{token}/x":                 "",
		"https://app.example.com/account/reset?t={token}":                    "",
		"HTTPS://APP.example.com:443/account/reset#t={token}":                "",
		"https://app.example.com/account/reset#/../redirect":                 "",
		"https://other.example.com/any/page":                                 "",
		"https://app.example.com/":                                           "one_of",
		"https://app.example.com/redirect/{token}":                           "one_of",
		"https://app.example.com/account":                                    "one_of",
		"https://app.example.com/account/resets":                             "one_of",
		"https://app.example.com/account/reset{token}":                       "one_of",
		"https://app.example.com/Account/Reset":                              "one_of",
		"https://app.example.com/{token}/account/reset":                      "one_of",
		"https://app.example.com/account/reset/../../redirect":               "one_of",
		"https://app.example.com/account/reset/..":                           "one_of",
		"https://app.example.com/account/reset/./x":                          "one_of",
		"https://app.example.com/account/reset/%2e%2e/redirect":              "one_of",
		"https://app.example.com/account/reset/.%2E/redirect":                "one_of",
		"https://app.example.com/account/reset/..%2fredirect":                "one_of",
		"https://app.example.com/account/reset%2f..%2fredirect":              "one_of",
		"https://app.example.com/account/reset/%252e%252e/redirect":          "one_of",
		"https://app.example.com/account/reset/..;/redirect":                 "one_of",
		"https://app.example.com/account/reset//evil.example":                "one_of",
		"https://app.example.com//account/reset":                             "one_of",
		"https://app.example.com/redirect?/account/reset/{token}":            "format",
		"https://app.example.com/redirect?to=/account/reset&t={token}":       "one_of",
		"https://app.example.com/redirect#/account/reset/{token}":            "one_of",
		"https://app.example.com/account/reset?to=https://e.example/{token}": "format",
		"https://x.example.com/{token}":                                      "one_of", // equals the page for the token x only
		"https://evil.example/account/reset":                                 "one_of",
	} {
		code, err := "", l.check(link)
		if err != nil {
			code = string(err.(*apperr.Error).Fields[0].Code)
		}
		if code != want {
			t.Errorf("%s: %q, want %q", link, code, want)
		}
	}
}

// TestStandardLink: the standard link is the only page with a path.
func TestStandardLink(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pages []string
		want  string
	}{
		{nil, ""},
		{[]string{"https://app.example.com"}, ""},
		{[]string{"https://app.example.com/"}, ""},
		{[]string{"https://App.example.com/reset/"}, "https://app.example.com/reset"},
		{[]string{"https://a.example", "https://app.example.com/reset", "https://b.example"}, "https://app.example.com/reset"},
		{[]string{"https://app.example.com/reset", "https://app.example.com/de/reset"}, ""},
	} {
		l := NewLinks("RESET_LINK_ORIGINS", test.pages, false)
		if l.standard != test.want || test.want != "" && l.check(l.standard) != nil {
			t.Errorf("%v: %q, want %q", test.pages, l.standard, test.want)
		}
	}
}

func TestWithToken(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"https://a.example":                         "https://a.example/T",
		"https://a.example/":                        "https://a.example/T",
		"https://a.example/reset":                   "https://a.example/reset/T",
		"https://a.example/reset/":                  "https://a.example/reset/T",
		"https://a.example/r%2Fs?b=%20c&b=+#d%23/e": "https://a.example/r%2Fs/T?b=%20c&b=+#d%23/e",
		"https://a.example?b":                       "https://a.example/T?b",
		"https://a.example#b?c":                     "https://a.example/T#b?c",
		"https://a.example/{token}/x":               "https://a.example/T/x",
		"https://a.example/x?t={token}":             "https://a.example/x?t=T",
		"https://a.example/#/reset?t={token}":       "https://a.example/#/reset?t=T",
		"https://a.example/%7Btoken%7D?b":           "https://a.example/T?b",
		"https://a.example/%7btoken%7d":             "https://a.example/T",
	} {
		if got := WithToken(link, "T"); got != want {
			t.Errorf("%s: got %s, want %s", link, got, want)
		}
	}
}

// FuzzLink compares accepted links with a stricter check: the string before the path is an allowed origin, and only
// the token was added.
func FuzzLink(f *testing.F) {
	for _, link := range []string{
		"https://app.example.com/reset", "https://app.example.com:443#{token}", "https://app.example.com@evil.example", "https:\\\\x",
		"HTTPS://App.Example.Com?%7Btoken%7D", "https://{token}.example.com", "https://[::1]/", "//x", "javascript:x",
	} {
		f.Add(link)
	}
	l := NewLinks("RESET_LINK_ORIGINS", []string{"https://app.example.com"}, false)
	ours := regexp.MustCompile(`^(?i:https://app\.example\.com(:|:0*443)?)([/?#][!-~]*)?$`)
	f.Fuzz(func(t *testing.T, link string) {
		if l.check(link) != nil {
			return
		}
		out := WithToken(link, aToken)
		if !ours.MatchString(out) || !strings.Contains(out, aToken) || strings.ContainsAny(out, "\\<>\"{}`^|") {
			t.Errorf("%q: got %q", link, out)
		}
	})
}
