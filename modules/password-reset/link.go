package passwordreset

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"example.com/ginseng/kit/apperr"
)

// placeholders are replaced by the token in a link. JavaScript's URL percent-encodes the braces in a path.
var placeholders = []string{"{token}", "%7Btoken%7D", "%7btoken%7d"}

// uriCharacters are the characters of a URI (RFC 3986 section 2). Browsers read a backslash as a slash, and skip spaces and
// line breaks, so they could see another host than url.Parse.
const uriCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%"

// links checks the links of emails.
type links struct {
	origins   []string // as returned by origin
	localhost bool     // also allowed, at any port
}

func newLinks(origins []string, localhost bool) links {
	l := links{localhost: localhost}
	for _, text := range origins {
		if u, err := url.Parse(text); err == nil { // validated in Settings
			l.origins = append(l.origins, origin(u))
		}
	}
	return l
}

// check fails with ValidationFailed unless the link, with a token in it, is an http(s) URL of one of the origins. Another
// site must not get a token.
func (l links) check(link string) error {
	u, ok := parse(withToken(link, "x"))
	other, _ := parse(withToken(link, "y"))
	if !ok || other == nil || origin(u) != origin(other) { // the placeholder is in the host
		return apperr.Invalid(apperr.Field{
			In: "body", Param: "link", Code: apperr.Format,
			Message: "Must be a percent-encoded URL with http:// or https://, without a user name, and with {token} only after the host.",
		})
	}
	if slices.Contains(l.origins, origin(u)) || l.localhost && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, strings.ToLower(u.Hostname())) {
		return nil
	}
	return apperr.Invalid(apperr.Field{
		In: "body", Param: "link", Code: apperr.OneOf, Expected: append([]string{}, l.origins...),
		Message: "Must have one of the origins in RESET_LINK_ORIGINS.",
	})
}

func parse(link string) (*url.URL, bool) {
	u, err := url.Parse(link)
	if err != nil || strings.Trim(link, uriCharacters) != "" {
		return nil, false
	}
	return u, (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

// origin returns the origin of a URL as browsers compare it: in lower case, without the default port (RFC 6454 section 4).
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	defaultPort := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	switch {
	case port != "" && port != defaultPort:
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host
}

// withToken returns the link with the token in place of the placeholder, or as the last segment of the path.
func withToken(link, token string) string {
	for _, p := range placeholders {
		if strings.Contains(link, p) {
			return strings.ReplaceAll(link, p, token)
		}
	}
	end := strings.IndexAny(link, "?#")
	if end < 0 {
		end = len(link)
	}
	return strings.TrimSuffix(link[:end], "/") + "/" + token + link[end:]
}
