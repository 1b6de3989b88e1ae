package middleware

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/slot"
)

// Streams limits the number of open streams of changes.
type Streams struct {
	Heartbeat time.Duration // 15 s by default

	// Delay, if not nil, is called for each event of a change that was made after the stream was opened. The argument is the
	// time since the change.
	Delay func(time.Duration)

	long      *LongResponses
	perCaller int
	open      *slot.Shares        // open streams
	anonymous *semaphore.Weighted // open streams without a user; the others are kept for users
	callers   *slot.Keyed[string] // open streams of each user or, without a user, of each network
	behind    *slot.Shares        // pages that are read and written by streams that catch up
	opened    atomic.Int64
}

// maxBehind is the maximum number of pages in memory that streams that catch up have read. A page with its records has about
// 400 KiB.
const maxBehind = 16

// NewStreams returns Streams that allow max open streams in total, and perCaller for each user or, without a user, for each
// network. A caller has at most a quarter of the total, where IPv6 networks count by site (ratelimit.Site). A quarter is kept for
// users. The Streams use long to end streams, to verify their callers and to pace their reads.
func NewStreams(long *LongResponses, max, perCaller int) *Streams {
	return &Streams{
		Heartbeat: 15 * time.Second, long: long, perCaller: perCaller,
		open: slot.NewShares(int64(max)), anonymous: semaphore.NewWeighted(int64(max - max/4)), callers: slot.NewKeyed[string](int64(perCaller), 0),
		behind: slot.NewShares(maxBehind),
	}
}

// Open returns the number of open streams.
func (s *Streams) Open() int { return int(s.opened.Load()) }

// Middleware makes rest.ServeFeed respond with a stream, if the request accepts a stream. It runs after authentication. A stream
// has no time limit. It fails with the errors of rest.SkipBody. TooManyRequests: the caller has too many open streams.
// Unavailable: too many streams are open in total, or the server is stopping.
func (s *Streams) Middleware() gin.HandlerFunc {
	return func(g *gin.Context) {
		g.Writer.Header().Add("Vary", "Accept")
		if !rest.AcceptsStream(g) || originalMethod(g.Request) == http.MethodHead {
			return
		}
		if err := keepReading(g); err != nil {
			rest.Fail(g, err)
			return
		}
		end, err := s.begin(g)
		if err != nil {
			rest.Fail(g, err)
			return
		}
		defer end()
		ctx, cancel := s.long.begin(g)
		defer cancel()
		rest.SetStream(g, &rest.Stream{
			Context: ctx, Heartbeat: s.Heartbeat, VerifyInterval: s.long.VerifyInterval,
			Verify:  func(ctx context.Context) error { return s.long.same(ctx, g) },
			Begin:   func(ctx context.Context) (func(), error) { return s.behind.Acquire(ctx, rest.Sharer(g), 1, 0) },
			Pace:    s.long.pace,
			Written: s.observe(),
		})
		g.Next() // the deferred calls must run after the handlers
	}
}

// observe returns a function that reports the delay of each change that was made after the call of observe.
func (s *Streams) observe() func(time.Time) {
	begun := time.Now().Truncate(time.Millisecond) // the times in the log of changes are in milliseconds
	return func(at time.Time) {
		if s.Delay != nil && !at.Before(begun) {
			s.Delay(time.Since(at))
		}
	}
}

// begin counts a stream. The caller must call end after the stream. For the errors, see Middleware.
func (s *Streams) begin(g *gin.Context) (end func(), err error) {
	if s.long.closing.Err() != nil {
		return nil, errClosing()
	}
	ctx, key, isUser := g.Request.Context(), rest.Sharer(g), rest.Caller(g).IsUser()
	own := key
	if !isUser {
		own = ratelimit.Network(g.ClientIP())
	}
	leave, err := s.callers.Acquire(ctx, own, 1, -1)
	if err != nil {
		return nil, apperr.New(apperr.TooManyRequests, "You have %d open streams of changes, which is the limit. Close a stream first.", s.perCaller)
	}
	release, err := s.open.Acquire(ctx, key, 1, -1)
	if err == nil && !isUser && !s.anonymous.TryAcquire(1) {
		release()
		err = slot.ErrFull
	}
	if err != nil {
		leave()
		if errors.Is(err, slot.ErrShare) {
			return nil, apperr.New(apperr.TooManyRequests, "You have %d open streams of changes, which is a quarter of all and the limit. Close a stream first.", s.open.Quarter())
		}
		return nil, apperr.New(apperr.Unavailable, "Too many streams of changes are open. Try again later, or read pages.").AsOverload()
	}
	s.opened.Add(1)
	return func() {
		s.opened.Add(-1)
		if !isUser {
			s.anonymous.Release(1)
		}
		release()
		leave()
	}, nil
}
