package service_test

import (
	"net/http"
	"net/url"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

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
