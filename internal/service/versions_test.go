package service_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestVersions checks ETags: If-None-Match saves a response, and If-Match rejects a change of an older version.
func TestVersions(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	made := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"One"}`})
	path := made.Header.Get("Location")
	first := made.Header.Get("ETag")
	call := func(method, header, tag, title string) testkit.Response {
		r := testkit.Request{Method: method, Path: path, As: ada.Token, Header: http.Header{header: {tag}}}
		if method == "PATCH" {
			r.Form = url.Values{"title": {title}}
		}
		return api.Do(r)
	}
	if got := call("GET", "If-None-Match", `"x", W/`+first, ""); got.Status != 304 || len(got.Body) != 0 || got.Header.Get("ETag") != first {
		t.Errorf("unchanged: %d %s", got.Status, got.Body)
	}
	changed := call("PATCH", "If-Match", first, "Two")
	second := changed.Header.Get("ETag")
	if changed.Status != 200 || second == first || second == "" {
		t.Fatalf("change of the first: %d, ETag %s after %s", changed.Status, second, first)
	}
	for tag, status := range map[string]int{first: 412, `"x"`: 412, "W/" + first: 412, "nonsense": 412} {
		if got := call("PATCH", "If-Match", tag, "Three"); got.Status != status {
			t.Errorf("If-Match: %s: status %d", tag, got.Status)
		}
		if got := call("DELETE", "If-Match", tag, ""); got.Status != status {
			t.Errorf("delete, If-Match: %s: status %d", tag, got.Status)
		}
	}
	if got := call("GET", "If-None-Match", first, ""); got.Status != 200 || got.JSON(200)["title"] != "Two" {
		t.Errorf("changed: %d %s", got.Status, got.Body)
	}
	if got := call("PATCH", "If-Match", "W/"+second, "Three"); got.Status != 200 {
		t.Errorf("the second, from a proxy that compresses: %d", got.Status)
	}
	if got := call("PATCH", "If-Match", "*", "Three"); got.Status != 200 {
		t.Errorf("any: %d", got.Status)
	}
	if got := call("DELETE", "If-Match", call("GET", "If-None-Match", first, "").Header.Get("ETag"), ""); got.Status != 204 {
		t.Errorf("delete of the latest: %d", got.Status)
	}
	if got := call("PATCH", "If-Match", "*", "Four"); got.Status != 404 {
		t.Errorf("after the delete: %d", got.Status)
	}
}

// TestVersionsOfPages checks that the ETag of a page changes only with its content.
func TestVersionsOfPages(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	create := func(title string) string {
		made := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, Form: url.Values{"title": {title}}})
		return made.Header.Get("Location")
	}
	list := func(query, tag string) testkit.Response {
		return api.Do(testkit.Request{Method: "GET", Path: "/articles?" + query, Header: http.Header{"If-None-Match": {tag}}})
	}
	one := create("One")
	first := list("q=one", "").Header.Get("ETag")
	create("Two")
	if got := list("q=one", first); got.Status != 304 || len(got.Body) != 0 || got.Header.Get("ETag") != first {
		t.Errorf("unchanged: %d %s, ETag %s after %s", got.Status, got.Body, got.Header.Get("ETag"), first)
	}
	for _, other := range []string{"", "q=one&fields=title", "q=two"} {
		if got := list(other, first); got.Status != 200 {
			t.Errorf("another page, ?%s: %d", other, got.Status)
		}
	}
	api.Do(testkit.Request{Method: "PATCH", Path: one, As: ada.Token, Form: url.Values{"content": {"x"}}}).JSON(200)
	if got := list("q=one", first); got.Status != 200 || got.Header.Get("ETag") == first {
		t.Errorf("changed: %d, ETag %s", got.Status, got.Header.Get("ETag"))
	}
}

// TestConcurrentWriters checks that one of many concurrent changes of one version succeeds.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	made := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"One"}`})
	const writers = 20
	statuses := make(chan int, writers)
	for i := range writers {
		go func() {
			statuses <- api.Do(testkit.Request{
				Method: "PUT", Path: made.Header.Get("Location"), As: ada.Token,
				Header: http.Header{"If-Match": {made.Header.Get("ETag")}}, Form: url.Values{"title": {fmt.Sprint(i)}},
			}).Status
		}()
	}
	seen := map[int]int{}
	for range writers {
		seen[<-statuses]++
	}
	if seen[200] != 1 || seen[412] != writers-1 {
		t.Errorf("statuses %v", seen)
	}
}
