package user_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

type request = testkit.Request

var row = testkit.Row

const newPassword = "a better horse battery"

func TestSignUp(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	post := func(form string) request {
		return request{Method: "POST", Path: "/users", As: testkit.MasterKey, Body: form, ContentType: "application/x-www-form-urlencoded"}
	}
	asJSON := func(body string) request {
		return request{Method: "POST", Path: "/users", As: testkit.MasterKey, JSON: body}
	}
	pass := "&password=" + url.QueryEscape(testkit.Password)
	api.Run(t, []testkit.Scenario{
		row("form", request{Method: "POST", Path: "/users", Form: url.Values{
			"email": {" Ada@Example.com "}, "password": {testkit.Password}, "access_token": {testkit.MasterKey},
		}}, 201, []string{`"email":"ada@example.com"`, `"name":"ada"`, `"role":"user"`, `"picture":"https://www.gravatar.com/avatar/`, `"createdAt":"20`}, []string{`"password"`, "epoch", "version"}),
		row("the same as JSON", request{Method: "POST", Path: "/users", JSON: map[string]string{
			"email": "ada2@example.com", "password": testkit.Password, "access_token": testkit.MasterKey,
		}}, 201, []string{`"email":"ada2@example.com"`}, nil),
		row("admin", post("email=admin@example.com&role=admin&name=The+Admin&picture=https://example.com/a.png"+pass), 201,
			[]string{`"role":"admin"`, `"name":"The Admin"`, `"picture":"https://example.com/a.png"`}, nil),
		row("address in use", post("email=ADA@example.com"+pass), 409, []string{`"param":"email"`, `"code":"conflict"`}, []string{"ada"}),
		row("empty", post("x=1"), 400, []string{`"param":"email","code":"required"`, `"param":"password","code":"required"`}, nil),
		row("all wrong", post("email=ada&password=short&role=root&picture=javascript:alert(1)&name="+strings.Repeat("x", 101)), 400, []string{
			`"param":"email","code":"format"`, `"param":"password","code":"min_length"`, `"param":"role","code":"one_of"`,
			`"param":"picture","code":"format"`, `"param":"name","code":"max_length"`,
		}, []string{"javascript", "short"}),
		row("common password", post("email=a@example.com&password=PassWord123"), 400, []string{`"code":"too_common"`}, nil),
		row("long password", post("email=a@example.com&password="+strings.Repeat("x", 129)), 400, []string{`"code":"max_length"`}, nil),
		row("long password, decomposed", asJSON(`{"email":"e@example.com","password":"`+strings.Repeat(`e\u0301`, 128)+`"}`), 201, nil, nil),
		row("sign-in with it, composed", testkit.SignInRequest("e@example.com", strings.Repeat("\u00e9", 128)), 201, nil, nil),
		row("short password, decomposed", asJSON(`{"email":"a@example.com","password":"`+strings.Repeat(`e\u0301`, 7)+`"}`), 400, []string{`"code":"min_length"`}, nil),
		row("mass assignment", asJSON(`{"id":"000000000000000000000000","createdAt":"2000-01-01T00:00:00.000Z","email":"mass@example.com","password":"`+testkit.Password+`"}`),
			201, nil, []string{"000000000000000000000000", "2000-01-01"}),
		row("operator for a string", asJSON(`{"email":{"$gt":""},"password":["x"]}`), 400, []string{`"param":"email","code":"type"`, `"param":"password","code":"type"`}, nil),
		row("password with spaces", post("email=spaces@example.com&password=+eight++"), 201, nil, nil),
		row("sign in without the spaces", testkit.SignInRequest("spaces@example.com", "eight"), 401, nil, nil),
		row("sign in with the spaces", testkit.SignInRequest("spaces@example.com", " eight  "), 201, nil, nil),
	})
}

