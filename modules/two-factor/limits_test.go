package twofactor_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// behindProxy makes the service read the address of a client from X-Forwarded-For.
var behindProxy = testkit.Env("TRUSTED_PROXIES", "127.0.0.1/32,::1/128")

// second returns the second step of a sign-in.
func (h *holder) second(name, code string) request {
	h.t.Helper()
	return request{Method: "POST", Path: secondStep, Form: values("challenge", h.challenge(), name, code)}
}

// wrong returns a code that no second factor of a test has.
func (h *holder) wrong() string {
	for _, guess := range []string{"111111", "222222", "333333", "444444"} {
		if !slices.ContainsFunc([]time.Duration{-30 * time.Second, 0, 30 * time.Second}, func(d time.Duration) bool {
			return code(h.t, h.api, h.secret, d) == guess
		}) {
			return guess
		}
	}
	panic("unreachable")
}

// lockOut uses up the limit of the account with wrong codes from ten networks.
func (h *holder) lockOut() {
	h.t.Helper()
	challenge, wrong := h.challenge(), h.wrong()
	for i := range 100 {
		guess := request{Method: "POST", Path: secondStep, Form: values("challenge", challenge, "code", wrong)}
		h.api.Do(guess.From(fmt.Sprint("198.51.100.", i/10))).Want(400, `"wrong"`)
	}
}

// TestLockOut uses up the limit of an account, as an attacker who has the password. The owner can still sign in from the networks
// from which the owner has passed the second factor, and with a recovery code from anywhere.
func TestLockOut(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, behindProxy)
	ada := api.SignUp("user")
	signIn := basic("POST", "/auth", ada, values("access_token", testkit.MasterKey))
	api.Do(signIn.From("192.0.2.1")).Want(201) // before the enrolment
	h, other := enrol(t, api, ada), enrol(t, api, api.SignUp("user"))
	api.Do(signIn.From("192.0.2.2")).Want(401, "second_factor_required") // the password alone
	api.Do(h.second("code", h.code()).From("192.0.2.3")).Want(201)
	api.Do(h.second("recovery_code", h.recovery[0]).From("2001:db8:1:2::1")).Want(201)
	api.Clock.Advance(30 * time.Second)
	h.lockOut()
	for _, test := range []struct {
		name, address string
		status        int
	}{
		{"a new network", "203.0.113.1", 429},
		{"the password, before the enrolment", "192.0.2.1", 429},
		{"the password, without a code", "192.0.2.2", 429},
		{"a code", "192.0.2.3", 201},
		{"a recovery code, another address of the /64", "2001:db8:1:2::2", 201},
		{"another /64", "2001:db8:1:3::1", 429},
		{"the enrolment", "127.0.0.1", 201},
	} {
		t.Log(test.name)
		api.Do(h.second("code", h.code()).From(test.address)).Want(test.status)
		if test.status == 201 {
			api.Clock.Advance(30 * time.Second)
		}
	}
	api.Do(h.second("recovery_code", h.recovery[1]).From("203.0.113.1")).Want(201)
	api.Do(h.second("code", h.code()).From("203.0.113.1")).Want(201) // known now

	for i := range 10 {
		guess := h.second("code", h.wrong())
		if i%2 == 0 { // counts together with the others
			guess = basic("DELETE", mine, ada, values("code", h.wrong()))
		}
		api.Do(guess.From("192.0.2.3")).Want(400, `"wrong"`)
	}
	api.Do(h.second("code", h.code()).From("192.0.2.3")).Want(429) // its own limit
	api.Do(other.second("code", other.code()).From("192.0.2.3")).Want(201)
	api.Clock.Advance(30 * 24 * time.Hour)
	h.lockOut()
	api.Do(h.second("code", h.code()).From("203.0.113.1")).Want(429)
	api.Do(basic("DELETE", mine, ada, values("code", h.code())).From("203.0.113.1")).Want(429, "too_many_requests")
	api.Clock.Advance(24*time.Hour + time.Minute)
	api.Do(h.second("code", h.code()).From("203.0.113.1")).Want(201)
}

// TestDailyLimitOfNetwork guesses for a day from a network from which the owner has passed the second factor.
func TestDailyLimitOfNetwork(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h := enrol(t, api, api.SignUp("user"))
	challenge := func() string { return h.challenge() }
	for range 10 {
		proof := values("challenge", challenge(), "code", h.wrong())
		for range 10 {
			api.Do(request{Method: "POST", Path: secondStep, Form: proof}).Want(400, `"wrong"`)
		}
		api.Clock.Advance(15 * time.Minute)
	}
	answer(api, challenge(), "code", h.code()).Want(429, "too_many_requests")
	answer(api, challenge(), "recovery_code", h.recovery[0]).Want(201)
}

// TestNetworkOfPassword signs in with only the password while the limit of wrong passwords is used up. Only a network from which
// the owner has also passed the second factor is exempt from this limit.
func TestNetworkOfPassword(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, behindProxy, testkit.Env("PUBLIC_SIGNUP", "true"))
	h := enrol(t, api, api.SignUp("user"))
	signIn := func(address, password string) testkit.Response {
		return api.Do(request{Method: "POST", Path: "/auth", Email: h.Email, Password: password}.From(address))
	}
	signIn("192.0.2.1", testkit.Password).Want(401, "second_factor_required")
	signIn("192.0.2.2", testkit.Password).Want(401, "second_factor_required")
	api.Do(h.second("code", h.code()).From("192.0.2.2")).Want(201)
	for i := range 100 {
		signIn(fmt.Sprint("198.51.100.", i/10), "wrong").Want(401, "unauthorized")
	}
	signIn("192.0.2.1", testkit.Password).Want(429, "too_many_requests")
	signIn("192.0.2.2", testkit.Password).Want(401, "second_factor_required")
}

// TestRecoveryCodeLimit guesses recovery codes, which have a limit per network, but no limit per account.
func TestRecoveryCodeLimit(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, behindProxy)
	h := enrol(t, api, api.SignUp("user"))
	challenge := h.challenge()
	guess := func(address string) request {
		return request{Method: "POST", Path: secondStep, Form: values("challenge", challenge, "recovery_code", "wrong")}.From(address)
	}
	for i := range 110 {
		api.Do(guess(fmt.Sprint("198.51.100.", i/10))).Want(400, `"wrong"`)
	}
	api.Do(guess("198.51.100.0")).Want(429, "too_many_requests")
	api.Do(h.second("recovery_code", h.recovery[0]).From("198.51.100.0")).Want(429, "too_many_requests")
	api.Do(h.second("recovery_code", h.recovery[0]).From("203.0.113.1")).Want(201)
	api.Do(h.second("code", h.code()).From("198.51.100.0")).Want(201)
}

// TestLimitsAfterReset resets the password after wrong codes. A reset proves the address, not the second factor.
func TestLimitsAfterReset(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, behindProxy)
	apitest.Need(t, api, "POST /password-resets")
	h := enrol(t, api, api.SignUp("user"))
	h.lockOut()
	api.Do(request{Method: "POST", Path: "/password-resets", As: testkit.MasterKey, Form: values("email", h.Email, "link", link)}).JSON(202)
	reset := request{Method: "PUT", Path: "/password-resets/" + nextToken(t, api), Form: url.Values{"password": {testkit.Password}}}
	api.Do(reset.From("203.0.113.1")).Want(200, h.Email)
	api.Do(h.second("code", h.code()).From("203.0.113.1")).Want(429, "too_many_requests")
}
