package testkit

import (
	"bytes"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
