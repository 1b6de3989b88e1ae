package testkit

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// checkAccess calls each method as each caller.
func checkAccess(t *testing.T, r Resource) {
	s := start(t, r, true)
	for _, caller := range slices.Sorted(maps.Keys(r.Access)) {
		t.Run(caller, func(t *testing.T) {
			s := s.sub(t)
			token, path := s.account(caller).Token, ""
			if r.has("show") || r.has("update") || r.has("delete") {
				path = s.add(s.valid())
			}
			for i, method := range r.Methods {
				for _, request := range s.requests(method, path) {
					request.As = token
					s.expect(r.Access[caller][i], request)
				}
			}
		})
	}
}

// requests returns the requests that call a method. path is the path of a record.
func (s *suite) requests(method, path string) (out []Request) {
	switch method {
	case "create":
		return []Request{{Method: "POST", Path: s.Path, JSON: s.valid()}}
	case "list":
		out = []Request{{Method: "GET", Path: s.Path}}
		if s.Changes {
			out = append(out, Request{Method: "GET", Path: s.Path + "/changes"})
		}
	case "show":
		return []Request{{Method: "GET", Path: path}}
	case "update":
		return []Request{{Method: "PATCH", Path: path, JSON: s.valid()}, {Method: "PUT", Path: path, JSON: s.valid()}}
	case "delete":
		return []Request{{Method: "DELETE", Path: path}}
	}
	return out
}

// checkNotFound checks that requests get 404 if an ID is unknown, malformed or deleted, or if the parent is another record.
func checkNotFound(t *testing.T, r Resource) {
	s := start(t, r, true)
	paths := []string{r.Path + "/" + store.NewID().Hex(), r.Path + "/1", r.Path + "/%24gt"}
	if r.Under != "" {
		elsewhere := s.add(s.valid())
		for _, parent := range []string{RecordID(1).Hex(), store.NewID().Hex(), "1"} {
			paths = append(paths, strings.Replace(elsewhere, RecordID(0).Hex(), parent, 1))
		}
	}
	if r.has("delete") {
		deleted := s.add(s.valid())
		s.expect(204, Request{Method: "DELETE", Path: deleted, As: s.as("delete")})
		paths = append(paths, deleted)
	}
	for _, path := range paths {
		for method, verb := range map[string]string{"show": "GET", "update": "PATCH", "delete": "DELETE"} {
			if r.has(method) {
				s.expect(404, Request{Method: verb, Path: path, As: s.as(method)})
			}
		}
	}
}

// checkRules sends the valid and the invalid values of each field.
func checkRules(t *testing.T, r Resource) {
	if r.has("create") {
		s := start(t, r, true)
		s.tryValues(Request{Method: "POST", Path: r.Path, As: s.as("create")}, 201, s.valid)
		for _, f := range r.Fields {
			if !f.Required {
				continue
			}
			body := s.valid()
			delete(body, f.Name)
			s.reject(Request{Method: "POST", Path: r.Path, As: s.as("create"), JSON: body}, f.Name, "required")
		}
	}
	if r.has("update") {
		s := start(t, r, true) // a new service, so that no other record has the values of unique fields
		s.tryValues(Request{Method: "PATCH", Path: s.add(s.valid()), As: s.as("update")}, 200, func(fields ...any) map[string]any {
			body := map[string]any{}
			for i := 0; i < len(fields); i += 2 {
				body[fields[i].(string)] = fields[i+1]
			}
			return s.prepared(body)
		})
	}
}

// tryValues sends a request with each valid and each invalid value of each field. valid returns a valid body with the fields in
// its arguments, which are alternating names and values.
func (s *suite) tryValues(r Request, success int, valid func(...any) map[string]any) {
	s.t.Helper()
	for _, f := range s.Fields {
		accepted := f.Valid
		if f.Required {
			r.JSON = withValue(valid(), f.Name, nil)
			s.reject(r, f.Name, "required")
		} else {
			accepted = append(slices.Clone(f.Valid), nil)
		}
		for _, value := range accepted {
			r.JSON = valid(f.Name, value)
			s.expect(success, r)
		}
		for code, values := range f.Invalid {
			for _, value := range values {
				r.JSON = withValue(valid(), f.Name, value)
				s.reject(r, f.Name, code)
			}
		}
	}
}

