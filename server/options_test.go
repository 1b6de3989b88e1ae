package server

import (
	"io"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/route"
)

// TestAllow checks that Allow has exactly the methods of the routes that match the path, including routes with a parameter. Gin's
// own Allow would include methods of routes that do not match.
func TestAllow(t *testing.T) {
	t.Parallel()
	s := newHandler(t, io.Discard, func(r *route.Router) {
		for _, name := range []string{
			"POST /users", "GET /users", "GET /users/me", "GET /users/:id", "PUT /users/:id", "PATCH /users/:id", "DELETE /users/:id",
			"PUT /users/:id/password", "PUT /users/me/email", "POST /users/me/email-verification", "POST /users/me/two-factor", "GET /users/me/two-factor",
		} {
			method, path, _ := strings.Cut(name, " ")
			r.Handle(method, path, route.Public, who)
		}
	}, func(o *HandlerOptions) { o.Settings.APIRoot = "/api" })
	for path, want := range map[string]string{
		"/api/users":                       "POST, GET, OPTIONS, HEAD",
		"/api/users/me":                    "GET, PUT, PATCH, DELETE, OPTIONS, HEAD",
		"/api/users/1":                     "GET, PUT, PATCH, DELETE, OPTIONS, HEAD",
		"/api/users/me/email":              "PUT, OPTIONS",
		"/api/users/me/two-factor":         "POST, GET, OPTIONS, HEAD",
		"/api/users/me/email-verification": "POST, OPTIONS",
		"/api/users/1/password":            "PUT, OPTIONS",
		"/docs/x/y":                        "GET, OPTIONS, HEAD",
	} {
		for method, status := range map[string]int{"OPTIONS": 204, "TRACE": 405} {
			w := do(s, method, path, "", "")
			if got := w.Header().Get("Allow"); w.Code != status || !sameMethods(got, want) {
				t.Errorf("%s %s: %d, Allow: %s, want %s", method, path, w.Code, got, want)
			}
		}
	}
	for _, path := range []string{"/api/users/me/x", "/api/users/", "/api/users/1/email", "/users", "/api/"} {
		if w := do(s, "OPTIONS", path, "", ""); w.Code != 404 || w.Header().Get("Allow") != "" {
			t.Errorf("%s: %d, Allow: %s", path, w.Code, w.Header().Get("Allow"))
		}
	}
}

func sameMethods(a, b string) bool {
	x, y := strings.Split(a, ", "), strings.Split(b, ", ")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
