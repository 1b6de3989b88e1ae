package mongo

import (
	"context"
	"math/rand/v2"
	"time"
)

// isDeadlock reports whether the server aborted the command, without effect, because of a deadlock of its transaction.
// Servers on PostgreSQL do so for concurrent inserts and index builds.
func isDeadlock(err error) bool { return hasMessage(err, "deadlock detected") }

// The first and the longest pause of retryDeadlock; each is twice the previous one. With the random part, all pauses
// together are shorter than 3 s.
const deadlockPause, maxDeadlockPause = 10 * time.Millisecond, 640 * time.Millisecond

// retryDeadlock calls f, and again after a pause while f returns a deadlock. After the longest pause, or if ctx ends, it
// returns the deadlock.
func retryDeadlock(ctx context.Context, f func() error) error {
	for pause := deadlockPause; ; pause *= 2 {
		err := f()
		if !isDeadlock(err) || pause > maxDeadlockPause {
			return err
		}
		select {
		case <-time.After(pause + rand.N(pause)): // instances that start together must not meet again
		case <-ctx.Done():
			return err
		}
	}
}
