package testkit

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// notRoles are the names of callers that are not roles.
var notRoles = []string{"nobody", "invalid token", "master key", "user", "owner", "admin", "deleted user", "demoted admin", "member", "former member", "elsewhere", "narrow key"}

// suite is the state of one check: the service, and the accounts of the callers.
type suite struct {
	*API
	Resource
	t        *testing.T
	check    string             // name of the check, or of its part
	caller   string             // the caller whose access is checked; otherwise ""
	accounts map[string]Account // by caller
	n        *int               // number of bodies so far
	posted   bool               // the check stores its records with POST
}

// skip skips the test if a call of Resource.Skip names the check.
func (s *suite) skip() {
	if reason, skipped := s.skipped[s.check]; skipped {
		s.t.Skip(reason)
	}
}

// start returns the suite with a new service, into which it inserts the records that fields refer to. If self is true, it also
// inserts records of the resource itself.
func (s *suite) start(self bool) *suite {
	s.t.Helper()
	out := *s
	out.API, out.accounts, out.n = s.Start(s.t), map[string]Account{}, new(int)
	out.startOrganizations()
	for i := range 3 {
		for _, insert := range s.Records {
			insert(out.API, RecordID(i), out.ownerID())
		}
	}
	for i := range 3 {
		if at := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Refers != nil && f.Refers.Self }); self && at >= 0 {
			s.Fields[at].Refers.Insert(out.API, RecordID(i), out.ownerID())
		}
	}
	return &out
}

// part runs a part of the check as a subtest.
func (s *suite) part(name string, run func(*suite)) {
	s.t.Helper()
	s.t.Run(name, func(t *testing.T) {
		part := s.sub(t)
		part.check += "/" + name
		part.skip()
		run(part)
	})
}

// sub returns the suite for a subtest.
func (s *suite) sub(t *testing.T) *suite {
	out := *s
	out.t = t
	if s.API != nil {
		api := *s.API
		api.t, out.API = t, &api
	}
	return &out
}

// in returns the suite for the part of a check.
func (s *suite) in(part *suite) *suite {
	out := s.sub(part.t)
	out.check = part.check
	return out
}

// account returns the account of a caller.
func (s *suite) account(caller string) Account {
	s.t.Helper()
	if a, exists := s.accounts[caller]; exists {
		return a
	}
	if a, ok := s.orgAccount(caller); ok {
		s.accounts[caller] = a
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
	return s.token(method, s.callerOf(method))
}

// asCreator returns the credential of creatorOr. A rule can hide a new record, such as a draft, from others.
func (s *suite) asCreator(method string) string {
	s.t.Helper()
	return s.token(method, s.creatorOr(method))
}

// creatorOr returns the caller who creates records or, if this caller may not call the method, the first caller who may, or "".
func (s *suite) creatorOr(method string) string {
	if creator := s.callerOf("create"); s.status(method, creator)/100 == 2 {
		return creator
	}
	return s.callerOf(method)
}

// token returns the credential of the caller who may call a method. It stops the test if there is none.
func (s *suite) token(method, caller string) string {
	s.t.Helper()
	if caller == "" {
		s.t.Fatalf("no caller may %s %s", method, s.Path)
	}
	return s.account(caller).Token
}

// callerOf returns the first caller who may call a method, or "".
func (s *suite) callerOf(method string) string {
	callers := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Access)), func(c string) bool { return slices.Contains(notRoles, c) })
	callers = slices.Concat([]string{"nobody", "owner"}, callers, []string{"admin", "master key"})
	for _, caller := range callers {
		if s.status(method, caller)/100 == 2 {
			return caller
		}
	}
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
	return s.inOrganizationOf(body)
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

// valid returns a valid body of a creation, with the required fields and the given fields. fields are alternating names and values.
func (s *suite) valid(fields ...any) map[string]any {
	s.t.Helper()
	body := s.required()
	for i := 0; i < len(fields); i += 2 {
		body[fields[i].(string)] = fields[i+1]
	}
	return s.prepared(body)
}

// required returns the required fields of a body.
func (s *suite) required() map[string]any {
	s.t.Helper()
	*s.n++
	body := map[string]any{}
	for _, f := range s.Fields {
		if f.Required {
			body[f.Name] = s.sample(f)
		}
	}
	return s.inOrganizationOf(body)
}

