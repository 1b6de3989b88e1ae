package testkit

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

// TestRemedy checks the Go code in the error of a check that a rule of a project rejects.
func TestRemedy(t *testing.T) {
	t.Parallel()
	const invalid = `{"errors":[{"in":"body","param":"startsAt","code":"past"}]}`
	for _, test := range []struct {
		caller string // whose access is checked
		want   int
		method string
		status int
		body   string
		lines  []string
	}{
		{"", 201, "POST", 400, invalid, []string{`r.Prepare = func(api *testkit.API, n int, body map[string]any) { body["startsAt"] = … }`}},
		{"", 201, "POST", 403, "{}", []string{"r.Records = append("}},
		{"", 200, "PATCH", 400, invalid, []string{`r.PrepareUpdate = func(api *testkit.API, n int, body map[string]any) { body["startsAt"] = … }`}},
		{"", 200, "PATCH", 409, "{}", []string{"r.PrepareUpdate = ", "r.Start = ", "r.Insert = "}},
		{"owner", 201, "POST", 409, "{}", []string{`body["FIELD"]`, `return start(t, append(options, testkit.Env("SETTING", "VALUE"))...)`}},
		{"", 201, "POST", 409, invalid, []string{`body["startsAt"]`}},
		{"", 400, "POST", 400, invalid, []string{`r.Prepare = func(api *testkit.API, n int, body map[string]any) { body["startsAt"]`}},
		{"", 204, "DELETE", 409, "{}", []string{`record["FIELD"] = …; return insert(api, caller, record)`}},
		{"", 200, "GET", 404, "{}", []string{"r.Insert = "}},
		{"", 400, "POST", 403, "{}", nil},
		{"admin", 200, "PATCH", 403, "{}", []string{`r.Access["admin"] = []int{201, 403} // create, update`, "r.Insert = "}},
		{"admin", 403, "POST", 201, "{}", []string{`r.Access["admin"] = []int{201, 200} // create, update`}},
	} {
		s := suite{check: "update", caller: test.caller, Resource: Resource{
			Methods: []string{"create", "update"}, Access: map[string][]int{"admin": {201, 200}},
			Insert: func(*API, Caller, map[string]any) store.ID { return store.ID{} },
		}}
		got := s.remedy(test.want, Request{Method: test.method}, Response{Status: test.status, Body: []byte(test.body)})
		lines := append(test.lines, `r.Skip("update", "REASON")`)
		for _, line := range lines {
			if !strings.Contains(got, line) {
				t.Errorf("%+v: no %s in %s", test, line, got)
			}
		}
		if n := strings.Count(got, "\tor\n") + 1; n != len(lines) {
			t.Errorf("%+v: %d lines, want %d: %s", test, n, len(lines), got)
		}
	}
	for _, s := range []*suite{{}, {posted: true, Resource: Resource{Insert: func(*API, Caller, map[string]any) store.ID { return store.ID{} }}}} {
		if got := s.remedy(200, Request{Method: "GET"}, Response{Status: 404}); strings.Contains(got, "r.Insert") || !strings.Contains(got, "r.Prepare = ") {
			t.Errorf("records created with POST: %s", got)
		}
	}
	s := suite{caller: "user", accounts: map[string]Account{"user": {Session: Session{Token: "t"}}}, Resource: Resource{Methods: []string{"create"}, Access: map[string][]int{"user": {403}}}}
	if got := s.remedy(201, Request{Method: "POST", As: "u"}, Response{Status: 403}); strings.Contains(got, "r.Access") || !strings.Contains(got, "r.Records") {
		t.Errorf("a record that another caller creates: %s", got)
	}
	if got := new(suite).remedy(200, Request{}, Response{Status: http.StatusInternalServerError}); got != "" {
		t.Errorf("an error of the service has a remedy: %s", got)
	}
}

// TestPageHas checks which pages have no records; a page without a count is not one of them.
func TestPageHas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`{"rows":[],"count":0}`: true, `{"rows":[]}`: false, `{"rows":[{}],"count":0}`: false, `{"rows":[],"count":1}`: false} {
		var p page
		if err := json.Unmarshal([]byte(text), &p); err != nil || p.has(0, 0) != want {
			t.Errorf("%s: %v, %v", text, p.has(0, 0), err)
		}
	}
}

// TestPrepareUpdate checks which function prepares the body of an update.
func TestPrepareUpdate(t *testing.T) {
	t.Parallel()
	set := func(value string) func(*API, int, map[string]any) {
		return func(_ *API, _ int, body map[string]any) { body["state"] = value }
	}
	for _, test := range []struct {
		Resource
		create, update any
	}{
		{Resource{}, nil, nil},
		{Resource{Prepare: set("draft")}, "draft", "draft"},
		{Resource{Prepare: set("draft"), PrepareUpdate: set("published")}, "draft", "published"},
	} {
		s := &suite{API: &API{t: t}, Resource: test.Resource, t: t, n: new(int)}
		create, update := s.prepared(map[string]any{})["state"], s.preparedUpdate(map[string]any{})["state"]
		if create != test.create || update != test.update {
			t.Errorf("create has %v, update has %v; want %v, %v", create, update, test.create, test.update)
		}
	}
}
