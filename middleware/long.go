package middleware

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// LongResponses are the responses without a time limit: streams of changes and exports. A long response ends when the server stops,
// or when the access of its caller changes.
type LongResponses struct {
	VerifyInterval time.Duration // interval at which the caller is verified again; 10 s by default

	authenticator Authenticator
	closing       context.Context
	close         context.CancelFunc
	turn          chan struct{} // see pace
}

// NewLongResponses returns LongResponses whose callers authenticator verifies.
func NewLongResponses(authenticator Authenticator) *LongResponses {
	l := &LongResponses{VerifyInterval: 10 * time.Second, authenticator: authenticator, turn: make(chan struct{}, 1)}
	l.closing, l.close = context.WithCancel(context.Background())
	return l
}

// Close ends all streams and exports. New streams and exports then fail with Unavailable.
func (l *LongResponses) Close() { l.close() }

func errClosing() error { return apperr.New(apperr.Unavailable, "The service is shutting down.") }

// begin returns the context of a long response, which ends when the client disconnects or the server stops. The caller must call
// end after the response.
func (l *LongResponses) begin(g *gin.Context) (ctx context.Context, end func()) {
	untimed, _ := rest.WithoutTimeLimit(g)
	ctx, cancel := context.WithCancel(untimed)
	stop := context.AfterFunc(l.closing, cancel)
	return ctx, func() { stop(); cancel() }
}

// keepReading reads the body of the request to its end, and then removes the read deadline, which would end the context of a long
// response. For the errors, see rest.SkipBody.
func keepReading(g *gin.Context) error {
	if err := rest.SkipBody(g); err != nil {
		return err
	}
	_ = http.NewResponseController(g.Writer).SetReadDeadline(time.Time{}) // fails only without a connection
	return nil
}

// pace lets one export, or one stream that catches up, read at a time. After a read, it pauses for as long as the read took. All
// of them together thus use at most half a processor, so that other requests stay fast.
func (l *LongResponses) pace(ctx context.Context, read func() error) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
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

// same verifies the credential of a request again; see Authenticator.same.
func (l *LongResponses) same(ctx context.Context, g *gin.Context) error {
	_, err := l.authenticator.same(ctx, g)
	return err
}

// same verifies the credential of a request that takes long again, and fails if the role or the restriction of the caller has changed
// since the request began.
func (a Authenticator) same(ctx context.Context, g *gin.Context) (access.Principal, error) {
	caller := rest.Caller(g)
	if !caller.IsUser() {
		return caller, nil // the access of the master key and of anonymous callers does not change
	}
	now, err := a.Verify(ctx, g)
	if err == nil && (now.Role != caller.Role || (now.Restriction == nil) != (caller.Restriction == nil)) {
		err = apperr.New(apperr.Forbidden, "The access of the caller has changed.")
	}
	return now, err
}
