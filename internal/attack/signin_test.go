package attack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"

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
