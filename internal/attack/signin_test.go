package attack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// public allows sign-up and sign-in without the master key, so that the service sees the attacker's address.
var public = testkit.Env("PUBLIC_SIGNUP", "true")

// try returns a sign-in request of a browser that claims the address from.
func try(email, password, from string) request {
	r := request{Method: "POST", Path: "/auth", Email: email, Password: password}
	if from != "" {
		r.Header = http.Header{"X-Forwarded-For": {from}, "X-Real-Ip": {from}, "Forwarded": {"for=" + from}, "Client-Ip": {from}}
	}
	return r
}

// TestAccountEnumeration makes the same guesses for a known and an unknown address, and compares all responses.
func TestAccountEnumeration(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	there, absent := apitest.Start(t, public), apitest.Start(t, public)
	ok(t, there.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {email}, "password": {testkit.Password}}}))
	for i := range 6 { // past the rate limit
		for name, r := range map[string]request{
			"sign-in":            try(email, guess, ""),
			"change of password": {Method: "PUT", Path: "/users/me/password", Email: email, Password: guess, Form: url.Values{"password": {"a new pass phrase"}}},
		} {
			sameResponse(t, there.Do(r), absent.Do(r), fmt.Sprint(name, ", guess ", i+1))
		}
	}
	want(t, 429, absent.Do(try(email, guess, "")), "guesses at an unknown account")
}

// TestBruteForce tries one password after another.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	for i := range 10 {
		if i%3 == 2 { // a successful sign-in to the attacker's account must not reset the counter of another
			ok(t, api.Do(try(eve.Email, testkit.Password, "")))
		}
		want(t, 401, api.Do(try(ada.Email, guess, "")), fmt.Sprint("guess ", i+1))
	}
	rejected(t, api, []attempt{
		{"guess 11", try(ada.Email, guess, ""), 429, "too_many_requests"},
		{"guess 11, in capitals", try(" "+strings.ToUpper(ada.Email), guess, ""), 429, "too_many_requests"},
		{"guess 11, the right one", try(ada.Email, testkit.Password, ""), 429, "too_many_requests"},
		{"guess 11, through the server", signIn(ada.Email, guess), 429, "too_many_requests"},
		{
			"guess 11, at the change of a password",
			request{Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: testkit.Password, Form: url.Values{"password": {guess}}},
			429, "too_many_requests",
		},
	})
	api.Clock.Advance(15*time.Minute - time.Second)
	want(t, 429, api.Do(try(ada.Email, testkit.Password, "")), "guess 11, a quarter of an hour later")
	api.Clock.Advance(time.Second)
	ok(t, api.Do(try(ada.Email, testkit.Password, "")))
}

// TestParallelBruteForce sends many guesses in parallel to two instances of the service.
func TestParallelBruteForce(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public)
	copies := []*testkit.API{api, api.Instance(public)}
	ada := api.SignUp("user")
	const guesses = 30
	statuses := make([]int, guesses)
	var wg sync.WaitGroup
	for i := range guesses {
		wg.Go(func() { statuses[i] = copies[i%len(copies)].Do(try(ada.Email, fmt.Sprint(guess, i), "")).Status })
	}
	wg.Wait()
	seen := map[int]int{}
	for _, status := range statuses {
		seen[status]++
	}
	if seen[401] != 10 || seen[429] != guesses-10 {
		t.Errorf("the attack succeeded: of %d parallel guesses, %d were checked; statuses %v", guesses, seen[401], seen)
	}
}

// TestSpoofedAddress guesses from a different forged address each time.
func TestSpoofedAddress(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public)
	ada := api.SignUp("user")
	for i := range 10 {
		want(t, 401, api.Do(try(ada.Email, guess, fmt.Sprint("203.0.113.", i))), fmt.Sprint("guess ", i+1))
	}
	want(t, 429, api.Do(try(ada.Email, guess, "203.0.113.99")), "guess 11, from an address that is made up")
	want(t, 429, api.Do(try(ada.Email, guess, "127.0.0.1")), "guess 11, from the service's own address")
}

