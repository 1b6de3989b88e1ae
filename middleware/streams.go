package middleware

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// Streams limits the number of open streams of changes and of exports, and ends them when the server stops.
type Streams struct {
	Heartbeat      time.Duration // 15 s by default
	VerifyInterval time.Duration // interval at which the caller is verified again; 10 s by default

	// Delay, if not nil, is called for each event of a change that was made after the stream was opened. The argument is the
	// time since the change.
	Delay func(time.Duration)

	max, perCaller int
	authenticator  Authenticator
	closing        context.Context
	close          context.CancelFunc

	mu     sync.Mutex
	open   int
	caller map[string]int // number of open streams by user ID or, without a user, by IP address
}

// Defaults of Streams.
const (
	streamHeartbeat = 15 * time.Second
	streamCheck     = 10 * time.Second
)

// NewStreams returns Streams that allow max open streams in total, and perCaller for each user or, without a user, for each IP
// address.
func NewStreams(authenticator Authenticator, max, perCaller int) *Streams {
	s := &Streams{
		Heartbeat: streamHeartbeat, VerifyInterval: streamCheck, max: max, perCaller: perCaller, authenticator: authenticator, caller: make(map[string]int),
	}
	s.closing, s.close = context.WithCancel(context.Background())
	return s
}

// Close ends all streams and exports. New streams and exports then fail with Unavailable.
func (s *Streams) Close() { s.close() }

// Open returns the number of open streams.
func (s *Streams) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Middleware makes rest.ServeFeed respond with a stream, if the request accepts a stream. It runs after authentication. A stream
// has no time limit. TooManyRequests: the caller has too many open streams. Unavailable: too many streams are open in total, or
// the server is stopping.
func (s *Streams) Middleware() gin.HandlerFunc {
	return func(g *gin.Context) {
		if !rest.AcceptsStream(g) || originalMethod(g.Request) == http.MethodHead {
			return
		}
		caller := rest.Caller(g)
		key := g.ClientIP()
		if caller.IsUser() {
			key = caller.UserID.Hex()
		}
		if err := s.begin(key); err != nil {
			rest.Fail(g, err)
			return
		}
		defer s.end(key)
		ctx, cancel := context.WithCancel(withoutTimeout(g.Request.Context()))
		defer cancel()
		defer context.AfterFunc(s.closing, cancel)()
		// The read deadline of the request would end the context. The call fails only without a connection.
		_ = http.NewResponseController(g.Writer).SetReadDeadline(time.Time{})
		rest.SetStream(g, &rest.Stream{
			Context: ctx, Heartbeat: s.Heartbeat, VerifyInterval: s.VerifyInterval,
			Verify: func(ctx context.Context) (access.Principal, error) {
				if !caller.IsUser() {
					return caller, nil // the access of the master key and of anonymous callers does not change
				}
				return s.authenticator.Verify(ctx, g)
			},
			Written: s.observe(),
		})
		g.Next() // the deferred calls must run after the handlers
	}
}

// observe returns a function that reports the delay of each change that was made after the call of observe.
func (s *Streams) observe() func(rest.FeedEvent) {
	begun := time.Now().Truncate(time.Millisecond) // the times in the log of changes are in milliseconds
	return func(e rest.FeedEvent) {
		if s.Delay != nil && !e.At.Before(begun) {
			s.Delay(time.Since(e.At))
		}
	}
}

func (s *Streams) begin(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing.Err() != nil:
		return errClosing()
	case s.caller[key] >= s.perCaller:
		return apperr.New(apperr.TooManyRequests, "You have %d open streams of changes, which is the limit. Close a stream first.", s.perCaller)
	case s.open >= s.max:
		return apperr.New(apperr.Unavailable, "Too many streams of changes are open. Try again later, or read pages.").AsOverload()
	}
	s.open++
	s.caller[key]++
	return nil
}

func errClosing() error { return apperr.New(apperr.Unavailable, "The service is shutting down.") }

func (s *Streams) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.caller[key]--; s.caller[key] == 0 {
		delete(s.caller, key)
	}
}

// untimedKey is the context key of the context that a request had before Timeout.
type untimedKey struct{}

// withoutTimeout returns a context that ends when the client disconnects, but not after the duration of Timeout.
func withoutTimeout(ctx context.Context) context.Context {
	if untimed, ok := ctx.Value(untimedKey{}).(context.Context); ok {
		return untimed
	}
	return ctx
}
