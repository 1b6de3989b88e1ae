package rest

import (
	"context"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/slot"
)

// LargeResponse is the size in bytes above which a response needs a share of the Budget. A smaller response fits into the send
// buffer of the operating system, so it leaves the memory of the process even if the client reads slowly.
const LargeResponse = 128 << 10

// Budget limits the memory for large responses, which stay in memory while their clients read slowly. Pages of lists and single
// records have separate limits, so that clients that read their pages slowly cannot block clients that read records. A caller has
// at most a quarter of each. A record that is larger than this quarter, but not than the whole limit, counts as the quarter.
//
// Only ReservePage waits, and only for the first share of a response: two responses that have shares and wait for more could
// block each other.
type Budget struct {
	pages, records *slot.Shares
	largest        int64 // bytes of the largest record that can be sent
	wait           time.Duration
}

// NewBudget returns a Budget with separate limits in bytes: pages for pages of lists, records for single records. ReservePage
// waits for a share for at most the duration wait.
func NewBudget(pages, records int64, wait time.Duration) *Budget {
	return &Budget{pages: slot.NewShares(pages), records: slot.NewShares(records), largest: records, wait: wait}
}

// share is the part of a Budget that the response to one request has reserved.
type share struct {
	budget   *Budget
	caller   func() string
	from     *slot.Shares // the limit from which the bytes were reserved; nil if nothing is reserved
	bytes    int64        // size that the response may have; more than is reserved if a record counts as the quarter
	releases []func()
}

type shareKey struct{}

// Context returns a context for a request whose response uses the budget. caller is called when the response reserves memory, and
// identifies the caller, as Sharer does. Call release after the response.
func (b *Budget) Context(ctx context.Context, caller func() string) (_ context.Context, release func()) {
	s := &share{budget: b, caller: caller}
	return context.WithValue(ctx, shareKey{}, s), s.release
}

// grow reserves bytes until the share has size bytes. For wait, see slot.Acquire.
func (s *share) grow(ctx context.Context, from *slot.Shares, size int64, wait time.Duration) error {
	n, quarter := size-s.bytes, from.Quarter()
	switch {
	case size > s.maxBytes(from):
		return apperr.New(apperr.Unavailable, "The response would be larger than %d bytes, which is the limit. Request less data with the limit or fields parameter.", s.maxBytes(from)).AsOverload()
	case size > quarter: // a larger record counts as the quarter, so that it can be read
		n = max(quarter-s.bytes, 0)
	}
	release, err := from.Acquire(ctx, s.caller(), n, wait)
	if err != nil {
		return apperr.New(apperr.Unavailable, "Too many large responses are being sent. Try again in a few seconds, or request less data with the limit or fields parameter.").AsOverload()
	}
	s.from, s.bytes, s.releases = from, size, append(s.releases, release)
	return nil
}

// maxBytes returns the maximum size in bytes of a response that uses the limit from.
func (s *share) maxBytes(from *slot.Shares) int64 {
	if from == s.budget.records {
		return s.budget.largest
	}
	return from.Quarter()
}

func (s *share) release() {
	for _, release := range s.releases {
		release()
	}
}

// ReservePage waits for a share of the Budget of the context, for a page of at most size bytes. Call ReservePage before reading
// the page. It does nothing if the context has no Budget, or if the response already has a share. Unavailable: the budget, or the
// caller's quarter of it, has no room, or the context has ended.
func ReservePage(ctx context.Context, size int64) error {
	s := shareOf(ctx)
	if s == nil || s.from != nil {
		return nil
	}
	return s.grow(ctx, s.budget.pages, size, s.budget.wait)
}

// Reserved reports whether the response of the context has a share of the Budget, or needs no share because there is no Budget.
func Reserved(ctx context.Context) bool {
	s := shareOf(ctx)
	return s == nil || s.from != nil
}

// Reserve increases the share of the response of ctx to at least size bytes. It does not wait. A response without a share gets
// a share from the limit for records. Unavailable: the budget, or the caller's quarter of it, has no room.
func Reserve(ctx context.Context, size int64) error {
	_, err := reserve(ctx, size, 0)
	return err
}

// reserve is like Reserve, but reserves up to extra bytes more, and also returns the size of the share, or size+extra if the context
// has no Budget.
func reserve(ctx context.Context, size, extra int64) (int64, error) {
	s := shareOf(ctx)
	if s == nil {
		return size + extra, nil
	}
	if size <= s.bytes {
		return s.bytes, nil
	}
	from := s.from
	if from == nil {
		from = s.budget.records
	}
	size = max(size, min(size+extra, s.maxBytes(from)))
	return size, s.grow(ctx, from, size, -1)
}

// shareOf returns the share that Budget.Context stored in ctx, or nil.
func shareOf(ctx context.Context) *share {
	s, _ := ctx.Value(shareKey{}).(*share)
	return s
}

// buffer collects the body of a response.
type buffer struct {
	data []byte
	// ctx is the context of the request. When the buffer grows beyond LargeResponse bytes, it reserves memory from the Budget
	// of ctx. If ctx is nil, it reserves no memory.
	ctx      context.Context
	reserved int64
}

// Write implements io.Writer. Unavailable: other responses are using the budget.
func (b *buffer) Write(p []byte) (int, error) {
	size := int64(len(b.data) + len(p))
	if b.ctx != nil && size > max(LargeResponse, b.reserved) {
		var extra int64
		if b.reserved > 0 { // the response is written in parts
			extra = size / 4 // a buffer that grows by more than it needs is copied less often
		}
		reserved, err := reserve(b.ctx, size, extra)
		if err != nil {
			return 0, err
		}
		b.reserved = reserved
		b.data = append(make([]byte, 0, reserved+1), b.data...) // +1 for a line break
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
