package rest

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/apperr"
)

// LargeResponse is the size in bytes above which a response needs a share of the Budget. What is smaller fits into the
// buffers of the system, so that a client that does not read keeps nothing in memory.
const LargeResponse = 128 << 10

// Budget bounds the bytes of large responses that are in memory at the same time, because their clients read slowly. Pages
// of lists and single records have separate shares, so that clients that do not read pages cannot keep others from
// reading records.
type Budget struct {
	pages, records *semaphore.Weighted
	wait           time.Duration
}

// NewBudget returns a Budget with the given bytes for pages and for records. A page waits for its share for the given
// time.
func NewBudget(pages, records int64, wait time.Duration) *Budget {
	return &Budget{pages: semaphore.NewWeighted(pages), records: semaphore.NewWeighted(records), wait: wait}
}

// share is what the response to one request has of a Budget.
type share struct {
	budget         *Budget
	pages, records int64
}

type shareKey struct{}

// Context returns a context for a request whose response uses the budget. Call release after the response.
func (b *Budget) Context(ctx context.Context) (_ context.Context, release func()) {
	s := &share{budget: b}
	return context.WithValue(ctx, shareKey{}, s), s.release
}

func (s *share) release() {
	if s.pages > 0 {
		s.budget.pages.Release(s.pages)
	}
	if s.records > 0 {
		s.budget.records.Release(s.records)
	}
}

func tooManyResponses() error {
	return apperr.New(apperr.Unavailable, "Too many large responses are being sent. Try again in a few seconds, or request less with limit or fields.").AsOverload()
}

// ReservePage waits for a share of the Budget of the context, for a page of the given bytes. Call it before the page is
// read. Unavailable: other responses use the budget.
func ReservePage(ctx context.Context, bytes int64) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok || s.pages > 0 {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, s.budget.wait)
	defer cancel()
	if s.budget.pages.Acquire(waiting, bytes) != nil {
		return tooManyResponses()
	}
	s.pages = bytes
	return nil
}

// reserve takes a share for the response, if it is large. It does not wait, because the response is in memory already.
func reserve(ctx context.Context, bytes int64) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok || s.pages+s.records > 0 {
		return nil
	}
	if !s.budget.records.TryAcquire(bytes) {
		return tooManyResponses()
	}
	s.records = bytes
	return nil
}
