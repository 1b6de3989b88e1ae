package article_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

// service is the service under test, with its callers.
type service struct {
	*testkit.API
	owner testkit.Account
}

func start(t *testing.T) *service {
	t.Helper()
	s := &service{API: apitest.Start(t)}
	s.owner = s.SignUp("user")
	return s
}

// valid returns the required parameters.
func (s *service) valid() map[string]any {
	return map[string]any{
		"title": "amber",
	}
}

// expect sends a request and fails unless the response has the status.
func (s *service) expect(t *testing.T, status int, r request) testkit.Response {
	t.Helper()
	response := s.Do(r)
	if response.Status != status {
		t.Fatalf("%s %s %.100v: status %d, want %d: %.500s", r.Method, r.Path, r.JSON, response.Status, status, response.Body)
	}
	return response
}

func (s *service) create(t *testing.T, body map[string]any) testkit.Response {
	t.Helper()
	return s.expect(t, 201, request{Method: "POST", Path: "/articles", As: s.owner.Token, JSON: body})
}

// add creates an article and returns its path.
func (s *service) add(t *testing.T, body map[string]any) string {
	t.Helper()
	return s.create(t, body).Header.Get("Location")
}

// update updates a record, one second later.
func (s *service) update(t *testing.T, path string, body map[string]any) map[string]any {
	t.Helper()
	s.Clock.Advance(time.Second)
	return s.expect(t, 200, request{Method: "PATCH", Path: path, As: s.owner.Token, JSON: body}).JSON(200)
}

func TestAccess(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, caller := range []struct {
		name, token                        string
		create, list, show, update, delete int // status
	}{
		{"nobody", "", 401, 200, 200, 401, 401},
		{"invalid token", "x", 401, 401, 401, 401, 401},
		{"master key", testkit.MasterKey, 401, 200, 200, 401, 401},
		{"user", s.SignUp("user").Token, 201, 200, 200, 403, 403},
		{"admin", s.SignUp("admin").Token, 201, 200, 200, 200, 204},
		{"deleted user", s.DeletedUser().Token, 401, 401, 401, 401, 401},
		{"demoted admin", s.DemotedAdmin().Token, 201, 200, 200, 403, 403},
		{"owner", s.owner.Token, 201, 200, 200, 200, 204},
	} {
		t.Run(caller.name, func(t *testing.T) {
			path := s.add(t, s.valid())
			s.expect(t, caller.create, request{Method: "POST", Path: "/articles", As: caller.token, JSON: s.valid()})
			s.expect(t, caller.list, request{Method: "GET", Path: "/articles", As: caller.token})
			s.expect(t, caller.list, request{Method: "GET", Path: "/articles/changes", As: caller.token})
			s.expect(t, caller.show, request{Method: "GET", Path: path, As: caller.token})
			s.expect(t, caller.update, request{Method: "PATCH", Path: path, As: caller.token, JSON: s.valid()})
			s.expect(t, caller.update, request{Method: "PUT", Path: path, As: caller.token, JSON: s.valid()})
			s.expect(t, caller.delete, request{Method: "DELETE", Path: path, As: caller.token})
		})
	}
}

// TestNotFound uses unknown, malformed and deleted IDs.
func TestNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	paths := []string{"/articles/" + store.NewID().Hex(), "/articles/1", "/articles/%24gt"}
	deleted := s.add(t, s.valid())
	s.expect(t, 204, request{Method: "DELETE", Path: deleted, As: s.owner.Token})
	paths = append(paths, deleted)
	for _, path := range paths {
		s.expect(t, 404, request{Method: "GET", Path: path})
		s.expect(t, 404, request{Method: "PATCH", Path: path, As: s.owner.Token})
		s.expect(t, 404, request{Method: "DELETE", Path: path, As: s.owner.Token})
	}
}

