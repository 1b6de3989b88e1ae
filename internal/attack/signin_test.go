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
	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/modules/apitest"
)

// public lets browsers sign up and in without the master key, so that the service sees the attacker's own address.
var public = testkit.Env("PUBLIC_SIGNUP", "true")

// try is a guess from a browser, which claims to come from an address.
func try(email, password, from string) request {
	r := request{Method: "POST", Path: "/auth", Email: email, Password: password}
	if from != "" {
		r.Header = http.Header{"X-Forwarded-For": {from}, "X-Real-Ip": {from}, "Forwarded": {"for=" + from}, "Client-Ip": {from}}
	}
	return r
}

// TestWhoHasAnAccount makes the same guesses where the victim has an account and where she has none, and compares all
// that is answered.
func TestWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	there, absent := apitest.Start(t, public), apitest.Start(t, public)
	ok(t, there.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {email}, "password": {testkit.Password}}}))
	for i := range 6 { // and so on, into the limit
		for name, r := range map[string]request{
			"sign-in":            try(email, guess, ""),
			"change of password": {Method: "PUT", Path: "/users/me/password", Email: email, Password: guess, Form: url.Values{"password": {"a new one of hers"}}},
		} {
			sameAnswer(t, there.Do(r), absent.Do(r), fmt.Sprint(name, ", guess ", i+1))
		}
	}
	want(t, 429, absent.Do(try(email, guess, "")), "guesses at nobody's account")
}

// TestBruteForce guesses one password after the other.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	for i := range 10 {
		if i%3 == 2 { // her own account: it must not give her new guesses at another
			ok(t, api.Do(try(eve.Email, testkit.Password, "")))
		}
		want(t, 401, api.Do(try(ada.Email, guess, "")), fmt.Sprint("guess ", i+1))
	}
	refused(t, api, []attempt{
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

// TestBruteForceAtOnce sends many guesses in the time of one, through two copies of the service.
func TestBruteForceAtOnce(t *testing.T) {
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
		t.Errorf("the attack succeeded: of %d guesses at once, %d were answered; statuses %v", guesses, seen[401], seen)
	}
}

// TestSpoofedAddress guesses from an address that is made up anew for each guess.
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

// TestSpoofedHops stands behind a trusted proxy, which adds the attacker's address to what she made up.
func TestSpoofedHops(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("TRUSTED_PROXIES", "127.0.0.0/8,::1/128"))
	ada := api.SignUp("user")
	for i := range 10 {
		want(t, 401, api.Do(try(ada.Email, guess, fmt.Sprint("198.51.100.", i, ", 203.0.113.7"))), fmt.Sprint("guess ", i+1))
	}
	want(t, 429, api.Do(try(ada.Email, guess, "198.51.100.99, 203.0.113.7")), "guess 11, with another first hop")
	want(t, 401, api.Do(try(ada.Email, guess, "203.0.113.8")), "a guess of another client") // the counter is not everybody's
}

// TestManyAddressesOfOne guesses from addresses of the one network that an attacker of IPv6 has.
func TestManyAddressesOfOne(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("TRUSTED_PROXIES", "127.0.0.0/8,::1/128"))
	ada := api.SignUp("user")
	for i := range 10 {
		want(t, 401, api.Do(try(ada.Email, guess, fmt.Sprintf("2001:db8:0:7::%x", i+1))), fmt.Sprint("guess ", i+1))
	}
	want(t, 429, api.Do(try(ada.Email, guess, "2001:db8:0:7:ffff::1")), "guess 11, from another address of her network")
}

// TestSpray guesses one password of many accounts.
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
	for { // as 98 more would leave the counters
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

// TestManySignUps fills the database with accounts.
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
