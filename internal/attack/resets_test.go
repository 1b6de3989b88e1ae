package attack_test

import (
	"context"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// recovered is the password that the victim sets after an attack.
const recovered = "a recovered pass phrase"

// askReset returns a request for a password reset email.
func askReset(email string) request {
	form := keyed()
	form.Set("email", email)
	form.Set("link", testkit.LinkOrigin+"/reset/{token}")
	return request{Method: "POST", Path: "/password-resets", Form: form}
}

// complete returns a request that sets a password with a reset token.
func complete(token, password string) request {
	return request{Method: "PUT", Path: "/password-resets/" + url.PathEscape(token), Form: url.Values{"password": {password}}}
}

// tokenIn returns the token of the link in an email.
func tokenIn(t *testing.T, m email.Message) string {
	t.Helper()
	for line := range strings.Lines(m.Text) {
		if strings.HasPrefix(line, testkit.LinkOrigin) {
			return path.Base(strings.TrimSpace(line))
		}
	}
	t.Fatalf("no link in %s", m.Text)
	return ""
}

// resetToken requests a password reset and returns the token of the email.
func resetToken(t *testing.T, api *testkit.API, email string) string {
	t.Helper()
	ok(t, api.Do(askReset(email)))
	return tokenIn(t, api.Email.Next(t))
}

// TestInvalidatedResetToken uses a known reset token after it became invalid: after another reset, a change of password,
// the deletion of the account, and its expiry.
func TestInvalidatedResetToken(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	const email = "ada@example.com"
	account := keyed()
	account.Set("email", email)
	account.Set("password", testkit.Password)
	signUp := request{Method: "POST", Path: "/users", Form: account}
	ok(t, api.Do(signUp))
	for _, event := range []struct {
		name   string
		happen func()
	}{
		{"another reset", func() { ok(t, api.Do(complete(resetToken(t, api, email), testkit.Password))) }},
		{"a change of the password", func() {
			change := request{Method: "PUT", Path: "/users/me/password", Email: email, Password: testkit.Password, Form: url.Values{"password": {testkit.Password}}}
			ok(t, api.Do(change))
		}},
		{"a new account with that address", func() {
			ok(t, api.Do(request{Method: "DELETE", Path: "/users/me", As: api.SignIn(email, testkit.Password).Token}))
			ok(t, api.Do(signUp))
		}},
		{"its expiry", func() { api.Clock.Advance(time.Hour) }},
	} {
		token := resetToken(t, api, email)
		ok(t, api.Do(request{Method: "GET", Path: "/password-resets/" + token}))
		event.happen()
		want(t, 404, api.Do(request{Method: "GET", Path: "/password-resets/" + token}), "a look at a reset, after "+event.name)
		want(t, 404, api.Do(complete(token, guess)), "a reset, after "+event.name)
		api.Clock.Advance(time.Hour) // past the rate limit window
	}
	api.SignIn(email, testkit.Password)
}

// outbox records all emails. Read it after the service has sent them.
type outbox struct {
	mu     sync.Mutex
	emails []email.Message
}

// Send records an email.
func (o *outbox) Send(_ context.Context, m email.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.emails = append(o.emails, m)
	return nil
}

// TestEmailToAttacker requests resets with addresses that the service could match to the victim's account and an email
// server could deliver to the attacker. Every email must go to the address of the account.
func TestEmailToAttacker(t *testing.T) {
	t.Parallel()
	out := new(outbox)
	api := apitest.Start(t, func(c *testkit.Config) { c.Sender = out })
	account := keyed()
	account.Set("email", "kate@example.com")
	account.Set("password", testkit.Password)
	ok(t, api.Do(request{Method: "POST", Path: "/users", Form: account}))
	for _, email := range []string{
		"\u212Aate@example.com", "kate@example.com,eve@example.com", "kate@example.com eve@example.com", "kate@example.com\r\nBcc: eve@example.com",
		"kate@example.com\x00@evil.example.com", "<kate@example.com>", `"kate@example.com"@evil.example.com`, "kate@example.com@evil.example.com",
		"KATE@EXAMPLE.COM", "Kate <eve@example.com>",
	} {
		api.Do(askReset(email))
	}
	api.Do(request{Method: "POST", Path: "/password-resets", JSON: map[string]any{
		"access_token": testkit.MasterKey, "email": []string{"kate@example.com", "eve@example.com"}, "link": testkit.LinkOrigin,
	}})
	ok(t, api.Do(askReset("kate@example.com")))
	api.Finish()
	for _, m := range out.emails {
		if m.To != "kate@example.com" {
			t.Errorf("the attack succeeded: the attacker got an email at %q: %s", m.To, m.Text)
		}
	}
	if n := len(out.emails); n < 2 || n > 5 { // the exact address and the one in upper case; the others may match
		t.Errorf("%d emails", n)
	}
}

// TestResetAccountEnumeration compares the responses for known and unknown addresses, up to the rate limit, and counts
// the emails.
func TestResetAccountEnumeration(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	there, absent := apitest.Start(t, public), apitest.Start(t, public)
	ok(t, there.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {email}, "password": {testkit.Password}}}))
	for range 7 {
		r := askReset(email)
		r.Form.Del("access_token")
		sameResponse(t, there.Do(r), absent.Do(r), "reset")
	}
	there.Finish()
	absent.Finish()
	absent.Email.None(t)
	for range 5 {
		there.Email.Next(t)
	}
	there.Email.None(t) // for the two rate-limited requests
}