// TestRules sends values at the bounds of each field's rules, and beyond them.
func TestRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	send := func(r request, success int, param, code string) {
		t.Helper()
		if code == "" {
			s.expect(t, success, r)
		} else if body := s.expect(t, 400, r).Body; !strings.Contains(string(body), fmt.Sprintf(`"param":%q,"code":%q`, param, code)) {
			t.Errorf("%s %.100v: %s, want %s", r.Method, r.JSON, body, code)
		}
	}
	tests := []struct {
		param string
		value any
		code  string // of the error
	}{
		{"title", nil, "required"},
		{"title", 5.0, "type"},
		{"title", "  ", "required"},
		{"title", strings.Repeat("ä", 200), ""},
		{"title", strings.Repeat("ä", 201), "max_length"},
		{"content", nil, ""},
		{"content", 5.0, "type"},
		{"content", "  ", ""},
		{"content", strings.Repeat("ä", 100000), ""},
		{"content", strings.Repeat("ä", 100001), "max_length"},
	}
	for _, test := range tests {
		field, _, _ := strings.Cut(test.param, "[")
		body := s.valid()
		body[field] = test.value
		send(request{Method: "POST", Path: "/articles", As: s.owner.Token, JSON: body}, 201, test.param, test.code)
	}
	for field := range s.valid() {
		body := s.valid()
		delete(body, field)
		send(request{Method: "POST", Path: "/articles", As: s.owner.Token, JSON: body}, 400, field, "required")
	}
	path := s.add(t, s.valid())
	for _, test := range tests {
		field, _, _ := strings.Cut(test.param, "[")
		send(request{Method: "PATCH", Path: path, As: s.owner.Token, JSON: map[string]any{field: test.value}}, 200, test.param, test.code)
	}
}

// compare fails unless the view has the values.
func compare(t *testing.T, view, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got, ok := view[name]; !ok || !reflect.DeepEqual(got, value) {
			t.Errorf("%s is %v (%T), want %v", name, got, got, value)
		}
	}
}

// forged are parameters that a caller cannot set.
var forged = map[string]any{"id": "000000000000000000000000", "userId": "000000000000000000000000", "createdAt": "2000-01-01T00:00:00.000Z"}

// TestCreate sends all fields, as JSON and as a form, and only the required ones.
func TestCreate(t *testing.T) {
	t.Parallel()
	s := start(t)
	sent := map[string]any{
		"title":   "amber",
		"content": "daisy",
	}
	response := s.create(t, sent)
	created := response.JSON(201)
	compare(t, created, sent)
	if path := response.Header.Get("Location"); created["createdAt"] != created["updatedAt"] || path != "/articles/"+created["id"].(string) {
		t.Errorf("%v has the path %s", created, path)
	}
	compare(t, created, map[string]any{"userId": s.owner.ID})
	compare(t, s.expect(t, 200, request{Method: "GET", Path: response.Header.Get("Location")}).JSON(200), created)
	form := url.Values{
		"title":   {"birch"},
		"content": {"elder"},
	}
	compare(t, s.expect(t, 201, request{Method: "POST", Path: "/articles", As: s.owner.Token, Form: form}).JSON(201), map[string]any{
		"title":   "birch",
		"content": "elder",
	})
	body := s.valid()
	maps.Copy(body, forged)
	created = s.create(t, body).JSON(201)
	compare(t, created, map[string]any{
		"content": "",
	})
	for name, value := range forged {
		if got, ok := created[name]; ok && got == value {
			t.Errorf("a caller sets %s", name)
		}
	}
}

// TestUpdate changes and clears each field: no other field changes, except updatedAt.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.add(t, map[string]any{
		"title":   "amber",
		"content": "daisy",
	})
	want := s.update(t, path, map[string]any{})
	for _, test := range []struct {
		field       string
		value, want any
	}{
		{"title", "birch", "birch"},
		{"content", "elder", "elder"},
		{"content", nil, ""},
	} {
		got := s.update(t, path, map[string]any{test.field: test.value})
		want[test.field], want["updatedAt"] = test.want, got["updatedAt"]
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v: %v, want %v", test.field, test.value, got, want)
		}
	}
	form := url.Values{
		"title":   {"cedar"},
		"content": {"fennel"},
	}
	want = s.expect(t, 200, request{Method: "PATCH", Path: path, As: s.owner.Token, Form: form}).JSON(200)
	compare(t, want, map[string]any{
		"title":   "cedar",
		"content": "fennel",
	})
	if got := s.update(t, path, forged); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestIfMatch updates one version at the same time: one request succeeds.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.add(t, s.valid())
	update := func(tag string, body map[string]any) testkit.Response {
		return s.Do(request{Method: "PATCH", Path: path, As: s.owner.Token, JSON: body, Header: http.Header{"If-Match": {tag}}})
	}
	body := map[string]any{"title": "birch"}
	tag := update("*", body).Header.Get("ETag")
	const requests = 10
	statuses := make(chan int, requests)
	for range requests {
		go func() { statuses <- update(tag, body).Status }()
	}
	count := map[int]int{}
	for range requests {
		count[<-statuses]++
	}
	if want := map[int]int{200: 1, 412: requests - 1}; !maps.Equal(count, want) {
		t.Errorf("%v, want %v", count, want)
	}
	if got := update(tag, map[string]any{}).Status; got != 412 {
		t.Errorf("empty update of an old version: status %d", got)
	}
	stale := tag
	s.expect(t, 412, request{Method: "DELETE", Path: path, As: s.owner.Token, Header: http.Header{"If-Match": {stale}}})
	s.expect(t, 204, request{Method: "DELETE", Path: path, As: s.owner.Token, Header: http.Header{"If-Match": {"*"}}})
}