func TestUsers(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	nobody := store.NewID().Hex()
	path := "/users/" + ada.ID
	private := []string{ada.Email, "role", "createdAt"}
	api.Run(t, []testkit.Scenario{
		row("public view without a user", request{Method: "GET", Path: path}, 200, []string{`"name":`, `"picture":`}, private),
		row("unknown", request{Method: "GET", Path: "/users/" + nobody}, 404, nil, nil),
		row("malformed", request{Method: "GET", Path: "/users/x"}, 404, nil, nil),

		row("list, admin", request{Method: "GET", Path: "/users?q=" + ada.Email[:24] + "&fields=email", As: admin.Token}, 200, []string{`"count":1`, ada.Email}, []string{"name"}),
		row("list, filter", request{Method: "GET", Path: "/users?role=admin", As: admin.Token}, 200, []string{`"count":1`, admin.Email}, []string{ada.Email, `"password"`}),
		row("list, address", request{Method: "GET", Path: "/users?email=%20" + strings.ToUpper(ada.Email), As: admin.Token}, 200, []string{`"count":1`, ada.Email}, nil),
		row("list, part of an address", request{Method: "GET", Path: "/users?email=" + ada.Email[1:], As: admin.Token}, 200, []string{`"count":0`}, nil),
		row("list, a plus sign that is not escaped", request{Method: "GET", Path: "/users?email=a+b@example.com", As: admin.Token}, 400, []string{`"param":"email","code":"format"`}, nil),
		row("list, no address", request{Method: "GET", Path: "/users?email=ada", As: admin.Token}, 400, []string{`"param":"email","code":"format"`}, nil),
		row("list, secret field", request{Method: "GET", Path: "/users?fields=password", As: admin.Token}, 400, nil, nil),

		row("change", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"name":" Ada L ","picture":"https://example.com/a.png"}`}, 200, []string{`"name":"Ada L"`, `"picture":"https://example.com/a.png"`}, nil),
		row("change nothing", request{Method: "PUT", Path: "/users/me", As: ada.Token}, 200, []string{`"name":"Ada L"`}, nil),
		row("change one field", request{Method: "PUT", Path: "/users/me", As: ada.Token, Form: url.Values{"name": {"Ada"}}}, 200, []string{`"name":"Ada"`, `"picture":"https://example.com/a.png"`}, nil),
		row("clear", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"name":null,"picture":""}`}, 200, []string{`"name":"` + ada.Email[:24], "gravatar"}, nil),
		row("control characters", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"name":"A\u202eB","picture":"http://x/\"><script>"}`}, 400, []string{`"param":"name","code":"format"`, `"param":"picture","code":"format"`}, []string{"script"}),
		row("user information", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"picture":"https://ada:secret@example.com/a.png"}`}, 400, []string{`"param":"picture","code":"format"`}, []string{"secret"}),
		row("invalid change", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"name":5,"picture":"ftp://x"}`}, 400, []string{`"param":"name","code":"type"`}, nil),
		row("id stays", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"id":"x"}`}, 200, []string{ada.Email, ada.ID}, nil),
		row("another address", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"name":"X","email":"other@example.com"}`}, 400, []string{`"param":"email","code":"read_only"`, "Only an admin"}, []string{"other"}),
		row("the same address", request{Method: "PATCH", Path: path, As: ada.Token, JSON: map[string]string{"email": " " + strings.ToUpper(ada.Email), "role": "user"}}, 200, []string{ada.Email}, nil),
		row("another's role is the current one", request{Method: "PATCH", Path: path, As: eve.Token, JSON: `{"role":"user"}`}, 403, nil, nil),
		row("unknown", request{Method: "PATCH", Path: path, As: ada.Token, JSON: `{"nmae":"x","epoch":5,"password":"another password"}`}, 400,
			[]string{`"param":"epoch","code":"unknown"`, `"param":"nmae","code":"unknown","message":"Is not a parameter of this operation. Did you mean name?`, `"param":"password"`}, nil),
		row("JSON as a form", request{Method: "PATCH", Path: path, As: ada.Token, Body: `{"name":"x"}`, ContentType: "application/x-www-form-urlencoded"}, 400,
			[]string{"read as a form"}, nil),
		row("unknown before ownership", request{Method: "PATCH", Path: "/users/" + nobody, As: eve.Token, JSON: `{"name":"x"}`}, 404, nil, nil),
		row("unknown role", request{Method: "PATCH", Path: path, As: admin.Token, JSON: `{"role":"root"}`}, 400, []string{`"param":"role","code":"one_of"`, `"expected":["user","admin"`}, nil),
		row("admin makes admin", request{Method: "PATCH", Path: path, As: admin.Token, JSON: `{"role":"admin"}`}, 200, []string{`"role":"admin"`}, nil),
		row("who is an admin immediately", request{Method: "GET", Path: "/users", As: ada.Token}, 200, nil, nil),
		row("admin removes the role", request{Method: "PATCH", Path: path, As: admin.Token, JSON: `{"role":"user"}`}, 200, []string{`"role":"user"`}, nil),

		row("admin changes the address", request{Method: "PATCH", Path: "/users/" + eve.ID, As: admin.Token, JSON: `{"email":"Eve@BÜCHER.example"}`}, 200, []string{`"email":"eve@xn--bcher-kva.example"`}, nil),
		row("list, address in Unicode", request{Method: "GET", Path: "/users?email[in]=" + url.QueryEscape("eve@BÜCHER.example"), As: admin.Token}, 200, []string{`"count":1`, eve.ID}, nil),
		row("which ends the sessions", request{Method: "GET", Path: "/users/me", As: eve.Token}, 401, nil, nil),
		row("to one in use", request{Method: "PATCH", Path: "/users/" + eve.ID, As: admin.Token, JSON: map[string]string{"email": ada.Email}}, 409, []string{`"param":"email"`}, nil),
		row("to none", request{Method: "PATCH", Path: "/users/" + eve.ID, As: admin.Token, JSON: `{"email":"eve"}`}, 400, []string{`"param":"email","code":"format"`}, nil),
	})
	eve.Token = api.SignIn("eve@bücher.example", testkit.Password).Token
	api.Run(t, []testkit.Scenario{
		row("delete unknown", request{Method: "DELETE", Path: "/users/" + nobody, As: eve.Token}, 404, nil, nil),
		row("delete me, token in body", request{Method: "DELETE", Path: "/users/me", Form: url.Values{"access_token": {ada.Token}}}, 204, nil, nil),
		row("deleted user", request{Method: "GET", Path: path}, 404, nil, nil),
	})
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	form := url.Values{"password": {newPassword}}
	put := func(path string, by testkit.Account, password string) request {
		return request{Method: "PUT", Path: path, Email: by.Email, Password: password, Form: form}
	}
	path := "/users/" + ada.ID + "/password"
	api.Run(t, []testkit.Scenario{
		row("unknown user", put("/users/"+store.NewID().Hex()+"/password", eve, testkit.Password), 404, nil, nil),
		row("wrong password", put(path, ada, newPassword), 401, nil, nil),
		row("too short", request{Method: "PUT", Path: path, Email: ada.Email, Password: testkit.Password, JSON: `{"password":" x "}`}, 400, []string{"min_length"}, nil),
		row("outdated If-Match", request{Method: "PUT", Path: path, Email: ada.Email, Password: testkit.Password, Form: form, Header: http.Header{"If-Match": {`"` + ada.ID + `-99-View"`}}}, 412, nil, nil),
		row("success", put("/users/me/password", ada, testkit.Password), 200, []string{ada.Email}, nil),
		row("the old password", put(path, ada, testkit.Password), 401, nil, nil),
	})
	api.SignIn(ada.Email, newPassword)
}

