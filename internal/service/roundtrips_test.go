package service_test

import (
	"context"
	"net/url"
	"sync/atomic"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// counting counts the calls of a database. Each is one command of the MongoDB engine, as the tests of the engine check.
type counting struct {
	store.DB
	calls atomic.Int64
}

func (c *counting) Open(spec store.Spec) store.Engine {
	return &countingEngine{c.DB.Open(spec), &c.calls}
}

type countingEngine struct {
	store.Engine
	calls *atomic.Int64
}

func (e *countingEngine) Insert(ctx context.Context, id store.ID, doc any) error {
	e.calls.Add(1)
	return e.Engine.Insert(ctx, id, doc)
}

func (e *countingEngine) First(ctx context.Context, f store.Filter, into any) error {
	e.calls.Add(1)
	return e.Engine.First(ctx, f, into)
}

func (e *countingEngine) List(ctx context.Context, q store.Query, next func() any) (int64, error) {
	if e.calls.Add(1); q.MaxCount > 0 && next != nil {
		e.calls.Add(1) // MongoDB needs one command for the rows and one for the count
	}
	return e.Engine.List(ctx, q, next)
}

func (e *countingEngine) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	e.calls.Add(1)
	return e.Engine.Update(ctx, f, changes, into)
}

func (e *countingEngine) Delete(ctx context.Context, f store.Filter) (int64, error) {
	e.calls.Add(1)
	return e.Engine.Delete(ctx, f)
}

// TestRoundTrips counts the database calls of each request. A request with a token needs two of them to load the session and
// the user.
func TestRoundTrips(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	var db *counting
	api := apitest.Start(t, func(c *testkit.Config) {
		db = &counting{DB: c.DB}
		c.DB = db
	})
	ada := api.SignUp("user")
	article := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T"}`}).Header.Get("Location")
	// deleted before the user, and again afterwards
	dependents := []string{"known networks", "/auth/sessions", "/auth/identities", "/password-resets", "second factor", "/email-verifications", "passkeys", "email codes", "/api-keys"}
	for _, test := range []struct {
		name string
		testkit.Request
		want int64
	}{
		{"one", testkit.Request{Method: "GET", Path: article}, 1},
		{"list", testkit.Request{Method: "GET", Path: "/articles?count=false&q=t&sort=title"}, 1},
		{"list with count", testkit.Request{Method: "GET", Path: "/articles"}, 2},
		{"sign-in", testkit.Request{Method: "POST", Path: "/auth", Email: ada.Email, Password: testkit.Password, Form: url.Values{"access_token": {testkit.MasterKey}}}, 3 + 4}, // the network, and again the user, the second factor and other sessions after the session is stored
		{"me", testkit.Request{Method: "GET", Path: "/users/me", As: ada.Token}, 2 + 1},
		{"create", testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T"}`}, 2 + 1},
		{"update", testkit.Request{Method: "PATCH", Path: article, As: ada.Token, JSON: `{"title":"U"}`}, 2 + 1},
		{"delete", testkit.Request{Method: "DELETE", Path: article, As: ada.Token}, 2 + 1},
		{"delete me, and what is mine", testkit.Request{Method: "DELETE", Path: "/users/me", As: ada.Token}, 2 + 2 + 3 + 2*int64(len(dependents))}, // the second factor, and former addresses
		{"a bad token", testkit.Request{Method: "GET", Path: "/users/me", As: "x"}, 0},
		{"a malformed id", testkit.Request{Method: "GET", Path: "/articles/x"}, 0},
	} {
		before := db.calls.Load()
		if response := api.Do(test.Request); response.Status >= 500 {
			t.Errorf("%s: %d %s", test.name, response.Status, response.Body)
		}
		if got := db.calls.Load() - before; got != test.want {
			t.Errorf("%s: %d calls, want %d", test.name, got, test.want)
		}
	}
}
