package slot

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// callersOfShares is the number of callers that together can use all of a Shares.
const callersOfShares = 4

// Shares divides what an instance has among callers, for example memory or slots. No caller has more than a quarter, so that one
// caller cannot take all.
type Shares struct {
	all     *semaphore.Weighted
	callers *Keyed[string]
}

// NewShares returns Shares of size units. A caller can have at least one unit, even if a quarter of size is less.
func NewShares(size int64) *Shares {
	return &Shares{all: semaphore.NewWeighted(size), callers: NewKeyed[string](max(size/callersOfShares, 1), 0)}
}

// Quarter returns the number of units that one caller can have.
func (s *Shares) Quarter() int64 { return s.callers.size }

// Acquire takes n units for the caller. It waits like the function Acquire. ErrShare: units of the caller's own quarter are
// missing, so the caller can have more only after a release. Other errors are those of the function Acquire. The caller must call
// release when it no longer needs the units.
func (s *Shares) Acquire(ctx context.Context, caller string, n int64, wait time.Duration) (release func(), err error) {
	if wait > 0 { // for both semaphores together
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
		wait = 0
	}
	leave, err := s.callers.Acquire(ctx, caller, n, wait)
	if err != nil {
		return nil, errors.Join(ErrShare, err)
	}
	if err := Acquire(ctx, s.all, n, wait); err != nil {
		leave()
		return nil, err
	}
	return func() { s.all.Release(n); leave() }, nil
}

// ErrShare is returned by Shares.Acquire if the caller would have more than a quarter.
var ErrShare = errors.New("slot: the caller has a quarter of what is shared")
