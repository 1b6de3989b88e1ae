package attack_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestLongSearch searches for many words, each of which costs time.
func TestLongSearch(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	search := func(q string) request {
		return request{Method: "GET", Path: "/articles?limit=1&q=" + url.QueryEscape(q)}
	}
	const ten = "a b c d e f g h i j"
	var han strings.Builder
	for i := range 40 {
		han.WriteRune(rune('一' + i))
	}
	ok(t, api.Do(search(ten)))
	ok(t, api.Do(search(ten+" A b C")))
	rejected(t, api, []attempt{
		{"eleven words", search(ten + " k"), 400, `"param":"q","code":"max_items"`},
		{"a long run of Han", search(han.String()), 400, `"param":"q","code":"max_items"`},
	})
}

// TestLargePage lists records that are too large for one page. The cursor leads to all of them.
func TestLargePage(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	content := strings.Repeat("東", 100_000) // 300 kB
	const records = 7
	for range records {
		ok(t, api.Do(request{Method: "POST", Path: "/articles", As: eve.Token, JSON: map[string]string{"title": "T", "content": content}}))
	}
	seen, after := 0, ""
	for pages := 1; ; pages++ {
		var page struct {
			Count int
			Rows  []struct{ ID string }
			Next  string
		}
		response := ok(t, api.Do(request{Method: "GET", Path: "/articles?limit=100" + after}))
		if err := json.Unmarshal(response.Body, &page); err != nil {
			t.Fatal(err)
		}
		if len(response.Body) > listing.MaxPageBytes*5/4 || page.Count != records || len(page.Rows) == 0 {
			t.Fatalf("a page of %d rows of %d has %d bytes", len(page.Rows), page.Count, len(response.Body))
		}
		if seen += len(page.Rows); page.Next == "" {
			if seen != records || pages < 2 {
				t.Errorf("%d records on %d pages", seen, pages)
			}
			break
		}
		after = "&after=" + page.Next
	}
	rejected(t, api, []attempt{
		{"a page by number that ends early", request{Method: "GET", Path: "/articles?limit=100&page=1"}, 400, `"param":"limit"`},
		{"the page after a first one that ends early", request{Method: "GET", Path: "/articles?limit=6&page=2"}, 400, `"param":"limit"`},
	})
	ok(t, api.Do(request{Method: "GET", Path: "/articles?limit=3&page=2"}))
	ok(t, api.Do(request{Method: "GET", Path: "/articles?limit=6&page=2&fields=title"}))
	titles := ok(t, api.Do(request{Method: "GET", Path: "/articles?limit=100&page=1&fields=title"}))
	if n := strings.Count(string(titles.Body), `"title"`); n != records {
		t.Errorf("a page with small fields has %d records", n)
	}
}

// TestLargeBodyWhereSmall sends bodies that only routes with long parameters accept.
func TestLargeBodyWhereSmall(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	long := strings.Repeat("x", 17_000)
	for _, r := range []request{
		{Method: "POST", Path: "/auth", Form: url.Values{"x": {long}}},
		{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {long}}},
		{Method: "POST", Path: "/password-resets", Form: url.Values{"email": {long}}},
		{Method: "PUT", Path: "/password-resets/x", Form: url.Values{"password": {long}}},
		{Method: "POST", Path: "/users", Form: url.Values{"name": {long}}},
		{Method: "PATCH", Path: "/users/me", As: eve.Token, Form: url.Values{"name": {long}}},
		{Method: "PUT", Path: "/users/me/password", Form: url.Values{"password": {long}}, Email: eve.Email, Password: testkit.Password},
	} {
		want(t, 413, api.Do(r), r.Path)
	}
	ok(t, api.Do(request{Method: "POST", Path: "/articles", JSON: map[string]string{"title": "T", "content": long, "access_token": eve.Token}}))
}
