package passwordreset

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

const (
	oldPassword = "analytical engine"
	newPassword = "a better horse battery"
	page        = "https://app.example.com/reset"
)

var trusted = access.Client{Address: "192.0.2.1", Trusted: true}

// fixture is a Service with a new database and its test dependencies.
type fixture struct {
	*Service
	t     *testing.T
	db    store.DB
	users *user.Module
	queue *email.Queue
	out   *emailtest.Outbox
	log   bytes.Buffer // of the queue; read it after settle
	mu    sync.Mutex
	time  time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{t: t, db: testdb.Open(t), out: emailtest.NewOutbox(), time: time.Now()}
	d := testkit.Deps(t, b.db, b.clock)
	b.queue = email.NewQueue(email.QueueOptions{
		DB: b.db, Sender: b.out, Keys: seal.New(make([]byte, 32)), Now: b.clock, Log: slog.New(slog.NewTextHandler(&b.log, nil)), Backoff: email.Backoff[:],
	})
	t.Cleanup(func() { b.queue.Close(context.Background()) })
	d.Email = b.queue
	b.users = user.New(d, user.Settings{})
	b.Service = New(d, Settings{TTL: time.Hour, LinkOrigins: []string{"https://app.example.com"}}, b.users).Service
	if err := b.db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *fixture) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.time
}

func (b *fixture) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.time = b.time.Add(d)
}

func (b *fixture) signUp(email string) user.User {
	b.t.Helper()
	u, _, err := b.users.Create(b.t.Context(), trusted, user.CreateInput{Email: email, Password: oldPassword})
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// ask requests a reset and waits for its email.
func (b *fixture) ask(email string) {
	b.t.Helper()
	if _, err := b.Create(b.t.Context(), trusted, CreateInput{Email: email, Link: page}); err != nil {
		b.t.Fatal(err)
	}
	b.settle()
}

func (b *fixture) settle() {
	b.t.Helper()
	if err := b.queue.Wait(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// token requests a reset and returns the token of the email.
func (b *fixture) token(email string) string {
	b.t.Helper()
	b.ask(email)
	return emailtest.Token(b.t, b.out.Next(b.t))
}

// gone checks that a token is invalid.
func (b *fixture) gone(token, why string) {
	b.t.Helper()
	_, get := b.Get(b.t.Context(), token)
	_, put := b.Complete(b.t.Context(), trusted, token, newPassword)
	if !apperr.Is(get, apperr.NotFound) || !apperr.Is(put, apperr.NotFound) || get.Error() != noReset().Error() || put.Error() != get.Error() {
		b.t.Errorf("%s: %v, %v", why, get, put)
	}
}

func (b *fixture) stored() []link.Token {
	b.t.Helper()
	all, err := store.Open[link.Token](b.db, storeSpec()).List(b.t.Context(), store.Query{})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func TestGone(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ada := b.signUp("ada@example.com")

	token := b.token(ada.Email)
	for _, wrong := range []string{"", "x", token + "A", token[1:], strings.ToUpper(token), store.NewID().Hex(), strings.Repeat("a", 10000)} {
		b.gone(wrong, wrong)
	}
	b.advance(time.Hour - time.Millisecond)
	if _, err := b.Get(t.Context(), token); err != nil {
		t.Errorf("expired too early: %v", err)
	}
	b.advance(time.Millisecond)
	b.gone(token, "expired")

	token = b.token(ada.Email)
	caller := access.Principal{UserID: ada.ID, Epoch: ada.Epoch}
	if _, err := b.users.ChangePassword(t.Context(), caller, ada.ID, nil, user.PasswordInput{Password: newPassword}); err != nil {
		t.Fatal(err)
	}
	b.gone(token, "the password was changed")

	token = b.token(ada.Email)
	if err := b.users.Delete(t.Context(), caller, ada.ID, nil); err != nil {
		t.Fatal(err)
	}
	b.gone(token, "the user is deleted")
	if left := b.stored(); len(left) != 0 {
		t.Errorf("not deleted: %+v", left)
	}
	b.signUp(ada.Email)
	b.gone(token, "another user has the address")
}

// TestFullQueue checks that a full queue is reported for known and unknown addresses.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.signUp("ada@example.com")
	b.emails = full{}
	for _, email := range []string{"ada@example.com", "eve@example.com"} {
		if _, err := b.Create(t.Context(), trusted, CreateInput{Email: email, Link: page}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", email, err)
		}
	}
}

var errFull = errors.New("full")

// full is a full queue.
type full struct{}

func (full) Enqueue(context.Context, email.Entry) error { return errFull }

// TestAccountLimit checks that the sixth request in an hour is accepted, and that no email is sent.
func TestAccountLimit(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ada, eve := b.signUp("ada@example.com"), b.signUp("eve@example.com")
	for range 5 {
		b.token(ada.Email)
	}
	for _, spelling := range []string{ada.Email, " Ada@example.com", "ada@EXAMPLE.com"} {
		b.ask(spelling)
	}
	b.out.None(t)
	if n := len(b.stored()); n != 5 || b.log.Len() != 0 {
		t.Errorf("%d resets, log %s", n, &b.log)
	}
	b.token(eve.Email)
	b.advance(time.Hour)
	b.token(ada.Email)
	for range 3 {
		b.token(ada.Email)
	}

	// The fifth email is sent again, because the mail server was unavailable.
	entry := email.Entry{Address: ada.Email, Args: map[string]string{"link": page}}
	for range 3 {
		if m, err := b.build(t.Context(), entry); err != nil || m == nil {
			t.Errorf("%v, %v", m, err)
		}
	}
}

func TestAddressLimit(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ask := func(c access.Client) error {
		_, err := b.Create(t.Context(), c, CreateInput{Email: "nobody@example.com", Link: page})
		return err
	}
	for range 100 {
		if err := ask(access.Client{Address: "2001:db8::1"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Create(t.Context(), access.Client{Address: "2001:db8::2"}, CreateInput{Link: "x"}); !apperr.Is(err, apperr.ValidationFailed) {
		t.Errorf("a bad link: %v", err)
	}
	if err := ask(access.Client{Address: "2001:db8::2"}); !apperr.Is(err, apperr.TooManyRequests) {
		t.Errorf("the next one from the network: %v", err)
	}
	for _, c := range []access.Client{{Address: "2001:db8:0:1::1"}, {Address: "2001:db8::1", Trusted: true}} {
		if err := ask(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b.advance(time.Hour)
	if err := ask(access.Client{Address: "2001:db8::2"}); err != nil {
		t.Error(err)
	}
}

// TestDatabaseUnavailable checks that the Builder fails while the database is unavailable, so that the queue retries it.
func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ada := b.signUp("ada@example.com")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	entry := email.Entry{Address: ada.Email, Args: map[string]string{"link": page}}
	if m, err := b.build(ended, entry); m != nil || !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := b.build(t.Context(), entry); err != nil || m.To != ada.Email {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := b.Get(ended, "x"); !apperr.Is(err, apperr.Unavailable) {
		t.Error(err)
	}
	if _, err := b.Complete(ended, trusted, "x", newPassword); !apperr.Is(err, apperr.Unavailable) {
		t.Error(err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ada := b.signUp("ada@example.com")
	b.token(ada.Email)
	b.advance(time.Hour)
	token := b.token(ada.Email)
	if err := b.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Find(t.Context(), token); err != nil || len(b.stored()) != 1 {
		t.Errorf("%v, %+v", err, b.stored())
	}
}
