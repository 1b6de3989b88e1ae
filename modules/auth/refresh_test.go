package auth_test

import (
	"net/http"
	"net/url"
	"reflect"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/auth"
	"example.com/ginseng/testkit"
)

func signIn(api *testkit.API, email string) testkit.Session {
	return api.SignIn(email, testkit.Password)
}

func refresh(api *testkit.API, token string) testkit.Response {
	return api.Do(request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {token}}})
}

func me(api *testkit.API, token string) int {
	return api.Do(request{Method: "GET", Path: "/users/me", As: token}).Status
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	first := signIn(api, ada.Email)
	api.Clock.Advance(59 * time.Minute)
	if me(api, first.Token) != 200 {
		t.Error("the user token has expired too early")
	}
	response := refresh(api, first.RefreshToken)
	second := response.Session()
	if response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control: %q", response.Header.Get("Cache-Control"))
	}
	if second.Token == first.Token || second.RefreshToken == first.RefreshToken {
		t.Error("a refresh returns the old tokens")
	}
	api.Clock.Advance(time.Minute)
	if me(api, first.Token) != 401 || me(api, second.Token) != 200 {
		t.Error("the old user token has not expired, or the new one has")
	}
	api.Clock.Advance(30*24*time.Hour - 2*time.Minute)
	third := api.Do(request{Method: "POST", Path: "/auth/refresh", As: second.Token, Form: url.Values{"refresh_token": {second.RefreshToken}}}).Session() // second.Token has expired
	api.Clock.Advance(30 * 24 * time.Hour)
	if status := refresh(api, third.RefreshToken).Status; status != 401 {
		t.Errorf("an expired session is refreshed: %d", status)
	}
	api.Run(t, []testkit.Scenario{
		row("no token", request{Method: "POST", Path: "/auth/refresh"}, 400, []string{`"param":"refresh_token"`, `"required"`}, nil),
		row("too short", request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {" x "}}}, 401, nil, nil),
		row("unknown token", request{Method: "POST", Path: "/auth/refresh", JSON: map[string]string{"refresh_token": first.RefreshToken[:60] + "AAAA"}}, 401, nil, nil),
		row("a user token", request{Method: "POST", Path: "/auth/refresh", JSON: map[string]string{"refresh_token": second.RefreshToken + second.Token}}, 400, []string{`"max_length"`}, nil),
		row("not a string", request{Method: "POST", Path: "/auth/refresh", JSON: `{"refresh_token":1}`}, 400, []string{`"type"`}, nil),
	})
}

// TestRefreshGrace refreshes with replaced tokens. Within the grace period, each returns the current token, even after two
// refreshes.
func TestRefreshGrace(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	first := signIn(api, api.SignUp("user").Email)
	second := refresh(api, first.RefreshToken).Session()
	if again := refresh(api, first.RefreshToken).Session(); again.RefreshToken != second.RefreshToken || me(api, again.Token) != 200 {
		t.Error("in the grace period the old token returns another token")
	}
	api.Clock.Advance(20 * time.Second)
	third := refresh(api, second.RefreshToken).Session()
	api.Clock.Advance(10 * time.Second)
	if again := refresh(api, first.RefreshToken).Session(); again.RefreshToken != third.RefreshToken {
		t.Error("the token of two refreshes ago does not return the current one")
	}
	api.Clock.Advance(time.Millisecond)
	if status := refresh(api, first.RefreshToken).Status; status != 401 {
		t.Errorf("after the grace period: %d", status)
	}
	for name, token := range map[string]string{"second": second.RefreshToken, "third": third.RefreshToken} {
		if status := refresh(api, token).Status; status != 401 {
			t.Errorf("the session goes on after a replay, by the %s: %d", name, status)
		}
	}
	if me(api, third.Token) != 401 {
		t.Error("the user token of an ended session is valid")
	}
}

// TestConcurrentRefresh refreshes with one token 50 times concurrently, through two instances of the service.
func TestConcurrentRefresh(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	copies := []*testkit.API{api, api.Instance()}
	ada := api.SignUp("user")
	first := signIn(api, ada.Email)
	var wg sync.WaitGroup
	got := make([]testkit.Session, 50)
	for i := range got {
		wg.Go(func() { got[i] = refresh(copies[i%2], first.RefreshToken).Session() })
	}
	wg.Wait()
	for _, p := range got {
		if p.RefreshToken != got[0].RefreshToken || me(api, p.Token) != 200 {
			t.Fatal("there are two live successors")
		}
	}
	if count := api.Do(request{Method: "GET", Path: "/auth/sessions", As: got[0].Token}).JSON(200)["count"]; count != 2.0 { // with the session of SignUp
		t.Errorf("%v sessions", count)
	}
	if status := refresh(api, got[0].RefreshToken).Status; status != 201 {
		t.Errorf("the successor is not live: %d", status)
	}
}