// TestChangePasswordWithASession checks that only a session that was opened less than 10 minutes ago can change the password.
// This session continues; all other sessions end.
func TestChangePasswordWithASession(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	put := func(path, token string) request {
		return request{Method: "PUT", Path: path, As: token, Form: url.Values{"password": {newPassword}}}
	}
	path, me := "/users/"+ada.ID+"/password", request{Method: "GET", Path: "/users/me", As: ada.Token}
	api.Clock.Advance(10*time.Minute + time.Second)
	second := api.SignIn(ada.Email, testkit.Password)
	api.Run(t, []testkit.Scenario{
		row("another user", put(path, api.SignIn(eve.Email, testkit.Password).Token), 403, []string{"forbidden"}, nil),
		row("an old session", put(path, ada.Token), 403, []string{"reauthentication_required"}, nil),
		row("a new session", put(path, second.Token), 200, []string{ada.Email}, nil),
		row("the other session", me, 401, nil, nil),
		row("the session of the change", request{Method: "GET", Path: "/users/me", As: second.Token}, 200, nil, nil),
		row("again", put("/users/me/password", second.Token), 200, nil, nil),
	})
	refresh := api.Do(request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {second.RefreshToken}}}).JSON(201)
	api.Clock.Advance(10 * time.Minute)
	api.Run(t, []testkit.Scenario{
		row("a refreshed session", put(path, refresh["token"].(string)), 403, []string{"reauthentication_required"}, nil),
		row("deletion by a refreshed session", request{Method: "DELETE", Path: "/users/" + ada.ID, As: refresh["token"].(string)}, 403, []string{"reauthentication_required"}, nil),
	})
	api.SignIn(ada.Email, newPassword)
}

