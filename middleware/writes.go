package middleware

import (
	"cmp"
	"context"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/slot"
	"example.com/ginseng/kit/store"
)

// UserWrites limits the total size of a user's requests in progress on an instance, except GET requests. Further requests wait,
// so that one user cannot delay the writes of others. The limit is a total size instead of a number of requests, because large
// requests take longer to store.
type UserWrites struct {
	limit   int64
	wait    time.Duration
	running *slot.Keyed[writer]
}

// writer identifies requests that share a limit. API keys and the routes of the account have separate limits, so that a stolen key
// or token cannot prevent the user from deleting the key or ending the session.
type writer struct {
	user    store.ID
	isKey   bool // the requests with API keys of the user
	account bool // the requests to routes that restricted users can call, and that have no long parameters
}

func (a Authenticator) writer(caller access.Principal) writer {
	return writer{caller.UserID, caller.Key != nil, a.route.Restricted && !a.route.LargeBody && a.route.Raw == 0}
}

// Minimum sizes in bytes that are counted for a request.
const (
	minWrite  = 512     // of any request
	minChange = 2 << 10 // of a change of a record that can be large: the response contains the whole record
)

// NewUserWrites returns UserWrites that limit a user's requests in progress to limit bytes in total. A request with a larger
// body runs alone. A request that cannot start within wait fails with TooManyRequests.
func NewUserWrites(limit int64, wait time.Duration) *UserWrites {
	return &UserWrites{limit: limit, wait: wait, running: slot.NewKeyed[writer](limit, 0)}
}

// A user can repeat a transaction that is rolled back without end, because it stores nothing. With these pauses, the batches of a
// user that are rolled back delay at most one percent of the writes of others.
const (
	freeRollback = 10 * time.Millisecond // no pause follows: the delay is similar to that of a commit
	pauseFactor  = 99                    // length of a pause, as a multiple of the time of the transaction
	maxPause     = 4 * time.Second       // less than the time that a request waits for its turn
)

// endAfter calls end, the result of UserWrites.begin, after a pause: the request continues to count toward the limit. rolledBack
// is how long other writes have waited for transactions of the request that were rolled back. endAfter returns immediately.
func endAfter(rolledBack time.Duration, end func()) {
	if rolledBack <= freeRollback {
		end()
		return
	}
	time.AfterFunc(min(pauseFactor*rolledBack, maxPause), end)
}

// begin waits until the writer may start a request with a body of size bytes. The caller must call end after the request, unless
// end is nil. If w is nil, there is no limit, and end is nil. TooManyRequests: the request could not start within wait, or the time of
// NewUserWrites if wait is 0.
func (w *UserWrites) begin(ctx context.Context, id writer, size int64, wait time.Duration) (end func(), err error) {
	if w == nil {
		return nil, nil
	}
	release, err := w.running.Acquire(ctx, id, min(max(size, minWrite), w.limit), cmp.Or(wait, w.wait))
	if err != nil {
		return nil, apperr.New(apperr.TooManyRequests,
			"Your changes in progress have reached the limit, which is %d KiB in total or one batch, or a long one has just failed. Try again in a few seconds.", w.limit>>10)
	}
	return release, nil
}
