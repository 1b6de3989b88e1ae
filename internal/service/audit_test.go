package service_test

import (
	"net/http"
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

// TestAudit reads who changed an article, page by page.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := startChanges(t)
	admin := s.SignUp("admin")
	path := s.add(t, map[string]any{"title": "one"})
	id := path[len("/articles/"):]
	s.expect(t, 200, testkit.Request{Method: "PATCH", Path: path, As: admin.Token, JSON: map[string]any{"title": "two"}, Header: http.Header{"X-Request-Id": {"request-2"}}})
	s.expect(t, 204, testkit.Request{Method: "DELETE", Path: path, As: s.owner.Token})
	read := func(query string) (rows []any, next string) {
		t.Helper()
		page := s.expect(t, 200, testkit.Request{Method: "GET", Path: "/changes?" + query, As: admin.Token}).JSON(200)
		next, _ = page["next"].(string)
		return page["rows"].([]any), next
	}
	of := "resource=articles&recordId=" + id
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if rows, _ := read(of); len(rows) == 3 { // on MongoDB, entries are in the log shortly after the change
			break
		}
	}
	var types []any
	for next := "&limit=1"; next != ""; {
		rows, after := read(of + next)
		for _, row := range rows {
			types = append(types, row.(map[string]any)["type"])
		}
		if next = ""; after != "" {
			next = "&limit=1&after=" + after
		}
	}
	if len(types) != 3 || types[0] != "deleted" || types[1] != "updated" || types[2] != "created" {
		t.Fatalf("%v", types)
	}
	rows, _ := read("by=" + admin.ID)
	if len(rows) != 1 {
		t.Fatalf("%v", rows)
	}
	row := rows[0].(map[string]any)
	if fields := row["fields"].([]any); row["requestId"] != "request-2" || row["recordId"] != id || row["key"] != nil || len(fields) != 1 || fields[0] != "title" {
		t.Errorf("%v", row)
	}
	if rows, _ := read("createdAt[lt]=2020-01-01T00:00:00.000Z"); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
	for _, query := range []string{"limit=0", "by=x", "recordId=" + id, "after=x", "createdAt[gte]=x", "sort=by"} {
		s.expect(t, 400, testkit.Request{Method: "GET", Path: "/changes?" + query, As: admin.Token})
	}
	s.expect(t, 403, testkit.Request{Method: "GET", Path: "/changes", As: s.owner.Token})
}