// TestSpoofedHops sends forged X-Forwarded-For addresses through a trusted proxy, which appends the real address.
func TestSpoofedHops(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("TRUSTED_PROXIES", "127.0.0.0/8,::1/128"))
	ada := api.SignUp("user")
	for i := range 10 {
		want(t, 401, api.Do(try(ada.Email, guess, fmt.Sprint("198.51.100.", i, ", 203.0.113.7"))), fmt.Sprint("guess ", i+1))
	}
	want(t, 429, api.Do(try(ada.Email, guess, "198.51.100.99, 203.0.113.7")), "guess 11, with another first hop")
	want(t, 401, api.Do(try(ada.Email, guess, "203.0.113.8")), "a guess from another client") // the limit is per client
}

// TestManyAddressesOfOne guesses from many addresses of one IPv6 network.
func TestManyAddressesOfOne(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("TRUSTED_PROXIES", "127.0.0.0/8,::1/128"))
	ada := api.SignUp("user")
	for i := range 10 {
		want(t, 401, api.Do(try(ada.Email, guess, fmt.Sprintf("2001:db8:0:7::%x", i+1))), fmt.Sprint("guess ", i+1))
	}
	want(t, 429, api.Do(try(ada.Email, guess, "2001:db8:0:7:ffff::1")), "guess 11, from another address of the same network")
}

// TestLockOut uses up the limit of an account. The user must still be able to sign in from a network of before. The headers
// must not show the attack to others.
func TestLockOut(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("TRUSTED_PROXIES", "127.0.0.0/8,::1/128"))
	ada := api.SignUp("user")
	ok(t, api.Do(try(ada.Email, testkit.Password, "198.51.100.7")))
	for i := range 100 {
		want(t, 401, api.Do(try(ada.Email, guess, fmt.Sprint("192.0.2.", i/10))), fmt.Sprint("guess ", i+1))
	}
	want(t, 429, api.Do(try(ada.Email, guess, "192.0.2.99")), "guess 101, from another network of the attacker")
	seen := api.Do(try(ada.Email, testkit.Password, "198.51.100.7"))
	if seen.Status != 201 || strings.Contains(seen.Header.Get("RateLimit"), "account") {
		t.Errorf("the attack succeeded: the user is locked out, or sees the attack: %d, RateLimit %s", seen.Status, seen.Header.Get("RateLimit"))
	}
	want(t, 429, api.Do(try(ada.Email, testkit.Password, "203.0.113.5")), "a sign-in from a new network")
}

// TestLockOutFromOneSite guesses from ten IPv6 networks of one customer, who must not be able to lock the user out elsewhere.
func TestLockOutFromOneSite(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("TRUSTED_PROXIES", "127.0.0.0/8,::1/128"))
	ada := api.SignUp("user")
	for i := range 100 {
		status := 401
		if i >= 30 {
			status = 429
		}
		want(t, status, api.Do(try(ada.Email, guess, fmt.Sprintf("2001:db8:0:%x::1", i/3%10))), fmt.Sprint("guess ", i+1))
	}
	ok(t, api.Do(try(ada.Email, testkit.Password, "203.0.113.5"))) // a new network
}

// TestSpray tries one password on many accounts.
func TestSpray(t *testing.T) {
	t.Parallel()
	var db database
	api := apitest.Start(t, public, recorded(&db))
	account := 0
	next := func() testkit.Response {
		account++
		return api.Do(try(fmt.Sprint(account, "@example.com"), guess, ""))
	}
	want(t, 401, next(), "account 1")
	for { // set the counters as 98 more guesses would
		var counter map[string]any
		err := db.collections["limits"].Update(t.Context(), store.Lt("count", 99), []store.Change{store.Set("count", 99)}, &counter)
		if apperr.Is(err, apperr.NotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want(t, 401, next(), "account 100")
	want(t, 429, next(), "account 101")
}

// TestManySignUps creates many accounts.
func TestManySignUps(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public)
	post := func(i int) testkit.Response {
		return api.Do(request{
			Method: "POST", Path: "/users", Form: url.Values{"email": {fmt.Sprint(i, "@example.com")}, "password": {guess}},
			Header: http.Header{"X-Forwarded-For": {fmt.Sprint("203.0.113.", i)}},
		})
	}
	for i := range 20 {
		ok(t, post(i))
	}
	want(t, 429, post(20), "account 21 of an hour")
}
