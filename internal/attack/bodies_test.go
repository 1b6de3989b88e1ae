package attack_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
)

// TestOperators sends database query operators in query strings, and looks for the hash of a password with filters and sorts.
func TestOperators(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	list := func(query string) request {
		return request{Method: "GET", Path: "/users?" + query, As: admin.Token}
	}
	rejected(t, api, []attempt{
		{"operator in brackets", list("role[$ne]=user"), 400, "unknown"},
		{"regular expression", list("email[regex]=.*"), 400, "unknown"},
		{"the hash, by range queries", list("password[gt]=%24argon2id%24v%3D19"), 400, "unknown"},
		{"sort by hash", list("sort=password"), 400, "one_of"},
		{"pattern", list("q=.*"), 200, `"count":0`},
		{"SQL", list("q=" + url.QueryEscape(`x" OR 1=1 --`)), 200, `"count":0`},
	})
}

// TestManyErrors sends as many errors as fit in a body, to get a response that is much larger.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	labels, params := make(map[string]string), make(map[string]any)
	for i := range 30_000 {
		labels[fmt.Sprint("no label ", i)] = "*"
	}
	for i := range 450 {
		params[fmt.Sprint("no parameter ", i)] = i
		params[fmt.Sprint("unknown", i)] = i
	}
	for name, body := range map[string]map[string]any{
		"labels":     {"namespace": "n", "name": "n", "selector": map[string]any{"matchLabels": labels}},
		"a label":    {"namespace": "n", "name": "n", "selector": map[string]any{"matchLabels": map[string]string{strings.Repeat("\x01", 150_000): ""}}},
		"parameters": params,
	} {
		got := api.Do(request{Method: "POST", Path: "/policies", As: admin.Token, JSON: body})
		if want(t, 400, got, name); len(got.Body) > 100_000 {
			t.Errorf("%s: the response has %d bytes", name, len(got.Body))
		}
	}
}
