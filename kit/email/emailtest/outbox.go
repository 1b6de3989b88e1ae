// Package emailtest provides fakes for tests: an SMTP server, an email queue that is full, and a Sender that records emails.
package emailtest

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
)

// timeout is the maximum time that a test waits for an email.
const timeout = time.Minute

// capacity is the maximum number of unread emails.
const capacity = 1000

// Outbox is a Sender that records emails.
type Outbox struct{ inbox[email.Message] }

// NewOutbox returns an empty Outbox.
func NewOutbox() *Outbox { return &Outbox{make(inbox[email.Message], capacity)} }

// Send implements email.Sender.
func (o *Outbox) Send(_ context.Context, m email.Message) error {
	select {
	case o.inbox <- m:
		return nil
	default:
		return errors.New("emailtest: the outbox is full")
	}
}

// NextTo returns the oldest unread email to an address. It removes older emails, which are to other addresses.
func (o *Outbox) NextTo(t testing.TB, address string) email.Message {
	t.Helper()
	for {
		if m := o.Next(t); m.To == address {
			return m
		}
	}
}

var token = regexp.MustCompile(`[\w-]{43}`)

// Token returns the token of the link in an email; see kit/email/link.
func Token(t testing.TB, m email.Message) string {
	t.Helper()
	found := token.FindString(m.Text)
	if found == "" {
		t.Fatalf("no link with a token in %s", m.Text)
	}
	return found
}

// inbox has the unread emails.
type inbox[T any] chan T

// Next returns the oldest unread email. If no email arrives within a minute, Next fails the test.
func (i inbox[T]) Next(t testing.TB) (out T) {
	t.Helper()
	return next(t, i)
}

// None fails the test if there is an unread email. Call the Wait method of the queue first.
func (i inbox[T]) None(t testing.TB) {
	t.Helper()
	select {
	case m := <-i:
		t.Errorf("unexpected email: %v", m)
	default:
	}
}

func next[T any](t testing.TB, from <-chan T) (out T) {
	t.Helper()
	select {
	case out = <-from:
	case <-time.After(timeout):
		t.Fatal("no email was sent")
	}
	return out
}
