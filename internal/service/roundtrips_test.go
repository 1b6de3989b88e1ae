package service_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// TestRoundTrips counts the database calls of each request. A request with a token needs two of them to load the session and
// the user.
func TestRoundTrips(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	var calls atomic.Int64 // each is one command of the MongoDB engine, as the tests of the engine check
	api := apitest.Start(t, func(c *testkit.Config) {
		c.DB = testdb.Intercept(c.DB, func(_ context.Context, call testdb.Call, do func() error) error {
			switch {
			case call.Name == "Atomic" || call.Name == "Together":
			case call.Counts && strings.HasPrefix(call.Name, "List "):
				calls.Add(2) // MongoDB needs one command for the rows and one for the count
			default:
				calls.Add(1)
			}
			return do()
		})
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
		{"sign-in", testkit.SignInRequest(ada.Email, testkit.Password), 3 + 4}, // the network, and again the user, the second factor and other sessions after the session is stored
		{"me", testkit.Request{Method: "GET", Path: "/users/me", As: ada.Token}, 2 + 1},
		{"create", testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T"}`}, 2 + 1},
		{"update", testkit.Request{Method: "PATCH", Path: article, As: ada.Token, JSON: `{"title":"U"}`}, 2 + 1},
		{"delete", testkit.Request{Method: "DELETE", Path: article, As: ada.Token}, 2 + 1},
		{"delete me, and what is mine", testkit.Request{Method: "DELETE", Path: "/users/me", As: ada.Token}, 2 + 2 + 5 + 5 + 3 + 2*int64(len(dependents))}, // the second factor, former addresses, memberships, and the user with the files
		{"a bad token", testkit.Request{Method: "GET", Path: "/users/me", As: "x"}, 0},
		{"a malformed id", testkit.Request{Method: "GET", Path: "/articles/x"}, 0},
	} {
		before := calls.Load()
		if response := api.Do(test.Request); response.Status >= 500 {
			t.Errorf("%s: %d %s", test.name, response.Status, response.Body)
		}
		if got := calls.Load() - before; got != test.want {
			t.Errorf("%s: %d calls, want %d", test.name, got, test.want)
		}
	}
}