func withValue(body map[string]any, field string, value any) map[string]any {
	body[field] = value
	return body
}

// reject sends a request. It fails the test unless the status is 400 and the field has the error code.
func (s *suite) reject(r Request, field, code string) {
	s.t.Helper()
	if body := s.expect(400, r).Body; !hasError(body, field, code) {
		s.t.Errorf("%s %.100v: %s, want %s of %s", r.Method, r.JSON, body, code, field)
	}
}

// checkCreate creates records with all fields, as JSON and as a form, and a record with only the required fields.
func checkCreate(t *testing.T, r Resource) {
	s := start(t, r, true)
	sent := s.prepared(s.samples(0))
	response := s.create(sent)
	created, path := response.JSON(201), response.Header.Get("Location")
	s.compare(created, sent)
	if created["createdAt"] != created["updatedAt"] || path != r.Path+"/"+created["id"].(string) {
		t.Errorf("%s has the path %s", created, path)
	}
	if r.Owner {
		s.compare(created, map[string]any{"userId": s.account("owner").ID})
	}
	if r.has("show") {
		s.compare(s.show(path, ""), created)
	}
	sent = s.prepared(s.samples(1))
	s.compare(s.expect(201, Request{Method: "POST", Path: r.Path, As: s.as("create"), Form: formOf(sent)}).JSON(201), sent)

	body := s.valid()
	want := maps.Clone(body)
	for _, f := range r.Fields {
		if _, set := want[f.Name]; !set {
			want[f.Name] = f.Absent
		}
	}
	forged := s.forged()
	maps.Copy(body, forged)
	created = s.create(body).JSON(201)
	s.compare(created, want)
	for name, value := range forged {
		if got, ok := created[name]; ok && got == value {
			t.Errorf("a caller sets %s", name)
		}
	}
}

// update advances the clock by one second and updates a record.
func (s *suite) update(path string, body map[string]any) map[string]any {
	s.t.Helper()
	s.Clock.Advance(time.Second)
	return s.expect(200, Request{Method: "PATCH", Path: path, As: s.as("update"), JSON: body}).JSON(200)
}

