package rest

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/apperr"
)

// LargeResponse is the size in bytes above which a response needs a share of the Budget. A smaller response fits into the
// send buffer of the system: even if the client does not read it, it does not stay in the memory of the process.
const LargeResponse = 128 << 10

// Budget limits the memory for large responses, which stay in memory while their clients read slowly. Pages of lists and
// single records have separate limits, so that clients that do not read pages cannot prevent others from reading records.
type Budget struct {
	pages, records *semaphore.Weighted
	wait           time.Duration
}

// NewBudget returns a Budget with the given bytes for pages and for records. wait is how long ReservePage waits for a share.
func NewBudget(pages, records int64, wait time.Duration) *Budget {
	return &Budget{pages: semaphore.NewWeighted(pages), records: semaphore.NewWeighted(records), wait: wait}
}

// share is the part of a Budget that the response to one request has reserved.
type share struct {
	budget *Budget
	from   *semaphore.Weighted // the limit that bytes were reserved from; nil: nothing is reserved
	bytes  int64
}

type shareKey struct{}

// Context returns a context for a request whose response uses the budget. Call release after the response.
func (b *Budget) Context(ctx context.Context) (_ context.Context, release func()) {
	s := &share{budget: b}
	return context.WithValue(ctx, shareKey{}, s), s.release
}

func (s *share) release() {
	if s.from != nil {
		s.from.Release(s.bytes)
	}
}

func tooManyResponses() error {
	return apperr.New(apperr.Unavailable, "Too many large responses are being sent. Try again in a few seconds, or request less with limit or fields.").AsOverload()
}

// ReservePage waits for a share of the Budget of the context, for a page of at most size bytes. Call it before the page is
// read. It does nothing without a Budget, or if the response has a share already. Unavailable: other responses use the
// budget.
func ReservePage(ctx context.Context, size int64) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok || s.from != nil {
		return nil
	}
	waitCtx, cancel := context.WithTimeout(ctx, s.budget.wait)
	defer cancel()
	if s.budget.pages.Acquire(waitCtx, size) != nil {
		return tooManyResponses()
	}
	s.from, s.bytes = s.budget.pages, size
	return nil
}

// reserve is ReservePage for a response of size bytes that is not a page. It does not wait: the response is in memory
// already.
func reserve(ctx context.Context, size int64) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok || s.from != nil {
		return nil
	}
	if !s.budget.records.TryAcquire(size) {
		return tooManyResponses()
	}
	s.from, s.bytes = s.budget.records, size
	return nil
}
