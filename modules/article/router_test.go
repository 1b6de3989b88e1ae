package article_test

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/modules/apitest"
)

type request = testkit.Request

// service is the service under test, and who calls it.
type service struct {
	*testkit.API
	author testkit.Account
}

func start(t *testing.T) *service {
	t.Helper()
	s := &service{API: apitest.Start(t)}
	s.author = s.SignUp("user")
	return s
}

// valid are the parameters that an article must have.
func (*service) valid() map[string]any {
	return map[string]any{
		"title": "amber",
	}
}

// add makes an article and returns its path.
func (s *service) add(t *testing.T, body map[string]any) string {
	t.Helper()
	answer := s.Do(request{Method: "POST", Path: "/articles", As: s.author.Token, JSON: body})
	if answer.Status != 201 {
		t.Fatalf("status %d: %s", answer.Status, answer.Body)
	}
	return answer.Header.Get("Location")
}

// TestAccess has every kind of caller call every route.
func TestAccess(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, caller := range []struct {
		name, token                        string
		create, list, show, update, delete int // status
	}{
		{"nobody", "", 401, 200, 200, 401, 401},
		{"a bad token", "x", 401, 401, 401, 401, 401},
		{"the master key", testkit.MasterKey, 401, 200, 200, 401, 401},
		{"a user", s.SignUp("user").Token, 201, 200, 200, 403, 403},
		{"an admin", s.SignUp("admin").Token, 201, 200, 200, 200, 204},
		{"the author", s.author.Token, 201, 200, 200, 200, 204},
	} {
		path := s.add(t, s.valid())
		s.Run(t, []testkit.Scenario{
			testkit.Row(caller.name+" creates", request{Method: "POST", Path: "/articles", As: caller.token, JSON: s.valid()}, caller.create, nil, nil),
			testkit.Row(caller.name+" lists", request{Method: "GET", Path: "/articles", As: caller.token}, caller.list, nil, nil),
			testkit.Row(caller.name+" reads", request{Method: "GET", Path: path, As: caller.token}, caller.show, nil, nil),
			testkit.Row(caller.name+" changes", request{Method: "PATCH", Path: path, As: caller.token, JSON: s.valid()}, caller.update, nil, nil),
			testkit.Row(caller.name+" puts", request{Method: "PUT", Path: path, As: caller.token, JSON: s.valid()}, caller.update, nil, nil),
			testkit.Row(caller.name+" deletes", request{Method: "DELETE", Path: path, As: caller.token}, caller.delete, nil, nil),
		})
	}
}

// TestUnknown asks for records that are not there, and under ids that are none.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, id := range []string{store.NewID().Hex(), "1", "%24gt"} {
		s.Run(t, []testkit.Scenario{
			testkit.Row("read "+id, request{Method: "GET", Path: "/articles/" + id}, 404, []string{"not_found"}, nil),
			testkit.Row("change "+id, request{Method: "PATCH", Path: "/articles/" + id, As: s.author.Token}, 404, []string{"not_found"}, nil),
			testkit.Row("delete "+id, request{Method: "DELETE", Path: "/articles/" + id, As: s.author.Token}, 404, []string{"not_found"}, nil),
		})
	}
	path := s.add(t, s.valid())
	s.Run(t, []testkit.Scenario{
		testkit.Row("delete", request{Method: "DELETE", Path: path, As: s.author.Token}, 204, nil, nil),
		testkit.Row("read what is gone", request{Method: "GET", Path: path}, 404, nil, nil),
		testkit.Row("change what is gone", request{Method: "PATCH", Path: path, As: s.author.Token}, 404, nil, nil),
		testkit.Row("delete what is gone", request{Method: "DELETE", Path: path, As: s.author.Token}, 404, nil, nil),
	})
}

// trial is a value of a field, and the code with which it is refused; "" is accepted.
type trial struct {
	param  string
	value  any
	create string
	update string
}