// TestConcurrentPasswordChange checks that one of many concurrent changes succeeds.
func TestConcurrentPasswordChange(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	const callers = 6
	statuses := make(chan int, callers)
	for i := range callers {
		go func() {
			statuses <- api.Do(request{
				Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: testkit.Password,
				Form: url.Values{"password": {fmt.Sprint("another password ", i)}},
			}).Status
		}()
	}
	seen := map[int]int{}
	for range callers {
		seen[<-statuses]++
	}
	if seen[200] != 1 || seen[401] != callers-1 {
		t.Errorf("statuses %v", seen)
	}
}

// TestMeETag sends the ETag of one user's /users/me as another user, as a browser does if two users sign in one after the other.
func TestMeETag(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	etag := api.Do(request{Method: "GET", Path: "/users/me", As: ada.Token}).Header.Get("ETag")
	api.Run(t, []testkit.Scenario{
		row("same user", request{Method: "GET", Path: "/users/me", As: ada.Token, Header: http.Header{"If-None-Match": {etag}}}, 304, nil, nil),
		row("other user", request{Method: "GET", Path: "/users/me", As: eve.Token, Header: http.Header{"If-None-Match": {etag}}}, 200, []string{eve.ID}, []string{ada.ID}),
		row("change by the other user", request{Method: "PATCH", Path: "/users/me", As: eve.Token, Header: http.Header{"If-Match": {etag}}, Form: url.Values{"name": {"x"}}}, 412, nil, nil),
	})
}

// TestRoundTrip reads a user as each caller, and sends the response back as a change.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	for name, test := range map[string]struct{ path, token string }{
		"a user": {"/users/me", ada.Token}, "an admin": {"/users/me", admin.Token}, "an admin, another user": {"/users/" + ada.ID, admin.Token},
	} {
		read := api.Do(request{Method: "GET", Path: test.path, As: test.token})
		for _, method := range []string{"PUT", "PATCH"} {
			wrote := api.Do(request{Method: method, Path: test.path, As: test.token, JSON: string(read.Body)})
			if wrote.Status != 200 || !bytes.Equal(wrote.Body, read.Body) || wrote.Header.Get("ETag") != read.Header.Get("ETag") {
				t.Errorf("%s, %s: %d %s", name, method, wrote.Status, wrote.Body)
			}
		}
	}
}

