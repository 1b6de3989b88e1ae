package passwordreset

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"example.com/ginseng/kit/apperr"
)

// placeholders are where the token goes in a link. A URL object of JavaScript's percent-encodes the braces in a path.
var placeholders = []string{"{token}", "%7Btoken%7D", "%7btoken%7d"}

// uriCharacters are those of which a URI consists (RFC 3986 section 2). A backslash, a blank or a line is not among them:
// browsers read the first as a slash and leave out the others, so that the host they see may be another than ours.
const uriCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%"

// links says where the link of a mail may lead.
type links struct {
	origins   []string // as origin writes them
	localhost bool     // also to this machine, at any port
}

func newLinks(origins []string, localhost bool) links {
	l := links{localhost: localhost}
	for _, text := range origins {
		if u, err := url.Parse(text); err == nil { // Config.Check has seen to it
			l.origins = append(l.origins, origin(u))
		}
	}
	return l
}

// check fails with ValidationFailed unless the link, with a token in it, is an http(s) URL of one of the origins. A token
// must not get into the hands of another site.
func (l links) check(link string) error {
	u, ok := parse(withToken(link, "x"))
	other, _ := parse(withToken(link, "y"))
	if !ok || other == nil || origin(u) != origin(other) { // a placeholder in the host makes any host of it
		return apperr.Invalid(apperr.Field{
			In: "body", Param: "link", Code: apperr.Format,
			Message: "Must be an address that begins with http:// or https://, has no user name and no placeholder before its path, and is percent-encoded.",
		})
	}
	if slices.Contains(l.origins, origin(u)) || l.localhost && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, strings.ToLower(u.Hostname())) {
		return nil
	}
	return apperr.Invalid(apperr.Field{
		In: "body", Param: "link", Code: apperr.OneOf, Expected: append([]string{}, l.origins...),
		Message: "Must lead to one of the sites that the service is set up for (RESET_LINK_ORIGINS).",
	})
}

func parse(link string) (*url.URL, bool) {
	u, err := url.Parse(link)
	if err != nil || strings.Trim(link, uriCharacters) != "" {
		return nil, false
	}
	return u, (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

// origin is the origin of a URL as browsers compare it: lower case, without the scheme's own port (RFC 6454 section 4).
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	own := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	switch {
	case port != "" && port != own:
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host
}

// withToken puts the token into a link: for the placeholder, or else as a last segment of the path.
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
