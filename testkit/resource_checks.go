package testkit

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/kit/store"
)

// checkAccess calls each method as each caller.
func checkAccess(s *suite) {
	s = s.start(true)
	for _, caller := range slices.Sorted(maps.Keys(s.Access)) {
		s.part(caller, func(s *suite) {
			s.caller = caller
			token, path := s.account(caller).Token, ""
			if s.has("show") || s.has("update") || s.has("delete") {
				path = s.add(s.valid())
			}
			for i, method := range s.Methods {
				for _, request := range s.requests(method, path) {
					request.As = token
					s.expect(s.Access[caller][i], request)
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
		return []Request{{Method: "PATCH", Path: path, JSON: s.preparedUpdate(s.required())}, {Method: "PUT", Path: path, JSON: s.preparedUpdate(s.required())}}
	case "delete":
		return []Request{{Method: "DELETE", Path: path}}
	}
	return out
}

// checkNotFound checks that requests get 404 if an ID is unknown, malformed or deleted, or if the parent is another record.
func checkNotFound(s *suite) {
	s = s.start(true)
	paths := []string{s.Path + "/" + store.NewID().Hex(), s.Path + "/1", s.Path + "/%24gt"}
	if s.Under != "" {
		elsewhere := s.add(s.valid())
		for _, parent := range []string{RecordID(1).Hex(), store.NewID().Hex(), "1"} {
			paths = append(paths, strings.Replace(elsewhere, RecordID(0).Hex(), parent, 1))
		}
	}
	if s.has("delete") {
		deleted := s.add(s.valid())
		s.expect(204, Request{Method: "DELETE", Path: deleted, As: s.as("delete")})
		paths = append(paths, deleted)
	}
	for _, path := range paths {
		for method, verb := range map[string]string{"show": "GET", "update": "PATCH", "delete": "DELETE"} {
			if s.has(method) {
				request := Request{Method: verb, Path: path, As: s.as(method)}
				if method == "update" {
					request.JSON = s.preparedUpdate(map[string]any{})
				}
				s.expect(404, request)
			}
		}
	}
}

// checkRules sends the valid and the invalid values of each field.
func checkRules(s *suite) {
	var creates, updates *suite // two services, so that no other record has the values of unique fields
	var path string
	if s.has("create") {
		creates = s.start(true)
	}
	if s.has("update") {
		updates = s.start(true)
		path = updates.add(updates.valid())
	}
	for _, f := range s.Fields {
		s.part(f.Name, func(part *suite) {
			if creates != nil {
				s := creates.in(part)
				create := Request{Method: "POST", Path: s.Path, As: s.as("create")}
				s.tryValues(f, create, 201, s.valid)
				if f.Required {
					body := s.valid()
					delete(body, f.Name)
					create.JSON = body
					s.reject(create, f.Name, "required")
				}
			}
			if updates != nil {
				s := updates.in(part)
				s.tryValues(f, Request{Method: "PATCH", Path: path, As: s.as("update")}, 200, func(fields ...any) map[string]any {
					body := map[string]any{}
					for i := 0; i < len(fields); i += 2 {
						body[fields[i].(string)] = fields[i+1]
					}
					return s.preparedUpdate(body)
				})
			}
		})
	}
}

// tryValues sends a request with each valid and each invalid value of a field. valid returns a valid body with the fields in its
// arguments, which are alternating names and values.
func (s *suite) tryValues(f Field, r Request, success int, valid func(...any) map[string]any) {
	s.t.Helper()
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

func withValue(body map[string]any, field string, value any) map[string]any {
	body[field] = value
	return body
}

// reject sends a request. It fails the test unless the status is 400 and the field has the error code.
func (s *suite) reject(r Request, field, code string) {
	s.t.Helper()
	if response := s.expect(400, r); !hasError(response.Body, field, code) {
		s.t.Errorf("%s %.100v: %s, want %s of %s%s", r.Method, r.JSON, response.Body, code, field, s.remedy(400, r, response))
	}
}

// checkCreate creates records with all fields, as JSON and as a form, and a record with only the required fields.
func checkCreate(s *suite) {
	s = s.start(true)
	sent := s.prepared(s.samples(0))
	response := s.create(sent)
	created, path := response.JSON(201), response.Header.Get("Location")
	s.compare(created, sent)
	if created["createdAt"] != created["updatedAt"] || path != s.Path+"/"+textOf(created["id"]) {
		s.t.Errorf("%s has the path %s", created, path)
	}
	if s.Owner {
		s.compare(created, map[string]any{"userId": s.account(s.callerOf("create")).ID})
	}
	if s.has("show") {
		s.compare(s.expect(200, Request{Method: "GET", Path: path, As: s.asCreator("show")}).JSON(200), created)
	}
	sent = s.prepared(s.samples(1))
	s.compare(s.expect(201, Request{Method: "POST", Path: s.Path, As: s.as("create"), Form: formOf(sent)}).JSON(201), sent)

	body := s.valid()
	want := maps.Clone(body)
	for _, f := range s.Fields {
		if _, set := want[f.Name]; !set {
			want[f.Name] = f.Absent
		}
	}
	forged := s.forged()
	maps.Copy(body, forged)
	created = s.create(body).JSON(201)
	s.compare(created, want)
	for _, f := range s.readOnly {
		if got := created[f.Name]; !reflect.DeepEqual(got, f.Absent) && !slices.Contains(s.Derived, f.Name) {
			s.t.Errorf("%s of a new record is %v, want %v%s", f.Name, got, f.Absent, s.advice(fmt.Sprintf("r.Derived = append(r.Derived, %q) // the service computes the value", f.Name)))
		}
	}
	for name, value := range forged {
		if got, ok := created[name]; ok && got == value {
			s.t.Errorf("a caller sets %s", name)
		}
	}
	s.checkCreated(path)
}

// checkCreated lists and deletes a record that POST has created. Other checks insert their records.
func (s *suite) checkCreated(path string) {
	s.t.Helper()
	if s.has("list") {
		s.part("list", func(s *suite) { s.rowsOf(s.creatorOr("list"), s.page(s.asCreator("list"), "").Rows, path) })
	}
	if s.has("delete") {
		s.part("delete", func(s *suite) { s.expect(204, Request{Method: "DELETE", Path: path, As: s.asCreator("delete")}) })
	}
}

// update advances the clock by one second and updates a record.
func (s *suite) update(path string, body map[string]any) map[string]any {
	s.t.Helper()
	s.Clock.Advance(time.Second)
	return s.expect(200, Request{Method: "PATCH", Path: path, As: s.as("update"), JSON: body}).JSON(200)
}

// checkUpdate changes and clears each field. It checks that no other field changes, except updatedAt and the Derived fields.
func checkUpdate(s *suite) {
	s = s.start(true)
	path := s.add(s.prepared(s.samples(0)))
	want := s.update(path, s.preparedUpdate(map[string]any{}))
	change := func(field string, value, absent any) {
		s.t.Helper()
		body := s.preparedUpdate(map[string]any{field: value})
		got := s.update(path, body)
		maps.Copy(want, body)
		if body[field] == nil {
			want[field] = absent
		}
		for _, name := range append([]string{"updatedAt"}, s.Derived...) {
			want[name] = got[name]
		}
		if !reflect.DeepEqual(got, want) {
			s.t.Errorf("%s = %v: %v, want %v", field, value, got, want)
		}
	}
	for _, f := range s.Fields {
		change(f.Name, f.Samples[1], nil)
		if !f.Required {
			change(f.Name, nil, f.Absent)
		}
	}
	sent := s.preparedUpdate(s.samples(2))
	s.compare(s.expect(200, Request{Method: "PATCH", Path: path, As: s.as("update"), Form: formOf(sent)}).JSON(200), sent)
	body := s.preparedUpdate(map[string]any{})
	want = s.update(path, body)
	maps.Copy(body, s.forged())
	if got := s.update(path, body); !reflect.DeepEqual(got, want) {
		s.t.Errorf("%v, want %v", got, want)
	}
}

// checkVersions checks that an update that modifies nothing keeps the ETag, that only one of several concurrent updates of a
// version succeeds, and that a deletion with an old ETag fails.
func checkVersions(s *suite) {
	s = s.start(true)
	path, stale := s.add(s.valid()), `"stale"`
	if s.has("update") {
		stale = s.updateAtOnce(path)
	}
	if s.has("delete") {
		s.expect(412, Request{Method: "DELETE", Path: path, As: s.as("delete"), Header: http.Header{"If-Match": {stale}}})
		s.expect(204, Request{Method: "DELETE", Path: path, As: s.as("delete"), Header: http.Header{"If-Match": {"*"}}})
	}
}

// updateAtOnce sends the same update twice, and then ten concurrent updates of one version of a record. It returns the ETag of that
// version.
func (s *suite) updateAtOnce(path string) (tag string) {
	s.t.Helper()
	token, body, other := s.as("update"), s.preparedUpdate(s.samples(1)), s.preparedUpdate(s.samples(0)) // all fields: Prepare can set some
	request := func(tag string, body map[string]any) Request {
		return Request{Method: "PATCH", Path: path, As: token, JSON: body, Header: http.Header{"If-Match": {tag}}}
	}
	update := func(tag string, body map[string]any) Response { return s.Do(request(tag, body)) }
	first := s.expect(200, request("*", body))
	tag = first.Header.Get("ETag")
	if again := update(tag, body); again.Status != 200 || again.Header.Get("ETag") != tag || !bytes.Equal(again.Body, first.Body) {
		s.t.Errorf("the same update again: %d, ETag %s, %s; want ETag %s, %s", again.Status, again.Header.Get("ETag"), again.Body, tag, first.Body)
	}
	const requests = 10
	responses := make(chan Response, requests)
	for range requests {
		go func() { responses <- update(tag, other) }()
	}
	count := map[int]int{}
	var rejected *Response
	for range requests {
		response := <-responses
		if count[response.Status]++; response.Status != 200 && response.Status != 412 {
			rejected = &response
		}
	}
	if rejected != nil {
		s.want(200, request(tag, other), *rejected)
	}
	if want := map[int]int{200: 1, 412: requests - 1}; !maps.Equal(count, want) {
		s.t.Errorf("%v, want %v", count, want)
	}
	for _, unmodified := range []map[string]any{s.preparedUpdate(map[string]any{}), other} {
		if got := update(tag, unmodified).Status; got != 412 {
			s.t.Errorf("update of an old version that modifies nothing: status %d", got)
		}
	}
	return tag
}

// checkReadOnly checks that create and update reject other values of the fields that only code sets, and accept the current values.
func checkReadOnly(s *suite) {
	s = s.start(true)
	if s.has("create") {
		absent := map[string]any{}
		for _, f := range s.readOnly {
			absent[f.Name] = f.Absent
		}
		s.tryReadOnly(Request{Method: "POST", Path: s.Path, As: s.as("create")}, 201, s.valid, absent)
	}
	if s.has("update") {
		prepared := func(...any) map[string]any { return s.preparedUpdate(map[string]any{}) }
		update := Request{Method: "PATCH", Path: s.add(s.valid()), As: s.as("update"), JSON: prepared()}
		s.tryReadOnly(update, 200, prepared, s.expect(200, update).JSON(200))
	}
}

// tryReadOnly sends a request with another value of each read-only field, and one with the values of current. valid returns a valid
// body.
func (s *suite) tryReadOnly(r Request, success int, valid func(...any) map[string]any, current map[string]any) {
	s.t.Helper()
	unchanged := valid()
	for _, f := range s.readOnly {
		unchanged[f.Name] = current[f.Name]
		if i := slices.IndexFunc(f.Samples, func(sample any) bool { return !reflect.DeepEqual(sample, current[f.Name]) }); i >= 0 {
			r.JSON = withValue(valid(), f.Name, f.Samples[i])
			s.reject(r, f.Name, "read_only")
		}
	}
	r.JSON = unchanged
	s.expect(success, r)
}

// checkUnique checks that two records cannot have the same value of a unique field.
func checkUnique(s *suite) {
	s = s.start(true)
	for _, f := range s.Fields {
		if !f.Unique {
			continue
		}
		first := s.valid(f.Name, f.Samples[0])
		value := first[f.Name]
		s.add(first)
		var requests []Request
		if s.has("create") {
			requests = append(requests, Request{Method: "POST", Path: s.Path, As: s.as("create"), JSON: withValue(s.valid(), f.Name, value)})
		}
		if s.has("update") {
			requests = append(requests, Request{Method: "PATCH", Path: s.add(s.valid()), As: s.as("update"), JSON: withValue(s.preparedUpdate(map[string]any{}), f.Name, value)})
		}
		for _, request := range requests {
			if response := s.expect(409, request); !hasError(response.Body, f.Name, "conflict") {
				s.t.Errorf("%s with the same %s: %s%s", request.Method, f.Name, response.Body, s.remedy(409, request, response))
			}
		}
	}
}
