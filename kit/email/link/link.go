// Package link provides the links in emails. Links checks which pages a link may lead to, and Tokens stores the single-use
// tokens in links.
package link

import (
	"cmp"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"example.com/ginseng/kit/apperr"
)

// placeholders are the strings in a link that the token replaces. The class URL of JavaScript percent-encodes the braces in a
// path.
var placeholders = []string{"{token}", "%7Btoken%7D", "%7btoken%7d"}

// uriCharacters are the characters that a URI can contain (RFC 3986 section 2). Links with other characters are rejected:
// browsers read a backslash as a slash, and skip spaces and line breaks, so they could find another host in the link than
// url.Parse does.
const uriCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%"

// Links checks the links of emails.
type Links struct {
	setting   string // the name of the setting that lists the pages
	pages     []allowedPage
	localhost bool   // links to this machine are also allowed, at any port
	standard  string // the link for requests without a link: the only page with a path, or ""
}

// allowedPage is a page that links may lead to. Links may also lead to the pages below it.
type allowedPage struct{ origin, path string } // origin is a result of the function origin; path does not end with a slash

func (p allowedPage) String() string { return p.origin + p.path }

// NewLinks returns Links that allow links to pages. setting is the name of the setting that lists the pages. A page with a path
// allows links to this page and to the pages below it. A page without a path allows links to all pages of its origin. If
// localhost is true, links to this machine are also allowed.
func NewLinks(setting string, pages []string, localhost bool) Links {
	l := Links{setting: setting, localhost: localhost}
	var withPath []string
	for _, text := range pages {
		u, err := url.Parse(text)
		if err != nil {
			continue // the rule web_page rejects such pages
		}
		p := allowedPage{origin(u), strings.TrimSuffix(u.Path, "/")}
		l.pages = append(l.pages, p)
		if p.path != "" {
			withPath = append(withPath, p.String())
		}
	}
	if len(withPath) == 1 {
		l.standard = withPath[0]
	}
	return l
}

// Standard returns the link for requests that contain no link, or "" if a request must contain a link.
func (l Links) Standard() string { return l.standard }

// Choose returns link, or the standard link if link is "". ValidationFailed: the link is missing or not allowed.
func (l Links) Choose(link string) (string, error) {
	link = cmp.Or(link, l.standard)
	if link == "" {
		return "", apperr.Invalid(apperr.Field{
			In: "body", Param: "link", Code: apperr.Required, Message: "Is required, unless exactly one page in " + l.setting + " has a path.",
		})
	}
	return link, l.check(link)
}

// WithErrors joins err with the error of Choose for the link. err is nil or an error in other parameters of the request.
func (l Links) WithErrors(err error, link string) error {
	_, invalid := l.Choose(link)
	return apperr.JoinInvalid(err, invalid)
}

// check fails with ValidationFailed unless the link, with a token in it, is an http(s) URL that l allows. In the query, the token
// must be a whole parameter or the whole value of a parameter. Otherwise, a page that redirects to an address in its query could
// send the token to another site.
func (l Links) check(link string) error {
	u, ok := parse(WithToken(link, "x"))
	other, _ := parse(WithToken(link, "y"))                                                        // differs from u only where the token is
	if !ok || other == nil || origin(u) != origin(other) || !isValue(u.RawQuery, other.RawQuery) { // the placeholder is in the host or inside a value
		return apperr.Invalid(apperr.Field{
			In: "body", Param: "link", Code: apperr.Format,
			Message: "Must be a percent-encoded http:// or https:// URL without a user name. {token} must be after the host. In the query, {token} must be the whole value of a parameter.",
		})
	}
	if l.allows(u) && l.allows(other) {
		return nil
	}
	expected := make([]string, len(l.pages))
	for i, p := range l.pages {
		expected[i] = p.String()
	}
	return apperr.Invalid(apperr.Field{
		In: "body", Param: "link", Code: apperr.OneOf, Expected: expected,
		Message: "Must be at or below one of the pages in " + l.setting + ".",
	})
}

// allows reports whether the URL is at or below one of the pages, or leads to this machine if l.localhost is set.
func (l Links) allows(u *url.URL) bool {
	return l.localhost && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, strings.ToLower(u.Hostname())) ||
		slices.ContainsFunc(l.pages, func(p allowedPage) bool { return origin(u) == p.origin && (p.path == "" || isBelow(u, p.path)) })
}

// isBelow reports whether a URL is at or below the path base for every browser and server. Browsers and servers differ in how
// they read escapes, path parameters, empty segments and dot segments, so isBelow returns false for a path with any of these.
func isBelow(u *url.URL, base string) bool {
	p := strings.TrimSuffix(u.Path, "/")
	plain := u.EscapedPath() == u.Path && !strings.Contains(u.Path, ";") && path.Clean(p) == p
	return plain && (p == base || strings.HasPrefix(p, base+"/"))
}

// isValue reports whether each token in a query is a whole parameter or the whole value of a parameter. query has the token x;
// other is the same query with the token y.
func isValue(query, other string) bool {
	others := strings.Split(other, "&")
	for i, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if pair != others[i] && pair != "x" && (value != "x" || others[i] != name+"=y") {
			return false
		}
	}
	return true
}

// parse parses an absolute http(s) URL without user information. It returns false for any other link. The returned URL is nil
// if the link is not a URI.
func parse(link string) (*url.URL, bool) {
	u, err := url.Parse(link)
	if err != nil || strings.Trim(link, uriCharacters) != "" {
		return nil, false
	}
	return u, (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

// origin returns the origin of a URL in the form that browsers compare: in lower case and without the default port (RFC 6454
// section 4).
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

// WithToken returns the link with the token in place of each placeholder. If the link has placeholders of different forms, such
// as {token} and %7Btoken%7D, WithToken replaces only the placeholders of one form. If the link has no placeholder, the token
// becomes the last segment of the path.
func WithToken(link, token string) string {
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
