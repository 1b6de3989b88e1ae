package auth_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

const maxSessions = 50

// sessions returns the number of listed sessions, and the number of stored sessions.
func sessions(t *testing.T, api *testkit.API, token string) (listed float64, stored int64) {
	t.Helper()
	listed = api.Do(request{Method: "GET", Path: "/auth/sessions", As: token}).JSON(200)["count"].(float64)
	return listed, api.Count("sessions")
}

// TestSessionCap opens sessions beyond the maximum. Each ends the least recently used session. A refresh counts as a use.
func TestSessionCap(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	next := func() testkit.Session {
		api.Clock.Advance(time.Second)
		return signIn(api, ada.Email)
	}
	first, second := next(), next()
	for range maxSessions - 3 { // up to the maximum, with the session of SignUp
		next()
	}
	api.Clock.Advance(time.Second)
	first = refresh(api, first.RefreshToken).Session()
	next() // ends the session of SignUp
	last := next()
	if me(api, ada.Token) != 401 || me(api, second.Token) != 401 || refresh(api, second.RefreshToken).Status != 401 {
		t.Error("the least recently used sessions are open")
	}
	if me(api, first.Token) != 200 || me(api, last.Token) != 200 || me(api, eve.Token) != 200 {
		t.Error("a session in use, the new one, or that of another user has ended")
	}
	if listed, stored := sessions(t, api, last.Token); listed != maxSessions || stored != maxSessions+1 {
		t.Errorf("%v sessions are listed, %d of two users stored", listed, stored)
	}
}

// TestConcurrentSessionCap opens many sessions concurrently, through two instances of the service.
func TestConcurrentSessionCap(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	copies := []*testkit.API{api, api.Instance()}
	ada := api.SignUp("user")
	for range maxSessions - 5 {
		signIn(api, ada.Email)
	}
	api.Clock.Advance(time.Second)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []testkit.Session
	for i := range 20 {
		wg.Go(func() {
			session := signIn(copies[i%2], ada.Email)
			mu.Lock()
			defer mu.Unlock()
			open = append(open, session)
		})
	}
	wg.Wait()
	for _, session := range open {
		if me(api, session.Token) != 200 {
			t.Error("a new session has ended")
		}
	}
	if listed, stored := sessions(t, api, open[0].Token); listed != maxSessions || stored != maxSessions {
		t.Errorf("%v sessions are listed, %d stored", listed, stored)
	}
}

// TestSignInDuring deletes the user, or changes the password, between the check of the password and the storing of the
// session. The sign-in fails and leaves no session.
func TestSignInDuring(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]request{
		"a deletion":        {Method: "DELETE", Path: "/users/me"},
		"a password change": {Method: "PUT", Path: "/users/me/password", Form: url.Values{"password": {"an even better horse"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := func() {}
			api := apitest.Start(t, func(c *testkit.Config) { c.DB = testdb.Before(c.DB, "Insert sessions", func() { before() }) })
			ada := api.SignUp("user")
			if end.Form != nil {
				end.Email, end.Password = ada.Email, testkit.Password
			} else {
				end.As = ada.Token
			}
			before = func() {
				if response := api.Do(end); response.Status >= 300 {
					t.Errorf("%d %s", response.Status, response.Body)
				}
			}
			response := api.Do(request{
				Method: "POST", Path: "/auth", Email: ada.Email, Password: testkit.Password, Form: url.Values{"access_token": {testkit.MasterKey}},
				Header: http.Header{"User-Agent": {"late"}},
			})
			if response.Status != 401 {
				t.Errorf("%d %s", response.Status, response.Body)
			}
			late, err := api.DB.Open(store.Spec{Name: "sessions"}).List(t.Context(), store.Query{Filter: store.Eq("userAgent", "late"), MaxCount: store.CountAll}, nil)
			if err != nil || late != 0 {
				t.Errorf("%d sessions are left, %v", late, err)
			}
		})
	}
}

// TestAllow checks that Allow lists only methods that the path supports.
func TestAllow(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	response := api.Do(request{Method: "PUT", Path: "/auth/sessions"})
	if allow := response.Header.Get("Allow"); response.Status != 405 || allow != "GET, DELETE, OPTIONS, HEAD" && allow != "DELETE, GET, OPTIONS, HEAD" {
		t.Errorf("%d, Allow %q", response.Status, allow)
	}
	if response := api.Do(request{Method: "POST", Path: "/auth/sessions"}); response.Status != 405 {
		t.Errorf("POST: %d", response.Status)
	}
}

// TestCursorOfAnother reads a page of sessions with the cursor of another user.
func TestCursorOfAnother(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	page := func(a testkit.Account, after string) testkit.Response {
		return api.Do(request{Method: "GET", Path: "/auth/sessions?limit=1&after=" + after, As: a.Token})
	}
	ada, eve := api.SignUp("user"), api.SignUp("user")
	for _, a := range []testkit.Account{ada, eve} {
		api.SignIn(a.Email, testkit.Password)
	}
	next := page(ada, "").JSON(200)["next"].(string)
	page(ada, next).JSON(200)
	if response := page(eve, next); response.Status != 400 || !strings.Contains(string(response.Body), `"param":"after","code":"format"`) {
		t.Errorf("status %d: %s", response.Status, response.Body)
	}
}
