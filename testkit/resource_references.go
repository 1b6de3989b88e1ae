package testkit

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// value returns a value of f that refers to the record with the ID.
func (f Field) value(id string) any {
	if items, isList := f.Samples[0].([]any); isList {
		return slices.Repeat([]any{id}, len(items))
	}
	return id
}

// checkReferences checks that references to unknown records are rejected, and that expand includes the referenced records.
func checkReferences(s *suite) {
	s = s.start(true)
	var names []string
	for _, f := range s.Fields {
		if f.Refers == nil {
			continue
		}
		names = append(names, f.Name)
		unknown, code := store.NewID(), "unknown_reference"
		if _, isList := f.Samples[0].([]any); isList {
			code = "[0]." + code
		}
		if f.Refers.Hidden {
			f.Refers.Insert(s.API, unknown, store.NewID()) // the record exists, but belongs to another user
		}
		if s.has("create") {
			s.reject(Request{Method: "POST", Path: s.Path, As: s.as("create"), JSON: withValue(s.valid(), f.Name, f.value(unknown.Hex()))}, f.Name, code)
		}
		if s.has("update") {
			path := s.add(s.valid())
			s.reject(Request{Method: "PATCH", Path: path, As: s.as("update"), JSON: withValue(s.preparedUpdate(map[string]any{}), f.Name, f.value(unknown.Hex()))}, f.Name, code)
		}
	}
	path, all := s.add(s.prepared(s.samples(0))), strings.Join(names, ",")
	if s.has("show") {
		for query, count := range map[string]int{"": 0, "?expand=" + all: len(names)} {
			view := s.show(path, query)
			if expanded, _ := view["expand"].(map[string]any); len(expanded) != count {
				s.t.Errorf("GET %s: %v", query, view)
			}
		}
		s.expect(400, Request{Method: "GET", Path: path + "?expand=unknown", As: s.as("show")})
	}
	if s.has("list") {
		row := s.rowsOf(s.callerOf("list"), s.page(s.as("list"), "fields=id&expand="+all).Rows, path)[0]
		if expanded, _ := row["expand"].(map[string]any); len(row) != 2 || len(expanded) != len(names) {
			s.t.Errorf("with expand=%s, the row is %v", all, row)
		}
	}
}

// checkDeletedReferences deletes referenced records, and checks what happens to the records that refer to them.
func checkDeletedReferences(s *suite) {
	s = s.start(true)
	for _, f := range s.Fields {
		if f.Refers == nil || f.Refers.Path == "" {
			continue
		}
		id := store.NewID()
		f.Refers.Insert(s.API, id, s.ownerID())
		path := s.add(withValue(s.valid(), f.Name, f.value(id.Hex())))
		deleted, shown := 204, 200
		switch f.Refers.OnDelete {
		case resource.Restrict:
			deleted = 409
		case resource.Cascade:
			shown = 404
		}
		s.expect(deleted, Request{Method: "DELETE", Path: f.Refers.Path + "/" + id.Hex(), As: s.account(f.Refers.DeleteAs).Token})
		if s.has("show") {
			got := s.expect(shown, Request{Method: "GET", Path: path, As: s.as("show")}).Body
			if strings.Contains(string(got), id.Hex()) != (deleted == 409) {
				s.t.Errorf("%s after the deletion: %s", f.Name, got)
			}
		}
	}
}

// checkOwner adds a record of a user, as an admin if a route creates records. It then deletes the user, and checks what happens to
// the record.
func checkOwner(s *suite) {
	s = s.start(true)
	user, admin := s.SignUp("user"), s.account("admin")
	path, body := "", withValue(s.valid(), "userId", user.ID)
	if s.has("create") {
		s.expect(400, Request{Method: "POST", Path: s.Path, As: admin.Token, JSON: withValue(s.valid(), "userId", store.NewID().Hex())})
		created := s.expect(201, Request{Method: "POST", Path: s.Path, As: admin.Token, JSON: body})
		s.compare(created.JSON(201), map[string]any{"userId": user.ID})
		path = created.Header.Get("Location")
	} else {
		path = s.add(body)
	}
	show := Request{Method: "GET", Path: path}
	if s.has("show") {
		show.As = s.asAdmin("show")
		expanded := show
		expanded.Path += "?expand=userId"
		view := s.expect(200, expanded).JSON(200)
		expand, _ := view["expand"].(map[string]any)
		if owner, _ := expand["userId"].(map[string]any); owner["id"] != user.ID {
			s.t.Errorf("with expand=userId, the record is %v", view)
		}
	}
	deleted := 204
	if s.OnUserDelete == resource.Restrict {
		deleted = 409
	}
	s.expect(deleted, Request{Method: "DELETE", Path: "/users/me", As: user.Token})
	switch {
	case !s.has("show"):
	case s.OnUserDelete == resource.Cascade:
		s.expect(404, show)
	case s.OnUserDelete == resource.Clear:
		s.compare(s.expect(200, show).JSON(200), map[string]any{"userId": nil})
	default:
		s.compare(s.expect(200, show).JSON(200), map[string]any{"userId": user.ID})
	}
}

