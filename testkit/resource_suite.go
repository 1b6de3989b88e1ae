package testkit

import (
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

// notRoles are the names of callers that are not roles.
var notRoles = []string{"nobody", "invalid token", "master key", "user", "owner", "admin", "deleted user", "demoted admin"}

// suite is the state of one check: the service, and the accounts of the callers.
type suite struct {
	*API
	Resource
	t        *testing.T
	accounts map[string]Account // by caller
	n        *int               // number of bodies so far
}

// start starts a service, and inserts the records that fields refer to. If self is true, it also inserts records of the resource
// itself.
func start(t *testing.T, r Resource, self bool) *suite {
	t.Helper()
	s := &suite{API: r.Start(t), Resource: r, t: t, accounts: map[string]Account{}, n: new(int)}
	for i := range 3 {
		for _, insert := range r.Records {
			insert(s.API, RecordID(i), s.ownerID())
		}
	}
	for i := range 3 {
		if at := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Refers != nil && f.Refers.Self }); self && at >= 0 {
			r.Fields[at].Refers.Insert(s.API, RecordID(i), s.ownerID())
		}
	}
	return s
}

// sub returns the suite for a subtest.
func (s *suite) sub(t *testing.T) *suite {
	out, api := *s, *s.API
	api.t, out.t, out.API = t, t, &api
	return &out
}

// account returns the account of a caller.
func (s *suite) account(caller string) Account {
	s.t.Helper()
	if a, exists := s.accounts[caller]; exists {
		return a
	}
	var a Account
	switch caller {
	case "nobody":
	case "invalid token":
		a.Token = "x"
	case "master key":
		a.Token = MasterKey
	case "deleted user":
		a = s.DeletedUser()
	case "demoted admin":
		a = s.DemotedAdmin()
	case "user", "owner":
		a = s.SignUp("user")
	default:
		a = s.SignUp(caller)
	}
	s.accounts[caller] = a
	return a
}

// ownerID returns the ID of the owner, or zero if Access has no owner.
func (s *suite) ownerID() (id store.ID) {
	s.t.Helper()
	if s.Access["owner"] != nil {
		id, _ = store.ParseID(s.account("owner").ID)
	}
	return id
}

// as returns the credential of the first caller who may call a method. The credential of nobody is "".
func (s *suite) as(method string) string {
	s.t.Helper()
	callers := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Access)), func(c string) bool { return slices.Contains(notRoles, c) })
	callers = slices.Concat([]string{"nobody", "owner"}, callers, []string{"admin", "master key"})
	for _, caller := range callers {
		if s.status(method, caller)/100 == 2 {
			return s.account(caller).Token
		}
	}
	s.t.Fatalf("no caller may %s %s", method, s.Path)
	return ""
}

// asAdmin returns the credential of an admin or, if admins may not call the method, the master key.
func (s *suite) asAdmin(method string) string {
	if s.status(method, "admin")/100 == 2 {
		return s.account("admin").Token
	}
	return MasterKey
}

// samples returns a body with sample i of each field.
func (s *suite) samples(i int) map[string]any {
	body := map[string]any{}
	for _, f := range s.Fields {
		body[f.Name] = f.Samples[i]
	}
	return body
}

// sample returns a valid value of a field. If the field is unique, no other record has the value.
func (s *suite) sample(f Field) any {
	switch {
	case f.Unique && f.Refers != nil:
		id := store.NewID()
		f.Refers.Insert(s.API, id, s.ownerID())
		return id.Hex()
	case f.Unique:
		return f.Distinct(*s.n)
	}
	return f.Samples[0]
}

// valid returns a valid body with the required fields and the given fields. fields are alternating names and values.
func (s *suite) valid(fields ...any) map[string]any {
	s.t.Helper()
	*s.n++
	body := map[string]any{}
	for _, f := range s.Fields {
		if f.Required {
			body[f.Name] = s.sample(f)
		}
	}
	for i := 0; i < len(fields); i += 2 {
		body[fields[i].(string)] = fields[i+1]
	}
	return s.prepared(body)
}

// prepared changes a body so that it complies with the rules of the resource, and returns it.
func (s *suite) prepared(body map[string]any) map[string]any {
	s.t.Helper()
	if s.Prepare == nil {
		return body
	}
	*s.n++
	s.Prepare(s.API, *s.n, body)
	text, err := json.Marshal(body)
	s.must(err)
	clear(body)
	s.must(json.Unmarshal(text, &body))
	return body
}

func formOf(body map[string]any) url.Values {
	form := url.Values{}
	for name, value := range body {
		items, isList := value.([]any)
		if !isList {
			items = []any{value}
		}
		for _, item := range items {
			form.Add(name, textOf(item))
		}
	}
	return form
}

// textOf returns the string for a value in a form or a query string.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case nil:
		return ""
	}
	text, _ := json.Marshal(value) // never fails: a test has written the value
	return string(text)
}

// expect sends a request, and stops the test unless the response has the status.
func (s *suite) expect(status int, r Request) Response {
	s.t.Helper()
	response := s.Do(r)
	if response.Status != status {
		s.t.Fatalf("%s %s %.100v: status %d, want %d: %.500s", r.Method, r.Path, r.JSON, response.Status, status, response.Body)
	}
	return response
}

func (s *suite) create(body map[string]any) Response {
	s.t.Helper()
	return s.expect(201, Request{Method: "POST", Path: s.Path, As: s.as("create"), JSON: body})
}

// add creates a record, directly in the database if no route creates one, and returns its path.
func (s *suite) add(body map[string]any) string {
	s.t.Helper()
	if s.has("create") {
		return s.create(body).Header.Get("Location")
	}
	record := map[string]any{"userId": s.ownerID()}
	for _, f := range s.Fields {
		record[f.Name] = f.Absent
	}
	maps.Copy(record, body)
	return s.Path + "/" + s.Insert(s.API, record).Hex()
}

// show returns a record, for a caller who may see it. query can be "".
func (s *suite) show(path, query string) map[string]any {
	s.t.Helper()
	return s.expect(200, Request{Method: "GET", Path: path + query, As: s.as("show")}).JSON(200)
}

// compare fails the test unless view has the values of want.
func (s *suite) compare(view, want map[string]any) {
	s.t.Helper()
	for name, value := range want {
		if got, ok := view[name]; !ok || !reflect.DeepEqual(got, value) {
			s.t.Errorf("%s is %v (%T), want %v", name, got, got, value)
		}
	}
}

// forged returns fields that a client cannot set.
func (s *suite) forged() map[string]any {
	out := map[string]any{"id": store.ID{}.Hex(), "createdAt": "2000-01-01T00:00:00.000Z"}
	if s.Owner {
		out["userId"] = store.ID{}.Hex()
	}
	if s.Under != "" {
		out[s.Under] = store.ID{}.Hex()
	}
	return out
}

// hasError reports whether body has an error of the field. key is a key of Field.Invalid.
func hasError(body []byte, field, key string) bool {
	if code, ok := strings.CutPrefix(key, "[0]."); ok {
		field, key = field+"[0]", code
	}
	return strings.Contains(string(body), `"param":"`+field+`","code":"`+key+`"`)
}
