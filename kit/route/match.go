package route

import (
	"slices"
	"strings"
)

// Match returns the route that handles a request, or nil if there is none. path is the path of the URL, in which no value of a
// parameter is empty. If several routes match, such as /users/me and /users/:id, Match returns the one that Gin chooses.
func (t *Table) Match(method, path string) (best *Route) {
	for _, r := range t.routes {
		if r.Method == method && r.matches(path) && (best == nil || r.order() < best.order()) {
			best = r
		}
	}
	return best
}

// IsDownload reports whether the response to a request for the path is a file. It costs less than Match, because it looks at the few
// routes with Download first.
func (t *Table) IsDownload(method, path string) bool {
	may := slices.ContainsFunc(t.downloads, func(r *Route) bool { return r.Method == method && r.matches(path) })
	return may && t.Match(method, path).Download // not: another route precedes it
}

// order returns a string that sorts the routes that match the same path: at the first segment in which two routes differ, a name
// precedes a parameter, and a parameter precedes *any.
func (r *Route) order() string {
	var out strings.Builder
	for part := range strings.SplitSeq(r.Path, "/") {
		switch {
		case strings.HasPrefix(part, ":"):
			out.WriteByte('1')
		case strings.HasPrefix(part, "*"):
			out.WriteByte('2')
		default:
			out.WriteByte('0')
		}
	}
	return out.String()
}

// matches reports whether the path of the route, which can have parameters such as :id and *any, matches the path of a URL.
func (r *Route) matches(path string) bool {
	left := true // of the path
	for pattern, more := r.Path, true; more; {
		if !left {
			return false
		}
		var part, segment string
		part, pattern, more = strings.Cut(pattern, "/")
		segment, path, left = strings.Cut(path, "/")
		switch {
		case strings.HasPrefix(part, "*"):
			return true
		case strings.HasPrefix(part, ":") && segment != "":
		case part != segment:
			return false
		}
	}
	return !left
}
