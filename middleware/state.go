package middleware

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
)

// state is what a handler of this package stores for handlers that run later in the same request.
type state struct {
	untimed context.Context // set by Timeout: the context without the time limit; nil: the request has no time limit
	timeout time.Duration   // set by Timeout
	body    *limitedBody    // set by BodyLimits; nil: the request has no body, or a body without limits
	keep    keepResponse    // set by Idempotency; nil: the request has no Idempotency-Key
}

const stateKey = "ginseng.middleware"

func stateOf(g *gin.Context) *state {
	if v, ok := g.Get(stateKey); ok {
		return v.(*state)
	}
	s := &state{}
	g.Set(stateKey, s)
	return s
}

// withoutTimeout returns a context that ends when the client disconnects, but not after the duration of Timeout.
func withoutTimeout(g *gin.Context) context.Context {
	if untimed := stateOf(g).untimed; untimed != nil {
		return untimed
	}
	return g.Request.Context()
}
