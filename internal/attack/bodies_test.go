package attack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestOperators sends database query operators in place of strings.
func TestOperators(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	article := ok(t, api.Do(request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T"}`})).Header.Get("Location")
	for _, operator := range []string{`{"$gt":""}`, `{"$ne":null}`, `{"$regex":".*"}`, `["a"]`, `[]`, `5`, `true`} {
		post := func(path, as, body string) request {
			return request{Method: "POST", Path: path, As: as, JSON: strings.ReplaceAll(body, "OPERATOR", operator)}
		}
		rejected(t, api, []attempt{
			{"credential " + operator, post("/articles", "", `{"title":"T","access_token":OPERATOR}`), 400, `"type"`},
			{"sign-in " + operator, request{Method: "POST", Path: "/auth", Email: ada.Email, Password: testkit.Password, JSON: `{"access_token":` + operator + `}`}, 400, `"type"`},
			{"email " + operator, post("/users", testkit.MasterKey, `{"email":OPERATOR,"password":"a b c d e f"}`), 400, `"param":"email","code":"type"`},
			{"password " + operator, post("/users", testkit.MasterKey, `{"email":"eve@example.com","password":OPERATOR}`), 400, `"param":"password","code":"type"`},
			{"title " + operator, post("/articles", ada.Token, `{"title":OPERATOR}`), 400, `"param":"title","code":"type"`},
			{"change of title " + operator, request{Method: "PATCH", Path: article, As: ada.Token, JSON: `{"title":` + operator + `}`}, 400, `"param":"title","code":"type"`},
			{"name " + operator, request{Method: "PATCH", Path: "/users/me", As: ada.Token, JSON: `{"name":` + operator + `}`}, 400, `"param":"name","code":"type"`},
			{"path " + operator, request{Method: "GET", Path: "/users/" + url.PathEscape(operator), As: admin.Token}, 404, ""},
			{"filter " + operator, request{Method: "GET", Path: "/articles?userId=" + url.QueryEscape(operator)}, 400, `"type"`},
		})
	}
	rejected(t, api, []attempt{
		{"operator in brackets", request{Method: "GET", Path: "/users?role[$ne]=user", As: admin.Token}, 400, "unknown"},
		{"regular expression", request{Method: "GET", Path: "/users?email[regex]=.*", As: admin.Token}, 400, "unknown"},
		{"the hash, by range queries", request{Method: "GET", Path: "/users?password[gt]=%24argon2id%24v%3D19", As: admin.Token}, 400, "unknown"},
		{"sort by hash", request{Method: "GET", Path: "/users?sort=password", As: admin.Token}, 400, "one_of"},
		{"pattern", request{Method: "GET", Path: "/users?q=.*", As: admin.Token}, 200, `"count":0`},
		{"SQL", request{Method: "GET", Path: "/users?q=" + url.QueryEscape(`x" OR 1=1 --`), As: admin.Token}, 200, `"count":0`},
	})
}

// TestInvalidStrings sends NUL bytes and invalid UTF-8.
func TestInvalidStrings(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	post := func(contentType, body string) request {
		return request{Method: "POST", Path: "/articles", As: eve.Token, Body: body, ContentType: contentType}
	}
	const form, json, parts = "application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=b"
	part := func(text string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n" + text + "\r\n--b--\r\n"
	}
	rejected(t, api, []attempt{
		{"NUL in a form", post(form, "title=a%00b"), 400, `"param":"title","code":"format"`},
		{"NUL in JSON", post(json, `{"title":"a\u0000b"}`), 400, `"param":"title","code":"format"`},
		{"NUL in a part", post(parts, part("a\x00b")), 400, `"param":"title","code":"format"`},
		{"invalid UTF-8 in a form", post(form, "title=%ff%fe"), 400, `"param":"title","code":"format"`},
		{"overlong UTF-8 in a form", post(form, "title=%c0%af"), 400, `"param":"title","code":"format"`},
		{"invalid UTF-8 in JSON", post(json, "{\"title\":\"\xff\xfe\"}"), 400, "malformed_body"},
		{"invalid UTF-8 in a part", post(parts, part("\xff\xfe")), 400, "malformed_body"},
		{"NUL in a query", request{Method: "GET", Path: "/articles?q=a%00b"}, 400, `"param":"q","code":"format"`},
		{"invalid UTF-8 in a query", request{Method: "GET", Path: "/articles?q=%ff"}, 400, `"param":"q","code":"format"`},
		{"NUL in a path", request{Method: "GET", Path: "/articles/%00"}, 404, ""},
		{"invalid UTF-8 in a path", request{Method: "GET", Path: "/articles/%ff"}, 404, ""},
		{"a file for a string", post(parts, "--b\r\nContent-Disposition: form-data; name=\"title\"; filename=\"../../etc/passwd\"\r\n\r\nx\r\n--b--\r\n"), 400, `"code":"type"`},
	})
}

// TestDuplicateParameter sends a parameter twice. A proxy in front of the service may read the other value.
func TestDuplicateParameter(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	rejected(t, api, []attempt{
		{"in JSON", request{Method: "POST", Path: "/users", As: testkit.MasterKey, JSON: `{"email":"a@example.com","password":"a b c d e f","role":"user","role":"admin"}`}, 400, "malformed_body"},
		{"in JSON, escaped", request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"a","t\u0069tle":"b"}`}, 400, "malformed_body"},
		{"in a form", request{Method: "POST", Path: "/articles", As: eve.Token, Form: url.Values{"title": {"a", "b"}}}, 400, `"code":"type"`},
		{"in a query", request{Method: "GET", Path: "/articles?limit=1&limit=100"}, 400, `"code":"type"`},
		{"with semicolons", request{Method: "POST", Path: "/articles", As: eve.Token, Body: "title=a;title=b", ContentType: "application/x-www-form-urlencoded"}, 400, "malformed_body"},
		{"in another case", request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"Title":"a","TITLE":"b"}`}, 400, `"param":"title","code":"required"`},
	})
}