// held is a database that blocks lookups of users until it is released.
type held struct {
	store.DB
	free chan struct{}
}

// Open wraps the users collection.
func (h *held) Open(spec store.Spec) store.Engine {
	engine := h.DB.Open(spec)
	if spec.Name == "users" {
		return &heldUsers{engine, h.free}
	}
	return engine
}

type heldUsers struct {
	store.Engine
	free chan struct{}
}

// First blocks until the release.
func (h *heldUsers) First(ctx context.Context, f store.Filter, into any) error {
	<-h.free
	return h.Engine.First(ctx, f, into)
}

// TestTimeOfReset checks that the response to a reset request does not wait for the lookup of the account: its
// duration would show whether the account exists. Here no lookup ends before the response.
func TestTimeOfReset(t *testing.T) {
	t.Parallel()
	h := &held{free: make(chan struct{})}
	api := apitest.Start(t, func(c *testkit.Config) {
		h.DB = c.DB
		c.DB = h
	})
	responded := make(chan testkit.Response, 1)
	go func() { responded <- api.Do(askReset("ada@example.com")) }()
	select {
	case a := <-responded:
		ok(t, a)
		close(h.free)
	case <-time.After(time.Minute):
		t.Error("the attack succeeded: the response waits for a lookup of the account, and its duration shows whether the account exists")
		close(h.free)
		<-responded
	}
}

// TestResetLinkElsewhere requests reset emails without the master key whose links lead to another page than the allowed one,
// to steal the token with a page that redirects, or to use up the victim's emails with links that do not work.
func TestResetLinkElsewhere(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("RESET_LINK_ORIGINS", testkit.LinkOrigin+"/reset"))
	ada := api.SignUp("user")
	ask := func(link string) request {
		return request{Method: "POST", Path: "/password-resets", Form: url.Values{"email": {ada.Email}, "link": {link}}}
	}
	var rows []attempt
	for _, link := range []string{
		"/redirect?to=https://evil.example/{token}", "/redirect?to=https://evil.example/&t={token}", "/redirect?to=https://evil.example/#{token}",
		"/reset/../redirect/{token}", "/reset/%2e%2e/redirect/{token}", "/reset%2f..%2fredirect/{token}", "/reset/..;/redirect/{token}",
		"/reset//evil.example/{token}", "/resets/{token}", "/{token}", "/nowhere",
	} {
		rows = append(rows, attempt{link, ask(testkit.LinkOrigin + link), 400, `"param":"link"`})
	}
	rejected(t, api, rows)
	for range 5 {
		ok(t, api.Do(ask(testkit.LinkOrigin+"/reset?token={token}")))
		if m := api.Email.Next(t); m.To != ada.Email {
			t.Errorf("an email to %s", m.To)
		}
	}
}
