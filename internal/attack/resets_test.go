package attack_test

import (
	"context"
	"net/url"
	"path"
	"strings"
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

// TestTimeOfRequest checks that the responses to requests of a reset and of a code do not wait for the lookup of the account: their
// duration would show whether the account exists. Here no lookup ends before the response.
func TestTimeOfRequest(t *testing.T) {
	t.Parallel()
	for _, r := range []request{askReset("ada@example.com"), askCode("ada@example.com")} {
		h := &held{free: make(chan struct{})}
		api := apitest.Start(t, func(c *testkit.Config) {
			h.DB = c.DB
			c.DB = h
		})
		responded := make(chan testkit.Response, 1)
		go func() { responded <- api.Do(r) }()
		select {
		case a := <-responded:
			ok(t, a)
			close(h.free)
		case <-time.After(time.Minute):
			t.Errorf("%s: the attack succeeded: the response waits for a lookup of the account, and its duration shows whether the account exists", r.Path)
			close(h.free)
			<-responded
		}
	}
}