// checkUpdate changes and clears each field. It checks that no other field changes, except updatedAt and the Derived fields.
func checkUpdate(t *testing.T, r Resource) {
	s := start(t, r, true)
	path := s.add(s.prepared(s.samples(0)))
	want := s.update(path, map[string]any{})
	change := func(field string, value, absent any) {
		t.Helper()
		body := s.prepared(map[string]any{field: value})
		got := s.update(path, body)
		maps.Copy(want, body)
		if body[field] == nil {
			want[field] = absent
		}
		for _, name := range append([]string{"updatedAt"}, r.Derived...) {
			want[name] = got[name]
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v: %v, want %v", field, value, got, want)
		}
	}
	for _, f := range r.Fields {
		change(f.Name, f.Samples[1], nil)
		if !f.Required {
			change(f.Name, nil, f.Absent)
		}
	}
	sent := s.prepared(s.samples(2))
	want = s.expect(200, Request{Method: "PATCH", Path: path, As: s.as("update"), Form: formOf(sent)}).JSON(200)
	s.compare(want, sent)
	if got := s.update(path, s.forged()); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// checkVersions checks that an update that modifies nothing keeps the ETag, that only one of several concurrent updates of a
// version succeeds, and that a deletion with an old ETag fails.
func checkVersions(t *testing.T, r Resource) {
	s := start(t, r, true)
	path, stale := s.add(s.valid()), `"stale"`
	if r.has("update") {
		stale = s.updateAtOnce(path)
	}
	if r.has("delete") {
		s.expect(412, Request{Method: "DELETE", Path: path, As: s.as("delete"), Header: http.Header{"If-Match": {stale}}})
		s.expect(204, Request{Method: "DELETE", Path: path, As: s.as("delete"), Header: http.Header{"If-Match": {"*"}}})
	}
}

// updateAtOnce sends the same update twice, and then ten concurrent updates of one version of a record. It returns the ETag of that
// version.
func (s *suite) updateAtOnce(path string) (tag string) {
	s.t.Helper()
	token, body, other := s.as("update"), s.prepared(s.samples(1)), s.prepared(s.samples(0)) // all fields: Prepare can set some
	update := func(tag string, body map[string]any) Response {
		return s.Do(Request{Method: "PATCH", Path: path, As: token, JSON: body, Header: http.Header{"If-Match": {tag}}})
	}
	first := update("*", body)
	tag = first.Header.Get("ETag")
	if again := update(tag, body); again.Status != 200 || again.Header.Get("ETag") != tag || !bytes.Equal(again.Body, first.Body) {
		s.t.Errorf("the same update again: %d, ETag %s, %s; want ETag %s, %s", again.Status, again.Header.Get("ETag"), again.Body, tag, first.Body)
	}
	const requests = 10
	statuses := make(chan int, requests)
	for range requests {
		go func() { statuses <- update(tag, other).Status }()
	}
	count := map[int]int{}
	for range requests {
		count[<-statuses]++
	}
	if want := map[int]int{200: 1, 412: requests - 1}; !maps.Equal(count, want) {
		s.t.Errorf("%v, want %v", count, want)
	}
	for _, unmodified := range []map[string]any{{}, other} {
		if got := update(tag, unmodified).Status; got != 412 {
			s.t.Errorf("update of an old version that modifies nothing: status %d", got)
		}
	}
	return tag
}

// checkUnique checks that two records cannot have the same value of a unique field.
func checkUnique(t *testing.T, r Resource) {
	s := start(t, r, true)
	for _, f := range r.Fields {
		if !f.Unique {
			continue
		}
		first := s.valid(f.Name, f.Samples[0])
		value := first[f.Name]
		s.add(first)
		var requests []Request
		if r.has("create") {
			requests = append(requests, Request{Method: "POST", Path: r.Path, As: s.as("create"), JSON: withValue(s.valid(), f.Name, value)})
		}
		if r.has("update") {
			requests = append(requests, Request{Method: "PATCH", Path: s.add(s.valid()), As: s.as("update"), JSON: map[string]any{f.Name: value}})
		}
		for _, request := range requests {
			if body := s.expect(409, request).Body; !hasError(body, f.Name, "conflict") {
				t.Errorf("%s with the same %s: %s", request.Method, f.Name, body)
			}
		}
	}
}

// value returns a value of f that refers to the record with the ID.
func (f Field) value(id string) any {
	if items, isList := f.Samples[0].([]any); isList {
		return slices.Repeat([]any{id}, len(items))
	}
	return id
}

// checkReferences checks that references to unknown records are rejected, and that expand includes the referenced records.
func checkReferences(t *testing.T, r Resource) {
	s := start(t, r, true)
	var names []string
	for _, f := range r.Fields {
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
		s.reject(Request{Method: "POST", Path: r.Path, As: s.as("create"), JSON: withValue(s.valid(), f.Name, f.value(unknown.Hex()))}, f.Name, code)
		if r.has("update") {
			path := s.add(s.valid())
			s.reject(Request{Method: "PATCH", Path: path, As: s.as("update"), JSON: map[string]any{f.Name: f.value(unknown.Hex())}}, f.Name, code)
		}
	}
	path, all := s.add(s.prepared(s.samples(0))), strings.Join(names, ",")
	if r.has("show") {
		for query, count := range map[string]int{"": 0, "?expand=" + all: len(names)} {
			view := s.show(path, query)
			if expanded, _ := view["expand"].(map[string]any); len(expanded) != count {
				t.Errorf("GET %s: %v", query, view)
			}
		}
		s.expect(400, Request{Method: "GET", Path: path + "?expand=unknown", As: s.as("show")})
	}
	if r.has("list") {
		page := s.expect(200, Request{Method: "GET", Path: r.Path + "?limit=1&fields=id&expand=" + all, As: s.as("list")}).JSON(200)
		if row := page["rows"].([]any)[0].(map[string]any); len(row) != 2 || len(row["expand"].(map[string]any)) != len(names) {
			t.Errorf("%v", row)
		}
	}
}

// checkDeletedReferences deletes referenced records, and checks what happens to the records that refer to them.
func checkDeletedReferences(t *testing.T, r Resource) {
	s := start(t, r, true)
	for _, f := range r.Fields {
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
		if r.has("show") {
			got := s.expect(shown, Request{Method: "GET", Path: path, As: s.as("show")}).Body
			if strings.Contains(string(got), id.Hex()) != (deleted == 409) {
				t.Errorf("%s after the deletion: %s", f.Name, got)
			}
		}
	}
}

// checkOwner adds a record of a user, as an admin if a route creates records. It then deletes the user, and checks what happens to
// the record.
func checkOwner(t *testing.T, r Resource) {
	s := start(t, r, true)
	user, admin := s.SignUp("user"), s.account("admin")
	path, body := "", withValue(s.valid(), "userId", user.ID)
	if r.has("create") {
		s.expect(400, Request{Method: "POST", Path: r.Path, As: admin.Token, JSON: withValue(s.valid(), "userId", store.NewID().Hex())})
		created := s.expect(201, Request{Method: "POST", Path: r.Path, As: admin.Token, JSON: body})
		s.compare(created.JSON(201), map[string]any{"userId": user.ID})
		path = created.Header.Get("Location")
	} else {
		path = s.add(body)
	}
	show := Request{Method: "GET", Path: path}
	if r.has("show") {
		show.As = s.asAdmin("show")
		expanded := show
		expanded.Path += "?expand=userId"
		view := s.expect(200, expanded).JSON(200)
		if owner := view["expand"].(map[string]any)["userId"].(map[string]any); owner["id"] != user.ID {
			t.Errorf("%v", view)
		}
	}
	deleted := 204
	if r.OnUserDelete == resource.Restrict {
		deleted = 409
	}
	s.expect(deleted, Request{Method: "DELETE", Path: "/users/me", As: user.Token})
	switch {
	case !r.has("show"):
	case r.OnUserDelete == resource.Cascade:
		s.expect(404, show)
	case r.OnUserDelete == resource.Clear:
		s.compare(s.expect(200, show).JSON(200), map[string]any{"userId": nil})
	default:
		s.compare(s.expect(200, show).JSON(200), map[string]any{"userId": user.ID})
	}
}

// checkOwn checks that other users cannot detect a record by its ID, in lists, counts, searches and cursors, or by a conflict.
func checkOwn(t *testing.T, r Resource) {
	s := start(t, r, true)
	other := s.SignUp("user")
	var uniques []any
	for _, f := range r.Fields {
		if f.Unique && f.Refers == nil && !f.Required {
			uniques = append(uniques, f.Name, f.Samples[0])
		}
	}
	body := s.valid(uniques...)
	path := s.add(body)
	tag := `"` + strings.TrimPrefix(path, r.Path+"/") + `-1-View"`
	for _, request := range []struct {
		method string
		Request
	}{
		{"show", Request{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {"*"}}}},
		{"update", Request{Method: "PATCH", Path: path, JSON: map[string]any{}}},
		{"update", Request{Method: "PUT", Path: path, JSON: body, Header: http.Header{"If-Match": {tag}}}},
		{"delete", Request{Method: "DELETE", Path: path, Header: http.Header{"If-Match": {"*"}}}},
	} {
		if request.As = other.Token; r.status(request.method, "user") == 404 {
			s.expect(404, request.Request)
		}
	}
	if r.has("list") {
		s.add(s.valid())
		s.checkOwnList(other.Token, body)
	}
	if !r.has("create") {
		return
	}
	same := s.valid()
	for _, f := range r.Fields {
		if f.Unique && !f.Global {
			same[f.Name] = body[f.Name]
		}
	}
	create := Request{Method: "POST", Path: r.Path, As: other.Token, JSON: same}
	s.expect(r.status("create", "user"), create)
	for _, f := range r.Fields {
		if value, set := body[f.Name]; f.Global && set && f.Refers == nil && r.status("create", "user") == 201 {
			create.JSON = withValue(s.valid(), f.Name, value)
			s.expect(409, create)
		}
	}
}

