// Package emailtest stands in for the world in tests of mails: a Sender that keeps what it is given, and a real SMTP
// server in the process.
package emailtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
)

// patience is how long a test waits for a mail before it fails.
const patience = 20 * time.Second

// capacity is how many mails may lie unread.
const capacity = 1000

// Outbox is a Sender that keeps each mail for the test to read.
type Outbox struct{ mails chan email.Message }

// NewOutbox makes an empty Outbox.
func NewOutbox() *Outbox { return &Outbox{make(chan email.Message, capacity)} }

// Send keeps the mail.
func (o *Outbox) Send(_ context.Context, m email.Message) error {
	select {
	case o.mails <- m:
		return nil
	default:
		return errors.New("mailtest: the outbox is full")
	}
}

// Next returns the oldest mail that the test has not read; it waits for one.
func (o *Outbox) Next(t testing.TB) email.Message {
	t.Helper()
	return next(t, o.mails)
}

// None fails the test if there is a mail that it has not read. What may still come, a Queue's Wait must end first.
func (o *Outbox) None(t testing.TB) {
	t.Helper()
	select {
	case m := <-o.mails:
		t.Errorf("a mail that nobody asked for, to %s: %s", m.To, m.Subject)
	default:
	}
}

func next[T any](t testing.TB, from <-chan T) (out T) {
	t.Helper()
	select {
	case out = <-from:
	case <-time.After(patience):
		t.Fatal("no mail came")
	}
	return out
}