// TestOwner has an admin create a record for a user, who is then deleted.
func TestOwner(t *testing.T) {
	t.Parallel()
	s := start(t)
	user, admin, body := s.SignUp("user"), s.SignUp("admin"), s.valid()
	body["userId"] = store.NewID().Hex()
	s.expect(t, 400, request{Method: "POST", Path: "/articles", As: admin.Token, JSON: body})
	body["userId"] = user.ID
	created := s.expect(t, 201, request{Method: "POST", Path: "/articles", As: admin.Token, JSON: body})
	compare(t, created.JSON(201), map[string]any{"userId": user.ID})
	path := created.Header.Get("Location")
	view := s.expect(t, 200, request{Method: "GET", Path: path + "?expand=userId", As: admin.Token}).JSON(200)
	if owner := view["expand"].(map[string]any)["userId"].(map[string]any); owner["id"] != user.ID {
		t.Errorf("%v", view)
	}
	s.expect(t, 204, request{Method: "DELETE", Path: "/users/me", As: user.Token})
	view = s.expect(t, 200, request{Method: "GET", Path: path, As: admin.Token}).JSON(200)
	compare(t, view, map[string]any{"userId": user.ID})
}

// TestList checks each order, filter and search, also page by page.
func TestList(t *testing.T) {
	t.Parallel()
	s := start(t)
	var ids []string
	for _, body := range []map[string]any{
		{"title": "birch", "content": "elder"},
		{"title": "amber", "content": "fennel"},
		{"title": "cedar", "content": "daisy"},
	} {
		s.Clock.Advance(time.Second)
		ids = append(ids, strings.TrimPrefix(s.add(t, body), "/articles/"))
	}
	// list returns the rows and their numbers in ids.
	list := func(query string) (rows []map[string]any, numbers, next string) {
		page := s.expect(t, 200, request{Method: "GET", Path: "/articles?" + query}).JSON(200)
		for _, row := range page["rows"].([]any) {
			row := row.(map[string]any)
			rows = append(rows, row)
			numbers += fmt.Sprint(" ", slices.Index(ids, row["id"].(string)))
		}
		next, _ = page["next"].(string)
		return rows, strings.TrimSpace(numbers), next
	}
	for _, test := range []struct{ query, want string }{
		{"", "2 1 0"},
		{"sort=title", "1 0 2"},
		{"sort=-title", "2 0 1"},
		{"sort=createdAt", "0 1 2"},
		{"sort=-createdAt", "2 1 0"},
		{"sort=updatedAt", "0 1 2"},
		{"sort=-updatedAt", "2 1 0"},
		{"q=BIRCH", "0"},
		{"q=ELDER", "0"},
		{"createdAt[gte]=" + store.At(s.Clock.Now()).String(), "2"},
		{"userId=" + s.owner.ID, "2 1 0"},
		{"userId[ne]=" + s.owner.ID, ""},
	} {
		if _, got, _ := list(test.query); got != test.want {
			t.Errorf("%s: %q, want %q", test.query, got, test.want)
		}
		var paged []string
		for next := "&limit=1"; next != "" && len(paged) <= len(ids); {
			_, number, cursor := list(test.query + next)
			paged = append(paged, number)
			if next = ""; cursor != "" {
				next = "&limit=1&after=" + cursor
			}
		}
		if got := strings.Join(paged, " "); got != test.want {
			t.Errorf("%s, page by page: %q, want %q", test.query, got, test.want)
		}
	}
	for query, want := range map[string]bool{"fields=title": true, "fields=-title": false} {
		rows, _, _ := list(query)
		_, first := rows[0]["title"]
		if _, other := rows[0]["createdAt"]; first != want || other == want {
			t.Errorf("%s: %v", query, rows[0])
		}
	}
	for query, code := range map[string]string{"unknown=1": "unknown", "sort=unknown": "one_of"} {
		if body := s.expect(t, 400, request{Method: "GET", Path: "/articles?" + query}).Body; !strings.Contains(string(body), `"code":"`+code+`"`) {
			t.Errorf("%s: %s", query, body)
		}
	}
}
