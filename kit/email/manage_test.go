package email_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
)

// TestRetry retries a waiting email and a failed one. Their delays start over, but the attempt is not the first:
// builders count an email then.
func TestRetry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	q := b.queue(&fake{fails: []error{errBusy, errBusy, errNo, errBusy}})
	var attempts []int
	q.Handle("counted", func(_ context.Context, e email.Entry) (*email.Message, error) {
		attempts = append(attempts, e.Attempt)
		return &letter, nil
	})
	retry := func() {
		t.Helper()
		row := b.rows(q)[0]
		due, err := q.Retry(t.Context(), row.ID)
		b.must(err)
		if due.Status != email.Pending || !due.NextAttemptAt.Equal(b.clock.Now().Truncate(time.Millisecond)) {
			t.Errorf("%+v", due)
		}
		b.wait(q)
	}
	b.add(q, "counted")
	b.wait(q)
	retry() // busy: due in 5 s
	b.clock.Advance(email.Backoff[1])
	b.check(q) // permanent error
	if r := b.rows(q)[0]; r.Status != email.Failed || r.Attempts != 3 {
		t.Errorf("%+v", r)
	}
	retry() // busy
	if r := b.rows(q)[0]; r.NextAttemptAt.Sub(b.clock.Now()).Round(time.Second) != email.Backoff[1] || r.Attempts != 2 {
		t.Errorf("%+v", r)
	}
	retry()
	if rows := b.rows(q); len(rows) != 0 || !slices.Equal(attempts, []int{1, 2, 3, 2, 2}) {
		t.Errorf("attempts %v, rows %v", attempts, rows)
	}
	if _, err := q.Retry(t.Context(), store.NewID()); !apperr.Is(err, apperr.NotFound) {
		t.Error(err)
	}
}

// TestDelete deletes an email. While it is being sent, it can be neither deleted nor retried, until the lease of the attempt expires.
func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sender := holding()
	first, second := b.queue(sender), b.queue(&fake{})
	b.add(first, "always")
	<-sender.begun
	id := b.rows(first)[0].ID
	change := func(want apperr.Code) {
		t.Helper()
		if _, err := second.Retry(t.Context(), id); apperr.CodeOf(err) != want {
			t.Errorf("retry: %v, want %q", err, want)
		}
	}
	change(apperr.Conflict)
	if err := second.Delete(t.Context(), id); !apperr.Is(err, apperr.Conflict) {
		t.Error(err)
	}
	b.clock.Advance(61 * time.Second) // the first instance is paused or killed
	b.must(second.Delete(t.Context(), id))
	change(apperr.NotFound)
	if err := second.Delete(t.Context(), id); !apperr.Is(err, apperr.NotFound) {
		t.Error(err)
	}
	close(sender.hold)
	b.wait(first)
}