// checkOwnList checks that the lists of another user contain neither of the owner's two records. body is the body of one of
// these records.
func (s *suite) checkOwnList(other string, body map[string]any) {
	s.t.Helper()
	list := func(token, query string) map[string]any {
		return s.expect(200, Request{Method: "GET", Path: s.Path + "?limit=1&" + query, As: token}).JSON(200)
	}
	owner := s.account("owner")
	next := list(owner.Token, "")["next"].(string)
	s.expect(400, Request{Method: "GET", Path: s.Path + "?limit=1&after=" + next, As: other})
	queries := []string{"", "count=true", "userId=" + owner.ID}
	for _, f := range s.Fields {
		if value, set := body[f.Name]; f.Search && set {
			queries = append(queries, "q="+url.QueryEscape(textOf(value)))
		}
	}
	for _, query := range queries {
		if page := list(other, query); len(page["rows"].([]any)) != 0 || page["next"] != nil || page["count"] != 0.0 {
			s.t.Errorf("%s: another user sees %v", query, page)
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
	if page := list(s.account("admin").Token, ""); page["count"] != 2.0 {
		s.t.Errorf("an admin sees %v", page)
	}
}

// permutations are the orders in which three records get the samples of a field. No order is sorted. Consecutive fields use
// different orders.
var permutations = [][3]int{{1, 0, 2}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}}

// listed has the three records of checkList, oldest first.
type listed struct {
	*suite
	ids   []string
	views []map[string]any
}

// checkList checks each order, filter and search, both in one page and page by page.
func checkList(t *testing.T, r Resource) {
	l := listed{suite: start(t, r, false)}
	for record := range 3 {
		body := map[string]any{}
		for i, f := range r.Fields {
			if (f.Required || f.Search || f.Sort || f.Filter != "") && (f.Refers == nil || !f.Refers.Self) {
				body[f.Name] = f.Samples[permutations[i%len(permutations)][record]]
			}
		}
		l.Clock.Advance(time.Second)
		l.ids = append(l.ids, strings.TrimPrefix(l.add(l.prepared(body)), r.Path+"/"))
	}
	l.views = make([]map[string]any, 3)
	rows, numbers, _ := l.list("")
	if numbers != "2 1 0" {
		t.Fatalf("the list is %s, want the newest first", numbers)
	}
	for i, row := range rows {
		l.views[2-i] = row
	}
	for query, want := range l.queries() {
		if _, got, _ := l.list(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		if got := l.paged(query); got != want {
			t.Errorf("%s, page by page: %q, want %q", query, got, want)
		}
		if got, count := l.exported(l.as("list"), query), len(strings.Fields(want)); got != count {
			t.Errorf("%s: %d rows are exported, want %d", query, got, count)
		}
	}
	name := r.Fields[0].Name
	for query, want := range map[string]bool{"fields=" + name: true, "fields=-" + name: false} {
		rows, _, _ := l.list(query)
		_, first := rows[0][name]
		if _, other := rows[0]["createdAt"]; first != want || other == want {
			t.Errorf("%s: %v", query, rows[0])
		}
	}
	for query, code := range map[string]string{"unknown=1": "unknown", "sort=unknown": "one_of"} {
		if body := l.expect(400, Request{Method: "GET", Path: r.Path + "?" + query, As: l.as("list")}).Body; !strings.Contains(string(body), `"code":"`+code+`"`) {
			t.Errorf("%s: %s", query, body)
		}
	}
}

// list returns the rows of a query, their numbers (indexes in ids, separated by spaces), and the cursor of the next page.
func (l listed) list(query string) (rows []map[string]any, numbers, next string) {
	l.t.Helper()
	page := l.expect(200, Request{Method: "GET", Path: l.Path + "?" + query, As: l.as("list")}).JSON(200)
	for _, row := range page["rows"].([]any) {
		row := row.(map[string]any)
		rows = append(rows, row)
		if id, ok := row["id"].(string); ok {
			numbers += fmt.Sprint(" ", slices.Index(l.ids, id))
		}
	}
	next, _ = page["next"].(string)
	return rows, strings.TrimSpace(numbers), next
}

// checkETags checks that the etag of a row is valid in If-None-Match and If-Match until the record changes.
func checkETags(t *testing.T, r Resource) {
	s := start(t, r, true)
	path := s.add(s.valid())
	rows := s.expect(200, Request{Method: "GET", Path: r.Path + "?etags=true&fields=id", As: s.as("list")}).JSON(200)["rows"].([]any)
	i := slices.IndexFunc(rows, func(row any) bool { return strings.HasSuffix(path, "/"+row.(map[string]any)["id"].(string)) })
	if i < 0 {
		t.Fatalf("%s is not in %v", path, rows)
	}
	tag, _ := rows[i].(map[string]any)["etag"].(string)
	header := http.Header{"If-Match": {tag}}
	if r.has("show") {
		s.expect(304, Request{Method: "GET", Path: path, As: s.as("show"), Header: http.Header{"If-None-Match": {tag}}})
	}
	if r.has("update") {
		update := Request{Method: "PATCH", Path: path, As: s.as("update"), JSON: s.prepared(s.samples(1)), Header: header}
		s.expect(200, update)
		s.expect(412, update)
	}
	if r.has("delete") {
		status := 204
		if r.has("update") {
			status = 412
		}
		s.expect(status, Request{Method: "DELETE", Path: path, As: s.as("delete"), Header: header})
	}
}

// exported returns the number of rows that a caller exports.
func (s *suite) exported(token, query string) int {
	s.t.Helper()
	return strings.Count(string(s.expect(200, Request{Method: "GET", Path: s.Path + "?format=ndjson&" + query, As: token}).Body), "\n")
}

// paged returns the same numbers as list, but reads one row per page.
func (l listed) paged(query string) string {
	l.t.Helper()
	var numbers []string
	for next := "&limit=1"; next != "" && len(numbers) <= len(l.ids); {
		_, number, cursor := l.list(query + next)
		numbers = append(numbers, number)
		if next = ""; cursor != "" {
			next = "&limit=1&after=" + cursor
		}
	}
	return strings.Join(numbers, " ")
}

// queries returns queries for each order, each filter operator and each searched field. The values are the numbers of the
// records that each query must list.
func (l listed) queries() map[string]string {
	out := map[string]string{
		"": "2 1 0", "createdAt[gte]=" + store.At(l.Clock.Now()).String(): "2",
		"sort=createdAt": "0 1 2", "sort=-createdAt": "2 1 0", "sort=updatedAt": "0 1 2", "sort=-updatedAt": "2 1 0",
	}
	if l.Owner {
		owner := l.account("owner").ID
		out["userId="+owner], out["userId[ne]="+owner] = "2 1 0", ""
	}
	for _, f := range l.Fields {
		if f.Refers != nil && f.Refers.Self {
			continue // no record has a value of this field
		}
		if f.Sort {
			records := []int{0, 1, 2}
			slices.SortStableFunc(records, func(a, b int) int { return f.compare(l.views[a][f.Name], l.views[b][f.Name]) })
			out["sort="+f.Name] = numbersOf(records)
			slices.Reverse(records)
			out["sort=-"+f.Name] = numbersOf(records)
		}
		operand := l.middle(f)
		for operator := range strings.FieldsSeq(f.Filter) {
			query := strings.Replace(f.Name+"["+operator+"]=", "[eq]", "", 1) + url.QueryEscape(textOf(operand))
			out[query] = l.only(func(view map[string]any) bool { return f.satisfies(view[f.Name], operator, operand) })
		}
		if words := searchWords(textOf(operand)); f.Search && len(words) > 0 {
			out["q="+strings.ToUpper(words[0])] = l.only(func(view map[string]any) bool { return l.hasWord(view, words[0]) })
		}
	}
	return out
}

func numbersOf(records []int) string { return strings.Trim(fmt.Sprint(records), "[]") }

// only returns the numbers of the records that match, newest first.
func (l listed) only(matches func(view map[string]any) bool) string {
	return numbersOf(slices.DeleteFunc([]int{2, 1, 0}, func(record int) bool { return !matches(l.views[record]) }))
}

// middle sorts the three values of a field and returns the second value. If that value is a list, middle returns its first item.
func (l listed) middle(f Field) any {
	values := []any{l.views[0][f.Name], l.views[1][f.Name], l.views[2][f.Name]}
	slices.SortStableFunc(values, f.compare)
	if items, isList := values[1].([]any); isList && len(items) > 0 {
		return items[0]
	}
	return values[1]
}

// compare compares two values of a field as the store sorts them. It returns -1, 0 or 1.
func (f Field) compare(a, b any) int {
	if items, isList := a.([]any); isList {
		other, _ := b.([]any)
		return slices.CompareFunc(items, other, f.compare)
	}
	if x, y, isNumber := numbers(a, b, f.Decimal); isNumber {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(textOf(a), textOf(b))
}

// numbers returns a and b as numbers. If decimal is true, a and b are strings. ok is false if a or b is not a number.
func numbers(a, b any, decimal bool) (x, y float64, ok bool) {
	if decimal {
		x, err := strconv.ParseFloat(textOf(a), 64)
		y, other := strconv.ParseFloat(textOf(b), 64)
		return x, y, err == nil && other == nil
	}
	x, okX := a.(float64)
	y, okY := b.(float64)
	return x, y, okX && okY
}

// satisfies reports whether a value satisfies a filter.
func (f Field) satisfies(value any, operator string, operand any) bool {
	if items, isList := value.([]any); isList {
		return slices.ContainsFunc(items, func(item any) bool { return f.compare(item, operand) == 0 })
	}
	want := map[string][]int{"eq": {0}, "in": {0}, "ne": {-1, 1}, "lt": {-1}, "lte": {-1, 0}, "gt": {1}, "gte": {0, 1}}[operator]
	return slices.Contains(want, f.compare(value, operand))
}

// hasWord reports whether a searched field of a record has a word that begins with prefix.
func (l listed) hasWord(view map[string]any, prefix string) bool {
	return slices.ContainsFunc(l.Fields, func(f Field) bool {
		return f.Search && slices.ContainsFunc(searchWords(textOf(view[f.Name])), func(word string) bool { return strings.HasPrefix(word, prefix) })
	})
}

// searchWords returns the searchable words of a string, in lower case. It omits words that every sample of a URL or email
// address contains.
func searchWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return slices.DeleteFunc(words, func(w string) bool { return w == "https" || w == "example" || w == "com" })
}

// checkChanges creates, updates and deletes a record, and reads each change from the feed.
func checkChanges(t *testing.T, r Resource) {
	s := start(t, r, true)
	request := Request{Method: "GET", Path: r.Path + "/changes?after=", As: s.as("list")}
	read := func(position string) (page map[string]any) { // on MongoDB, a change can be read only a moment after the write
		t.Helper()
		request := request
		request.Path += url.QueryEscape(position)
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if page = s.expect(200, request).JSON(200); len(page["rows"].([]any)) > 0 {
				break
			}
		}
		return page
	}
	position := s.expect(200, Request{Method: "GET", Path: r.Path + "/changes", As: s.as("list")}).JSON(200)["next"].(string)
	if !r.has("create") {
		return
	}
	path := s.create(s.valid()).Header.Get("Location")
	check := func(event string) {
		t.Helper()
		page := read(position)
		rows := page["rows"].([]any)
		if len(rows) != 1 {
			t.Fatalf("after %s: %v", event, page)
		}
		row := rows[0].(map[string]any)
		if row["event"] != event || r.Path+"/"+row["data"].(map[string]any)["id"].(string) != path {
			t.Errorf("%v, want %s of %s", row, event, path)
		}
		position = page["next"].(string)
	}
	check("created")
	if r.has("update") {
		s.update(path, s.prepared(map[string]any{r.Fields[0].Name: r.Fields[0].Samples[1]}))
		check("updated")
	}
	if r.has("delete") {
		s.expect(204, Request{Method: "DELETE", Path: path, As: s.as("delete")})
		check("deleted")
	}
}
