package resilience_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// TestClockForward sets the clock a year ahead, deletes what has expired, and sets it back. Sessions have ended, and
// nothing else is lost.
func TestClockForward(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	made := create(api, ada.Token, "before", "key")
	api.Clock.Advance(365 * 24 * time.Hour)
	api.Run(t, []testkit.Scenario{
		testkit.Row("a token", testkit.Request{Method: "GET", Path: "/users/me", As: ada.Token}, 401, []string{"unauthorized"}, nil),
		testkit.Row("a refresh token", refreshWith(ada.RefreshToken), 401, []string{"unauthorized"}, nil),
		testkit.Row("a record", testkit.Request{Method: "GET", Path: "/articles/" + made}, 200, []string{"before"}, nil),
	})
	later := api.SignIn(ada.Email, testkit.Password)
	if create(api, later.Token, "before", "key") == made {
		t.Error("a replayed response is kept for a year")
	}
	api.RunJobs()
	api.Clock.Advance(-365 * 24 * time.Hour)
	api.Run(t, []testkit.Scenario{
		testkit.Row("an ended session", testkit.Request{Method: "GET", Path: "/users/me", As: ada.Token}, 401, nil, nil),
		testkit.Row("a session of next year", testkit.Request{Method: "GET", Path: "/users/me", As: later.Token}, 200, []string{ada.Email}, nil),
		testkit.Row("both records", testkit.Request{Method: "GET", Path: "/articles"}, 200, []string{`"count":2`}, nil),
	})
	api.SignIn(ada.Email, testkit.Password)
}

// TestClockBack sets the clock back by a day. No lock lasts longer than intended, and idempotent responses are kept.
func TestClockBack(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	first := create(api, ada.Token, "T", "key")
	traded := api.Do(refreshWith(eve.RefreshToken)).JSON(http.StatusCreated)
	for range 10 {
		guess(t, api, ada.Email, 401)
	}
	guess(t, api, ada.Email, 429)

	api.Clock.Advance(-24 * time.Hour)
	if again := create(api, ada.Token, "T", "key"); again != first {
		t.Errorf("a repeated request made another record: %s and %s", first, again)
	}
	api.SignIn(eve.Email, testkit.Password)
	api.Clock.Advance(15 * time.Minute)
	api.SignIn(ada.Email, testkit.Password) // the user is not locked out for a day
	for range 10 {
		guess(t, api, ada.Email, 401)
	}
	guess(t, api, ada.Email, 429) // and the limit holds again
	if status := api.Do(refreshWith(eve.RefreshToken)).Status; status != 401 {
		t.Errorf("a refresh token that was traded long ago: %d", status)
	}
	if status := api.Do(refreshWith(fmt.Sprint(traded["refreshToken"]))).Status; status != 401 {
		t.Errorf("the session that it was stolen from goes on: %d", status)
	}
}

// TestClockAndCursors lists by the time of creation while the clock jumps between the creations. Each record that exists
// during the whole walk is listed once.
func TestClockAndCursors(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	jumps := []time.Duration{time.Second, -time.Hour, 30 * time.Minute, 0, -time.Minute, 45 * time.Minute, -10 * time.Hour, 9 * time.Hour}
	var made []string
	for i := range 24 {
		made = append(made, create(api, api.SignIn(ada.Email, testkit.Password).Token, fmt.Sprint(i), ""))
		api.Clock.Advance(jumps[i%len(jumps)])
	}
	for _, sort := range []string{"createdAt", "-createdAt"} {
		var seen []string
		for after := ""; ; {
			page := api.Do(testkit.Request{Method: "GET", Path: "/articles?limit=5&sort=" + sort + after}).JSON(200)
			for _, row := range page["rows"].([]any) {
				seen = append(seen, row.(map[string]any)["id"].(string))
			}
			next, more := page["next"].(string)
			if !more {
				break
			}
			after = "&after=" + url.QueryEscape(next)
			create(api, api.SignIn(ada.Email, testkit.Password).Token, "meanwhile", "")
			api.Clock.Advance(jumps[len(seen)%len(jumps)])
		}
		for _, id := range made {
			if n := len(slices.DeleteFunc(slices.Clone(seen), func(s string) bool { return s != id })); n != 1 {
				t.Errorf("by %s, %s is shown %d times", sort, id, n)
			}
		}
	}
}

// create creates an article and returns its id.
func create(api *testkit.API, token, title, key string) string {
	r := testkit.Request{Method: "POST", Path: "/articles", As: token, Form: url.Values{"title": {title}}}
	if key != "" {
		r.Header = http.Header{"Idempotency-Key": {key}}
	}
	return api.Do(r).JSON(http.StatusCreated)["id"].(string)
}

func refreshWith(token string) testkit.Request {
	return testkit.Request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {token}}}
}

// guess tries a wrong password.
func guess(t *testing.T, api *testkit.API, email string, status int) {
	t.Helper()
	r := testkit.Request{
		Method: "POST", Path: "/auth", Email: email, Password: "not the password",
		Form: url.Values{"access_token": {testkit.MasterKey}},
	}
	if got := api.Do(r); got.Status != status {
		t.Fatalf("a guess: %d, want %d: %s", got.Status, status, got.Body)
	}
}
