package middleware

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/slot"
)

const maxExports = 4

// Exports limits the exports of lists to 4 at a time, of which a caller can have one. An export ends when the server stops, or when
// the access of its caller changes. An export has no time limit. The middleware runs for all routes, before authentication.
func (s *Streams) Exports() gin.HandlerFunc {
	return func(g *gin.Context) {
		if g.Request.Method != http.MethodGet || !rest.Query(g).Has("format") {
			return
		}
		ctx, cancel := context.WithCancel(withoutTimeout(g))
		defer cancel()
		defer context.AfterFunc(s.closing, cancel)()
		rest.SetExports(g, &rest.Exports{
			Context: ctx, VerifyInterval: s.VerifyInterval, Head: originalMethod(g.Request) == http.MethodHead,
			Begin: func() (func(), error) {
				// The read deadline of the request would end the context. The call fails only without a connection.
				_ = http.NewResponseController(g.Writer).SetReadDeadline(time.Time{})
				return s.beginExport(g)
			},
			Verify: func(ctx context.Context) error { return s.same(ctx, g) },
			Pace:   s.pace,
		})
		g.Next() // the deferred calls must run after the handlers
	}
}

// beginExport counts an export. The caller must call end after the export. Unavailable: too many exports are in progress, or the
// server is stopping.
func (s *Streams) beginExport(g *gin.Context) (end func(), err error) {
	if s.closing.Err() != nil {
		return nil, errClosing()
	}
	end, err = s.exports.Acquire(g.Request.Context(), rest.Sharer(g), 1, -1)
	switch {
	case errors.Is(err, slot.ErrShare):
		return nil, apperr.New(apperr.Unavailable, "You have an export in progress, which is the limit. Try again when the export has ended, or read pages.").AsOverload()
	case err != nil:
		return nil, apperr.New(apperr.Unavailable, "%d exports are in progress, which is the limit. Try again when an export has ended, or read pages.", maxExports).AsOverload()
	}
	return end, nil
}

// pace lets one export, or one stream that catches up, read at a time. After a read, it pauses for as long as the read took. All
// of them together thus use at most half a processor, so that other requests stay fast.
func (s *Streams) pace(ctx context.Context, read func() error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	start := time.Now()
	if err := read(); err != nil {
		return err
	}
	pause := time.NewTimer(time.Since(start))
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// same verifies the credential of a request again, and fails if the role or the restriction of the caller has changed since the
// export or the stream began.
func (s *Streams) same(ctx context.Context, g *gin.Context) error {
	caller := rest.Caller(g)
	if !caller.IsUser() {
		return nil // the access of the master key and of anonymous callers does not change
	}
	now, err := s.authenticator.Verify(ctx, g)
	if err == nil && (now.Role != caller.Role || (now.Restriction == nil) != (caller.Restriction == nil)) {
		err = apperr.New(apperr.Forbidden, "The access of the caller has changed.")
	}
	return err
}