// TestRefreshEnds ends the session in every possible way. Then its tokens must be invalid.
func TestRefreshEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]request{
		"sign-out":        {Method: "DELETE", Path: "/auth"},
		"password change": {Method: "PUT", Path: "/users/me/password", Password: testkit.Password, Form: url.Values{"password": {"an even better horse"}}},
		"deletion":        {Method: "DELETE", Path: "/users/me"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := apitest.Start(t)
			ada := api.SignUp("user")
			session := signIn(api, ada.Email)
			if end.Password != "" {
				end.Email = ada.Email
			} else {
				end.As = session.Token
			}
			if status := api.Do(end).Status; status >= 300 {
				t.Fatal(status)
			}
			if a, b := me(api, session.Token), refresh(api, session.RefreshToken).Status; a != 401 || b != 401 {
				t.Errorf("status %d with the user token, %d with the refresh token", a, b)
			}
			if other := me(api, ada.Token); (other == 200) != (name == "sign-out") {
				t.Errorf("another session: status %d", other)
			}
		})
	}
}

// TestRefreshLimit limits the invalid tokens from an IP address, and accepts valid tokens.
func TestRefreshLimit(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	session := signIn(api, api.SignUp("user").Email)
	for range 100 {
		if status := refresh(api, "unknown").Status; status != 401 {
			t.Fatal(status)
		}
	}
	response := refresh(api, "unknown")
	if response.Status != 429 || response.Header.Get("Retry-After") != "900" || response.Header.Get("RateLimit") != `"refresh";r=0;t=900` ||
		response.Header.Get("RateLimit-Policy") != `"refresh";q=100;w=900` {
		t.Errorf("%d %v", response.Status, response.Header)
	}
	if status := refresh(api, session.RefreshToken).Status; status != 201 {
		t.Errorf("a good one: %d", status)
	}
	inBody := request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {"unknown"}, "access_token": {testkit.MasterKey}}}
	inHeader := request{Method: "POST", Path: "/auth/refresh", As: testkit.MasterKey, Form: url.Values{"refresh_token": {"unknown"}}}
	for _, trusted := range []request{inBody, inHeader} {
		if status := api.Do(trusted).Status; status != 401 {
			t.Errorf("a server with the master key, for another client: %d", status)
		}
	}
	api.Clock.Advance(15 * time.Minute)
	if status := refresh(api, "unknown").Status; status != 401 {
		t.Errorf("after the window: %d", status)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	api.Clock.Advance(time.Second)
	phone := api.Do(request{
		Method: "POST", Path: "/auth", Email: ada.Email, Password: testkit.Password, Form: url.Values{"access_token": {testkit.MasterKey}},
		Header: http.Header{"User-Agent": {"Phone/1.0"}},
	}).JSON(201)["token"].(string)
	list := func(token string) []any {
		t.Helper()
		body := api.Do(request{Method: "GET", Path: "/auth/sessions", As: token}).JSON(200)
		rows := body["rows"].([]any)
		if body["count"] != float64(len(rows)) {
			t.Errorf("count %v of %d", body["count"], len(rows))
		}
		return rows
	}
	rows := list(phone)
	if len(rows) != 2 {
		t.Fatalf("%v", rows)
	}
	newest, oldest := rows[0].(map[string]any), rows[1].(map[string]any)
	if newest["userAgent"] != "Phone/1.0" || newest["current"] != true || oldest["current"] != false || newest["ip"] != "127.0.0.1" ||
		newest["createdAt"] != newest["lastUsedAt"] || !reflect.DeepEqual(newest["amr"], []any{"pwd"}) || len(newest) != 7 {
		t.Errorf("%v", rows)
	}
	if amr := (auth.Session{}).View(store.ID{}).AMR; amr == nil {
		t.Error("amr of a session without methods is null")
	}
	api.Run(t, []testkit.Scenario{
		row("unknown", request{Method: "DELETE", Path: "/auth/sessions/x", As: phone}, 404, nil, nil),
		row("own session", request{Method: "DELETE", Path: "/auth/sessions/" + oldest["id"].(string), As: phone}, 204, nil, nil),
		row("ended session", request{Method: "GET", Path: "/users/me", As: ada.Token}, 401, nil, nil),
		row("twice", request{Method: "DELETE", Path: "/auth/sessions/" + oldest["id"].(string), As: phone}, 404, nil, nil),
	})
	laptop := signIn(api, ada.Email)
	api.Run(t, []testkit.Scenario{
		row("all other sessions", request{Method: "DELETE", Path: "/auth/sessions", As: phone}, 204, nil, nil),
		row("this session continues", request{Method: "GET", Path: "/users/me", As: phone}, 200, nil, nil),
		row("the other session has ended", request{Method: "GET", Path: "/users/me", As: laptop.Token}, 401, nil, nil),
		row("another user's session continues", request{Method: "GET", Path: "/users/me", As: eve.Token}, 200, nil, nil),
	})
	if len(list(phone)) != 1 {
		t.Error("ended sessions are listed")
	}
}