// TestETagOfPrivateEvents checks that an ETag changes only when the view changes. A sign-in and a password change do not change
// it. A change of the role does not change the ETag of the public view.
func TestETagOfPrivateEvents(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	path := "/users/" + ada.ID
	tags := func() [2]string {
		return [2]string{
			api.Do(request{Method: "GET", Path: path}).Header.Get("ETag"), api.Do(request{Method: "GET", Path: path, As: admin.Token}).Header.Get("ETag"),
		}
	}
	before := tags()
	if before[0] == "" || before[0] == before[1] {
		t.Errorf("ETags %v", before)
	}
	ada.Session = api.SignIn(ada.Email, testkit.Password)
	api.Do(request{Method: "PUT", Path: path + "/password", Email: ada.Email, Password: testkit.Password, Form: url.Values{"password": {newPassword}}}).JSON(200)
	if after := tags(); after != before {
		t.Errorf("after private events: %v, then %v", before, after)
	}
	api.Do(request{Method: "PATCH", Path: path, As: admin.Token, JSON: `{"role":"admin"}`}).JSON(200)
	if after := tags(); after[0] != before[0] || after[1] == before[1] {
		t.Errorf("after a change of the role: %v, then %v", before, after)
	}
	before = tags()
	changed := api.Do(request{Method: "PATCH", Path: path, As: admin.Token, JSON: `{"name":"Ada"}`, Header: http.Header{"If-Match": {before[1]}}})
	if after := tags(); changed.Status != 200 || changed.Header.Get("ETag") != after[1] || after[0] == before[0] {
		t.Errorf("after a change of the name: %d %v, then %v", changed.Status, before, after)
	}
	created := api.Do(request{Method: "POST", Path: "/users", As: testkit.MasterKey, Form: url.Values{"email": {"new@example.com"}, "password": {testkit.Password}}})
	read := api.Do(request{Method: "GET", Path: created.Header.Get("Location"), As: admin.Token})
	if tag := created.Header.Get("ETag"); tag == "" || tag != read.Header.Get("ETag") {
		t.Errorf("created %s, read %s", tag, read.Header.Get("ETag"))
	}
}

// TestIfMatchOnPasswordChange interrupts a password change with If-Match before its write. The precondition must hold in the
// write: after a change of the name, the password change fails; after a sign-in, it succeeds.
func TestIfMatchOnPasswordChange(t *testing.T) {
	t.Parallel()
	var between func() // runs after the first check of the precondition, before the write
	api := apitest.Start(t, func(c *testkit.Config) {
		c.DB = testdb.Intercept(c.DB, func(_ context.Context, call testdb.Call, do func() error) error {
			if (call.Name == "Update users" || call.Name == "Together") && between != nil { // other writes wait during a Together
				between()
			}
			return do()
		})
	})
	ada := api.SignUp("user")
	tag := api.Do(request{Method: "GET", Path: "/users/me", As: ada.Token}).Header.Get("ETag")
	rename := func(header http.Header) testkit.Response {
		return api.Do(request{Method: "PATCH", Path: "/users/me", As: ada.Token, JSON: `{"name":"Renamed"}`, Header: header})
	}
	between = func() {
		between = nil
		rename(nil).Want(200)
	}
	change := request{
		Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: testkit.Password, Form: url.Values{"password": {newPassword}},
		Header: http.Header{"If-Match": {tag}},
	}
	api.Do(change).Want(412)
	between = func() {
		between = nil
		api.SignIn(ada.Email, testkit.Password)
	}
	change.Header = http.Header{"If-Match": {api.Do(request{Method: "GET", Path: "/users/me", As: ada.Token}).Header.Get("ETag")}}
	api.Do(change).Want(200)
}

// TestMasterKeyWithBasic changes passwords for many clients from one address, with the master key. Another access_token is
// rejected, even with the right password.
func TestMasterKeyWithBasic(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	put := func(email, password, key string) request {
		form := url.Values{"password": {newPassword}}
		if key != "" {
			form.Set("access_token", key)
		}
		return request{Method: "PUT", Path: "/users/me/password", Email: email, Password: password, Form: form}
	}
	for i := range 101 { // an untrusted client has 100
		api.Do(put(fmt.Sprint(i, "@example.com"), "wrong", testkit.MasterKey)).Want(401)
	}
	inQuery := put(ada.Email, testkit.Password, "")
	inQuery.Path += "?access_token=nonsense"
	api.Run(t, []testkit.Scenario{
		row("nonsense", put(ada.Email, testkit.Password, "nonsense"), 401, []string{"access token is invalid"}, nil),
		row("nonsense in the query", inQuery, 401, nil, nil),
		row("a user token", put(ada.Email, testkit.Password, ada.Token), 401, []string{"must be the master key"}, nil),
		row("the key", put(ada.Email, testkit.Password, testkit.MasterKey), 200, []string{ada.Email}, nil),
	})
}
