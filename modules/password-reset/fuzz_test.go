package passwordreset

import (
	"errors"
	"html"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/modules/user"
)

// asBrowser returns the origin that a browser opens for a link: it accepts any number of slashes and backslashes
// after the scheme, removes tabs and line breaks, and uses the part of the authority after the last @ (WHATWG URL
// section 4.4, for http and https). It does not use net/url.
func asBrowser(link string) string {
	link = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.TrimSpace(link))
	scheme, rest, _ := strings.Cut(link, ":")
	scheme = strings.ToLower(scheme)
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	host := strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
	for s, port := range map[string]string{"http": ":80", "https": ":443"} {
		if s == scheme {
			host = strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
		}
	}
	return scheme + "://" + host
}

// FuzzMessage looks for accepted links that open another site, and for links and names that add more than a greeting
// and one link to the email.
func FuzzMessage(f *testing.F) {
	for _, link := range []string{
		"https://app.example.com/reset/{token}", "https://app.example.com", "HTTPS://APP.EXAMPLE.COM:443/?a={token}#b", "http://intra.example.com:8080/%7Btoken%7D",
		"https://app.example.com@evil.example/", `https://app.example.com\@evil.example`, "https://evil.example/?https://app.example.com", "https:app.example.com",
		"https://app.example.com.evil.example", "https://{token}.example.com", "javascript://app.example.com/%0aalert(1)", "https://app.example.com:{token}/", "https:///evil.example",
		"https://app.example.com/\"'()*!$&;=", "https://[::1]:8080/", "//evil.example", "https://app.example.com%2f.evil.example", "https://app.example.com\t.evil.example", "https://app.example.com:80",
	} {
		f.Add(link, "Ada")
		f.Add(link, "<a href=https://evil.example>")
	}
	origins := []string{"https://app.example.com", "http://intra.example.com:8080", "https://[::1]:8080"}
	set := link.NewLinks("RESET_LINK_ORIGINS", origins, false)
	plain := newMessage(user.User{Email: "ada@example.com", Name: "Ada"}, "https://app.example.com/", time.Hour)
	lines := strings.Count(plain.Text, "\n")
	f.Fuzz(func(t *testing.T, page, name string) {
		if _, err := set.Choose(page); err != nil {
			var e *apperr.Error
			if !errors.As(err, &e) || e.Code != apperr.ValidationFailed || len(e.Fields) != 1 || e.Fields[0].Param != "link" || e.Fields[0].In != "body" {
				t.Errorf("%q: %v", page, err)
			}
			return
		}
		for _, token := range []string{aToken, strings.Repeat("-", 43), strings.Repeat("_0", 21) + "x"} {
			final := link.WithToken(page, token)
			if !slices.Contains(origins, asBrowser(final)) {
				t.Errorf("%q opens %s", final, asBrowser(final))
			}
			if !strings.Contains(final, token) || strings.Contains(final, "{token}") || strings.ContainsAny(final, " \t\r\n\\\"<>") {
				t.Errorf("%q became %q", page, final)
			}
			m := newMessage(user.User{Email: "ada@example.com", Name: name}, final, time.Hour)
			shown, hrefs, elements := texts(t, m.HTML)
			_, _, usual := texts(t, plain.HTML)
			if len(hrefs) != 2 || hrefs[0] != hrefs[1] || !slices.Contains(origins, asBrowser(html.UnescapeString(hrefs[0]))) || !strings.Contains(shown, final) {
				t.Errorf("%q, %q: links to %q in %s", page, name, hrefs, m.HTML)
			}
			if !maps.Equal(elements, usual) || strings.Count(m.Text, "\n") != lines || strings.Count(m.Text, "://") != strings.Count(final, "://") {
				t.Errorf("%q, %q: elements %v in %s", page, name, elements, m.Text)
			}
		}
	})
}
