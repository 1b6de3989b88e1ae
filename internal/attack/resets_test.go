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
	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/modules/apitest"
)

// hers is a password that the victim chooses after an attack.
const hers = "a patience of her own"

// askReset asks for a mail with a link.
func askReset(email string) request {
	form := keyed()
	form.Set("email", email)
	form.Set("link", testkit.LinkOrigin+"/reset/{token}")
	return request{Method: "POST", Path: "/password-resets", Form: form}
}

// complete sets a password with the token of a mail.
func complete(token, password string) request {
	return request{Method: "PUT", Path: "/password-resets/" + url.PathEscape(token), Form: url.Values{"password": {password}}}
}

// tokenIn is the token in a mail's link.
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

// mailed is the token that a user gets by mail when she asks for a reset.
func mailed(t *testing.T, api *testkit.API, email string) string {
	t.Helper()
	ok(t, api.Do(askReset(email)))
	return tokenIn(t, api.Email.Next(t))
}

// TestResetFromBefore uses a reset that the attacker has seen, after what makes it worthless: another reset, a change of
// the password, the end of the account, and of the time.
func TestResetFromBefore(t *testing.T) {
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
		{"another reset", func() { ok(t, api.Do(complete(mailed(t, api, email), testkit.Password))) }},
		{"a change of the password", func() {
			change := request{Method: "PUT", Path: "/users/me/password", Email: email, Password: testkit.Password, Form: url.Values{"password": {testkit.Password}}}
			ok(t, api.Do(change))
		}},
		{"a new account of that address", func() {
			ok(t, api.Do(request{Method: "DELETE", Path: "/users/me", As: api.SignIn(email, testkit.Password).Token}))
			ok(t, api.Do(signUp))
		}},
		{"its time", func() { api.Clock.Advance(time.Hour) }},
	} {
		token := mailed(t, api, email)
		ok(t, api.Do(request{Method: "GET", Path: "/password-resets/" + token}))
		event.happen()
		want(t, 404, api.Do(request{Method: "GET", Path: "/password-resets/" + token}), "a look at a reset, after "+event.name)
		want(t, 404, api.Do(complete(token, guess)), "a reset, after "+event.name)
		api.Clock.Advance(time.Hour) // out of the limits
	}
	api.SignIn(email, testkit.Password)
}

// outbox keeps mails, however many they are. It is to be read when the service has sent all.
type outbox struct {
	mu    sync.Mutex
	mails []email.Message
}

// Send keeps a mail.
func (o *outbox) Send(_ context.Context, m email.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mails = append(o.mails, m)
	return nil
}

// TestMailToAnother asks for a reset with addresses that are the victim's for the service, or hold hers, and somebody
// else's for a mail server. Every mail must go to the address that she signed up with, as she wrote it.
func TestMailToAnother(t *testing.T) {
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
	for _, m := range out.mails {
		if m.To != "kate@example.com" {
			t.Errorf("the attack succeeded: the attacker got a mail at %q: %s", m.To, m.Text)
		}
	}
	if n := len(out.mails); n < 2 || n > 5 { // hers, hers in capitals; those that may be hers
		t.Errorf("%d mails", n)
	}
}

// TestWhoHasAnAccountToReset compares what is answered for somebody and for nobody, into the limit, and counts mails.
func TestWhoHasAnAccountToReset(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	there, absent := apitest.Start(t, public), apitest.Start(t, public)
	ok(t, there.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {email}, "password": {testkit.Password}}}))
	for range 7 {
		r := askReset(email)
		r.Form.Del("access_token")
		sameAnswer(t, there.Do(r), absent.Do(r), "reset")
	}
	there.Finish()
	absent.Finish()
	absent.Email.None(t)
	for range 5 {
		there.Email.Next(t)
	}
	there.Email.None(t) // of the two that were too many
}

// held is a database in which nobody can look for users before it is let go.
type held struct {
	store.DB
	free chan struct{}
}

// Open holds the users.
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

// First waits.
func (h *heldUsers) First(ctx context.Context, f store.Filter, into any) error {
	<-h.free
	return h.Engine.First(ctx, f, into)
}

// TestTimeOfReset tells who has an account by how long it takes to ask for a reset: the answer must not wait for a look at
// the accounts, so here no look ever ends before it.
func TestTimeOfReset(t *testing.T) {
	t.Parallel()
	h := &held{free: make(chan struct{})}
	api := apitest.Start(t, func(c *testkit.Config) {
		h.DB = c.DB
		c.DB = h
	})
	answered := make(chan testkit.Response, 1)
	go func() { answered <- api.Do(askReset("ada@example.com")) }()
	select {
	case a := <-answered:
		ok(t, a)
		close(h.free)
	case <-time.After(10 * time.Second):
		t.Error("the attack succeeded: the answer waits for a look at the accounts, whose time the attacker measures")
		close(h.free)
		<-answered
	}
}