// inOrganizationOf sets the organization of a new record.
func (s *suite) inOrganizationOf(body map[string]any) map[string]any {
	if s.Organization {
		body[resource.OrganizationID] = OrganizationID.Hex()
	}
	return body
}

// prepared changes the body of a creation so that it complies with the rules of the project, and returns it.
func (s *suite) prepared(body map[string]any) map[string]any {
	s.t.Helper()
	return s.preparedBy(s.Prepare, body)
}

// preparedUpdate does the same for an update.
func (s *suite) preparedUpdate(body map[string]any) map[string]any {
	s.t.Helper()
	if s.PrepareUpdate != nil {
		return s.preparedBy(s.PrepareUpdate, body)
	}
	return s.preparedBy(s.Prepare, body)
}

func (s *suite) preparedBy(prepare func(*API, int, map[string]any), body map[string]any) map[string]any {
	s.t.Helper()
	if prepare == nil {
		return body
	}
	*s.n++
	prepare(s.API, *s.n, body)
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

// expect sends a request, and stops the test unless the response has the status. The error says how the table can comply with a
// rule of the project.
func (s *suite) expect(status int, r Request) Response {
	s.t.Helper()
	return s.want(status, r, s.Do(r))
}

// want stops the test unless the response to r has the status, and returns the response.
func (s *suite) want(status int, r Request, response Response) Response {
	s.t.Helper()
	if response.Status != status {
		s.t.Fatalf("%s %s %.100v: status %d, want %d: %.500s%s", r.Method, r.Path, r.JSON, response.Status, status, response.Body, s.remedy(status, r, response))
	}
	return response
}

func (s *suite) create(body map[string]any) Response {
	s.t.Helper()
	s.posted = true
	return s.expect(201, Request{Method: "POST", Path: s.Path, As: s.as("create"), JSON: body})
}

// add stores a record with Insert or, if Insert is nil, with POST. It returns the path of the record.
func (s *suite) add(body map[string]any) string {
	s.t.Helper()
	if s.Insert == nil {
		return s.create(body).Header.Get("Location")
	}
	record := map[string]any{"userId": s.ownerID(), resource.OrganizationID: OrganizationID}
	if s.Under != "" {
		record[s.Under] = RecordID(0)
	}
	for _, f := range s.Fields {
		record[f.Name] = f.Absent
	}
	for _, f := range s.readOnly {
		if record[f.Name] = f.Absent; f.Required {
			*s.n++
			record[f.Name] = s.sample(f)
		}
	}
	maps.Copy(record, body)
	caller := s.caller
	for _, method := range []string{"show", "update", "delete", "list"} {
		caller = cmp.Or(caller, s.callerOf(method))
	}
	caller = cmp.Or(caller, "nobody")
	return s.Path + "/" + s.Insert(s.API, Caller{caller, s.account(caller)}, record).Hex()
}

// show returns a record, for a caller who may see it. query can be "".
func (s *suite) show(path, query string) map[string]any {
	s.t.Helper()
	return s.expect(200, Request{Method: "GET", Path: path + query, As: s.as("show")}).JSON(200)
}

// page is a page of a list.
type page struct {
	Rows  []map[string]any
	Next  string
	Count *int // nil if the page has no count
}

// has reports whether the page has n records, and its count is total.
func (p page) has(n, total int) bool { return len(p.Rows) == n && p.Count != nil && *p.Count == total }

// page reads a page of a list. query can be "".
func (s *suite) page(token, query string) (p page) {
	s.t.Helper()
	s.expect(200, Request{Method: "GET", Path: s.Path + "?" + query, As: token}).decode(200, &p)
	return p
}

// rowsOf returns the rows of the records with the paths, which the check has stored. It stops the test unless rows, which the caller
// has listed, has all of them.
func (s *suite) rowsOf(caller string, rows []map[string]any, paths ...string) (out []map[string]any) {
	s.t.Helper()
	for _, path := range paths {
		if i := slices.IndexFunc(rows, func(row map[string]any) bool { return s.Path+"/"+textOf(row["id"]) == path }); i >= 0 {
			out = append(out, rows[i])
		}
	}
	if hidden := len(paths) - len(out); hidden > 0 {
		s.t.Fatalf("GET %s: %d of %d records are not visible to %s%s", s.Path, hidden, len(paths), caller, s.advice(s.storedLine()))
	}
	return out
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
