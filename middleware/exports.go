package middleware

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/slot"
)

const maxExports = 4

// Exports limits the exports of lists to 4 at a time, of which a caller can have one.
type Exports struct {
	long       *LongResponses
	inProgress *slot.Shares
}

// NewExports returns Exports that use long to end exports, to verify their callers and to pace their reads.
func NewExports(long *LongResponses) *Exports {
	return &Exports{long, slot.NewShares(maxExports)}
}

// Middleware handles GET requests that have the query parameter format: if the handler responds with an export, the export has no time
// limit. Middleware runs for all routes, before authentication.
func (e *Exports) Middleware() gin.HandlerFunc {
	return func(g *gin.Context) {
		if g.Request.Method != http.MethodGet || !rest.Query(g).Has("format") {
			return
		}
		ctx, end := e.long.begin(g)
		defer end()
		rest.SetExports(g, &rest.Exports{
			Context: ctx, VerifyInterval: e.long.VerifyInterval, Head: originalMethod(g.Request) == http.MethodHead,
			Begin: func() (func(), error) {
				if err := keepReading(g); err != nil {
					return nil, err
				}
				return e.begin(g)
			},
			Verify: func(ctx context.Context) error { return e.long.same(ctx, g) },
			Pace:   e.long.pace,
		})
		g.Next() // the deferred calls must run after the handlers
	}
}

// begin counts an export. The caller must call end after the export. Unavailable: too many exports are in progress, or the
// server is stopping.
func (e *Exports) begin(g *gin.Context) (end func(), err error) {
	if e.long.closing.Err() != nil {
		return nil, errClosing()
	}
	end, err = e.inProgress.Acquire(g.Request.Context(), rest.Sharer(g), 1, -1)
	switch {
	case errors.Is(err, slot.ErrShare):
		return nil, apperr.New(apperr.Unavailable, "You have an export in progress, which is the limit. Try again when the export has ended, or read pages.").AsOverload()
	case err != nil:
		return nil, apperr.New(apperr.Unavailable, "%d exports are in progress, which is the limit. Try again when an export has ended, or read pages.", maxExports).AsOverload()
	}
	return end, nil
}