// trials are the bounds of each field, and what lies beyond them.
func trials() []trial {
	return []trial{
		{"title", nil, "required", ""},
		{"title", 5.0, "type", "type"},
		{"title", "  ", "required", "required"},
		{"title", strings.Repeat("ä", 200), "", ""},
		{"title", strings.Repeat("ä", 201), "max_length", "max_length"},
		{"content", nil, "", ""},
		{"content", 5.0, "type", "type"},
		{"content", "  ", "", ""},
		{"content", strings.Repeat("ä", 100000), "", ""},
		{"content", strings.Repeat("ä", 100001), "max_length", "max_length"},
	}
}

// field is the parameter whose value is tried.
func (r trial) field() string {
	field, _, _ := strings.Cut(r.param, "[")
	return field
}

// judge holds an answer against the code.
func (r trial) judge(t *testing.T, answer testkit.Response, success int, code string) {
	t.Helper()
	refusal := fmt.Sprintf(`"param":%q,"code":%q`, r.param, code)
	refused := answer.Status == 400 && strings.Contains(string(answer.Body), refusal)
	if code == "" && answer.Status != success || code != "" && !refused {
		t.Errorf("%s: %.50v was to be refused with %q, and is answered with %d %.500s", r.param, r.value, code, answer.Status, answer.Body)
	}
}

// shown fails unless the view has the values.
func shown(t *testing.T, view, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got, there := view[name]; !there || !reflect.DeepEqual(got, value) {
			t.Errorf("%s is %v (%T), want %v", name, got, got, value)
		}
	}
}

func TestCreateRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	create := func(body map[string]any) testkit.Response {
		return s.Do(request{Method: "POST", Path: "/articles", As: s.author.Token, JSON: body})
	}
	for _, trial := range trials() {
		body := s.valid()
		body[trial.field()] = trial.value
		trial.judge(t, create(body), 201, trial.create)
		if trial.value == nil { // absent is the same
			body = s.valid()
			delete(body, trial.field())
			trial.judge(t, create(body), 201, trial.create)
		}
	}
}

func TestUpdateRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.add(t, s.valid())
	for _, trial := range trials() {
		body := map[string]any{trial.field(): trial.value}
		trial.judge(t, s.Do(request{Method: "PATCH", Path: path, As: s.author.Token, JSON: body}), 200, trial.update)
	}
}

// TestCreated sends every field, and as few as may be, as JSON and as a form, and reads them back.
func TestCreated(t *testing.T) {
	t.Parallel()
	s := start(t)
	sent := map[string]any{
		"title":   "amber",
		"content": "daisy",
	}
	answer := s.Do(request{Method: "POST", Path: "/articles", As: s.author.Token, JSON: sent})
	made := answer.JSON(201)
	shown(t, made, sent)
	if made["createdAt"] != made["updatedAt"] || answer.Header.Get("Location") != "/articles/"+made["id"].(string) {
		t.Errorf("%v at %s", made, answer.Header.Get("Location"))
	}
	shown(t, made, map[string]any{"userId": s.author.ID})
	s.Clock.Advance(time.Second)
	if read := s.Do(request{Method: "GET", Path: answer.Header.Get("Location")}).JSON(200); !reflect.DeepEqual(read, made) {
		t.Errorf("%v is read, %v was made", read, made)
	}
	form := url.Values{
		"title":   {"birch"},
		"content": {"elder"},
	}
	shown(t, s.Do(request{Method: "POST", Path: "/articles", As: s.author.Token, Form: form}).JSON(201), map[string]any{
		"title":   "birch",
		"content": "elder",
	})
	shown(t, s.Do(request{Method: "POST", Path: "/articles", As: s.author.Token, JSON: s.valid()}).JSON(201), map[string]any{
		"content": "",
	})
	forged := s.valid()
	maps.Copy(forged, map[string]any{"id": "000000000000000000000000", "userId": "000000000000000000000000", "createdAt": "2000-01-01T00:00:00.000Z", "version": 9.0})
	made = s.Do(request{Method: "POST", Path: "/articles", As: s.author.Token, JSON: forged}).JSON(201)
	for _, name := range []string{"id", "userId", "createdAt", "version"} {
		if value, isShown := made[name]; isShown && value == forged[name] {
			t.Errorf("a caller sets %s", name)
		}
	}
}