// TestDeepAndWide sends deeply nested documents and documents with many fields, which are expensive to parse.
func TestDeepAndWide(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	post := func(path, as, body string) request { return request{Method: "POST", Path: path, As: as, JSON: body} }
	wide := make(map[string]int)
	for i := range 20_000 {
		wide[fmt.Sprint("a", i)] = i
	}
	text, err := json.Marshal(wide)
	if err != nil {
		t.Fatal(err)
	}
	fields := make(url.Values)
	for i := range 50_000 {
		fields.Set(fmt.Sprint("a", i), "")
	}
	deep := strings.Repeat(`[`, 200_000) + strings.Repeat(`]`, 200_000)
	maps := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat(`}`, 100_000)
	rejected(t, api, []attempt{
		{"deep", post("/articles", eve.Token, `{"title":"T","x":`+deep+`}`), 400, "malformed_body"},
		{"deep objects", post("/articles", eve.Token, `{"title":`+maps+`}`), 400, "malformed_body"},
		{"deep without a user", post("/auth/refresh", "", `{"x":`+deep[:15_000]+`}`), 400, "malformed_body"},
		{"wide", post("/articles", eve.Token, string(text)), 400, "malformed_body"},
		{"wide query", request{Method: "GET", Path: "/articles?" + fields.Encode()[:60_000]}, 400, "unknown"},
	})
}

// TestManyErrors sends as many errors as fit in a body, to get a response that is much larger.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	labels, params := make(map[string]string), make(map[string]any)
	for i := range 30_000 {
		labels[fmt.Sprint("no label ", i)] = "*"
	}
	for i := range 450 {
		params[fmt.Sprint("no parameter ", i)] = i
		params[fmt.Sprint("unknown", i)] = i
	}
	for name, body := range map[string]map[string]any{
		"labels":     {"namespace": "n", "name": "n", "selector": map[string]any{"matchLabels": labels}},
		"a label":    {"namespace": "n", "name": "n", "selector": map[string]any{"matchLabels": map[string]string{strings.Repeat("\x01", 150_000): ""}}},
		"parameters": params,
	} {
		got := api.Do(request{Method: "POST", Path: "/policies", As: admin.Token, JSON: body})
		if want(t, 400, got, name); len(got.Body) > 100_000 {
			t.Errorf("%s: the response has %d bytes", name, len(got.Body))
		}
	}
}

// endless is an infinite body that counts the bytes read.
type endless struct{ taken atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.taken.Add(int64(len(p)))
	return len(p), nil
}

// TestHugeBody sends ten times the maximum body size, with and without a Content-Length, to routes with and without
// authentication.
func TestHugeBody(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	huge := strings.Repeat("x", 10<<20)
	for name, r := range map[string]request{
		"a user":          {Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"` + huge + `"}`},
		"no user":         {Method: "POST", Path: "/articles", JSON: `{"title":"` + huge + `"}`},
		"no user, a form": {Method: "POST", Path: "/auth", Form: url.Values{"access_token": {huge}}},
	} {
		want(t, 413, api.Do(r), "10 MiB from "+name)
	}
	body := new(endless)
	stream := request{Method: "POST", Path: "/articles", Stream: body, ContentType: "application/x-www-form-urlencoded"}
	want(t, 413, api.Do(stream), "a body without end")
	if taken := body.taken.Load(); taken > 8<<20 {
		t.Errorf("infinite body: the service read %d bytes", taken)
	}
}

// TestHugePassword sends very long passwords and tokens.
func TestHugePassword(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("user")
	long := strings.Repeat("x", 1<<20-200)
	for size, status := range map[int]int{15_000: 400, len(long): 413} {
		form := url.Values{"email": {"eve@example.com"}, "password": {long[:size]}}
		want(t, status, api.Do(request{Method: "POST", Path: "/users", As: testkit.MasterKey, Form: form}), fmt.Sprint("a password at sign-up of ", size))
		change := request{Method: "PUT", Path: "/users/me/password", Email: eve.Email, Password: testkit.Password, Form: url.Values{"password": {long[:size]}}}
		want(t, status, api.Do(change), fmt.Sprint("a new password of ", size))
	}
	header := http.Header{"Authorization": {"Bearer " + long[:500_000]}}
	want(t, 401, api.Do(request{Method: "GET", Path: "/users/me", Header: header}), "a token of 500 kB")
}
