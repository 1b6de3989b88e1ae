package middleware

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// UserWrites limits the requests other than GET that a user has in progress on an instance, so that one user cannot delay
// the writes of others. More requests wait.
type UserWrites struct {
	most int64
	wait time.Duration

	mu    sync.Mutex
	users map[store.ID]*userWrites
}

type userWrites struct {
	running  *semaphore.Weighted
	requests int // running and waiting
}

// NewUserWrites returns UserWrites with a limit per user, and how long a request waits before it gets TooManyRequests.
func NewUserWrites(most int64, wait time.Duration) *UserWrites {
	return &UserWrites{most: most, wait: wait, users: make(map[store.ID]*userWrites)}
}

// begin waits until the user may have one more request in progress. Call end after the request; nil means that there is no
// limit.
func (w *UserWrites) begin(ctx context.Context, id store.ID) (end func(), err error) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	user := w.users[id]
	if user == nil {
		user = &userWrites{running: semaphore.NewWeighted(w.most)}
		w.users[id] = user
	}
	user.requests++
	w.mu.Unlock()
	leave := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if user.requests--; user.requests == 0 {
			delete(w.users, id)
		}
	}
	if !user.running.TryAcquire(1) {
		ctx, cancel := context.WithTimeout(ctx, w.wait)
		defer cancel()
		if user.running.Acquire(ctx, 1) != nil {
			leave()
			return nil, apperr.New(apperr.TooManyRequests, "You have %d other changes in progress. Wait for their responses.", w.most)
		}
	}
	return func() { user.running.Release(1); leave() }, nil
}