// checkOwn checks that other users cannot detect a record by its ID, in lists, counts, searches and cursors, or by a conflict.
func checkOwn(s *suite) {
	s = s.start(true)
	other := s.otherOwner()
	var uniques []any
	for _, f := range s.Fields {
		if f.Unique && f.Refers == nil && !f.Required {
			uniques = append(uniques, f.Name, f.Samples[0])
		}
	}
	body := s.valid(uniques...)
	path := s.add(body)
	tag := `"` + strings.TrimPrefix(path, s.Path+"/") + `-1-View"`
	for _, request := range []struct {
		method string
		Request
	}{
		{"show", Request{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {"*"}}}},
		{"update", Request{Method: "PATCH", Path: path, JSON: s.preparedUpdate(map[string]any{})}},
		{"update", Request{Method: "PUT", Path: path, JSON: body, Header: http.Header{"If-Match": {tag}}}},
		{"delete", Request{Method: "DELETE", Path: path, Header: http.Header{"If-Match": {"*"}}}},
	} {
		if request.As = other.Token; s.status(request.method, "user") == 404 {
			s.expect(404, request.Request)
		}
	}
	if s.has("list") {
		s.checkOwnList(other.Token, body, path, s.add(s.valid()))
	}
	if !s.has("create") {
		return
	}
	same := s.valid()
	for _, f := range s.Fields {
		if f.Unique && !f.Global {
			same[f.Name] = body[f.Name]
		}
	}
	s.elsewhere(same)
	create := Request{Method: "POST", Path: s.Path, As: other.Token, JSON: same}
	created := s.status("create", "user")
	if s.Organization {
		created = 201
	}
	s.expect(created, create)
	for _, f := range s.Fields {
		if value, set := body[f.Name]; f.Global && set && f.Refers == nil && created == 201 {
			create.JSON = withValue(s.elsewhere(s.valid()), f.Name, value)
			s.expect(409, create)
		}
	}
}

// otherOwner returns a user who sees none of the records.
func (s *suite) otherOwner() Account {
	s.t.Helper()
	if s.Organization {
		return s.account("elsewhere")
	}
	return s.SignUp("user")
}

// checkOwnList checks that the lists of another user contain neither of the owner's two records. body is the body of one of
// these records.
func (s *suite) checkOwnList(other string, body map[string]any, paths ...string) {
	s.t.Helper()
	owner := s.account("owner")
	s.rowsOf("owner", s.page(owner.Token, "").Rows, paths...)
	next := s.page(owner.Token, "limit=1").Next
	s.expect(400, Request{Method: "GET", Path: s.Path + "?limit=1&after=" + next, As: other})
	queries := []string{"", "count=true", "userId=" + owner.ID}
	for _, f := range s.Fields {
		if value, set := body[f.Name]; f.Search && set {
			queries = append(queries, "q="+url.QueryEscape(textOf(value)))
		}
	}
	for _, query := range queries {
		if page := s.page(other, "limit=1&"+query); !page.has(0, 0) || page.Next != "" {
			s.t.Errorf("%s: another user sees %d records, count %s, want 0", query, len(page.Rows), textOf(page.Count))
		}
	}
	for _, query := range queries {
		if query == "count=true" {
			continue // exports have no count
		}
		if n := s.exported(other, query); n != 0 {
			s.t.Errorf("%s: another user exports %d records", query, n)
		}
	}
	stored := len(paths)
	if s.any(func(f Field) bool { return f.Refers != nil && f.Refers.Self }) {
		stored += 3 // see start
	}
	if page := s.page(s.account("admin").Token, "limit=1"); !page.has(1, stored) {
		s.t.Errorf("an admin sees %d records, count %s, want 1, count %d", len(page.Rows), textOf(page.Count), stored)
	}
}