// TestChanged changes each field alone, clears it, and reads it back.
func TestChanged(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.add(t, map[string]any{
		"title":   "amber",
		"content": "daisy",
	})
	change := func(r request) map[string]any {
		r.Method, r.Path = "PATCH", path
		r.As = s.author.Token
		s.Clock.Advance(time.Second)
		return s.Do(r).JSON(200)
	}
	view := change(request{JSON: "{}"})
	for _, test := range []struct {
		field          string
		value, cleared any // cleared is what null makes of it
	}{
		{"title", "birch", "birch"},
		{"content", "elder", ""},
	} {
		for _, step := range [][2]any{{test.value, test.value}, {nil, test.cleared}} {
			before := maps.Clone(view)
			view = change(request{JSON: map[string]any{test.field: step[0]}})
			before[test.field], before["updatedAt"] = step[1], view["updatedAt"]
			if !reflect.DeepEqual(view, before) {
				t.Errorf("%s: %v makes %v, want %v", test.field, step[0], view, before)
			}
		}
	}
	form := url.Values{
		"title":   {"cedar"},
		"content": {"fennel"},
	}
	view = change(request{Form: form})
	shown(t, view, map[string]any{
		"title":   "cedar",
		"content": "fennel",
	})
	forged := map[string]any{"id": "000000000000000000000000", "userId": "000000000000000000000000", "createdAt": "2000-01-01T00:00:00.000Z", "version": 9}
	if got := change(request{JSON: forged}); !reflect.DeepEqual(got, view) {
		t.Errorf("a caller sets what is not hers: %v, it was %v", got, view)
	}
}

// TestList asks for each order, filter and word, at once and row by row. The answers are the places of the rows.
func TestList(t *testing.T) {
	t.Parallel()
	s := start(t)
	places := map[string]string{} // by id
	for i, body := range []map[string]any{
		{"title": "birch", "content": "elder"},
		{"title": "amber", "content": "fennel"},
		{"title": "cedar", "content": "daisy"},
	} {
		s.Clock.Advance(time.Second)
		places[strings.TrimPrefix(s.add(t, body), "/articles/")] = fmt.Sprint(i)
	}
	ask := func(query string) (rows []any, next string) {
		answer := s.Do(request{Method: "GET", Path: "/articles?" + query}).JSON(200)
		next, _ = answer["next"].(string)
		return answer["rows"].([]any), next
	}
	place := func(row any) string { return places[row.(map[string]any)["id"].(string)] }
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
		{"userId=" + s.author.ID, "2 1 0"},
		{"userId[ne]=" + s.author.ID, ""},
	} {
		var at, byOne []string
		rows, _ := ask(test.query)
		for _, row := range rows {
			at = append(at, place(row))
		}
		if got := strings.Join(at, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.query, got, test.want)
		}
		for next := "&limit=1"; next != ""; {
			rows, cursor := ask(test.query + next)
			for _, row := range rows {
				byOne = append(byOne, place(row))
			}
			if next = ""; cursor != "" && len(byOne) <= len(places) {
				next = "&limit=1&after=" + cursor
			}
		}
		if got := strings.Join(byOne, " "); got != test.want {
			t.Errorf("%s, one by one: %s, want %s", test.query, got, test.want)
		}
	}
	for query, want := range map[string]bool{"fields=title": true, "fields=-title": false} {
		rows, _ := ask(query)
		for _, row := range rows {
			row := row.(map[string]any)
			_, chosen := row["title"]
			_, other := row["createdAt"]
			if chosen != want || other == want || row["id"] == nil {
				t.Errorf("%s: %v", query, row)
			}
		}
	}
	s.Run(t, []testkit.Scenario{
		testkit.Row("count", request{Method: "GET", Path: "/articles?limit=1"}, 200, []string{`"count":3`, `"next":"`}, nil),
		testkit.Row("unknown parameter", request{Method: "GET", Path: "/articles?nonsense=1"}, 400, []string{`"param":"nonsense","code":"unknown"`}, nil),
		testkit.Row("unknown sort", request{Method: "GET", Path: "/articles?sort=nonsense"}, 400, []string{`"param":"sort","code":"one_of"`}, nil),
	})
}
