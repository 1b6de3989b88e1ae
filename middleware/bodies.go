package middleware

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/slot"
)

// SmallBody is the maximum size in bytes of a body on routes without route.LargeBody. A smaller limit that is passed to
// NewBodyLimits takes precedence.
const SmallBody = 16 << 10

// Limits of the memory for large bodies that are being received, in bytes. Anonymous callers have a separate limit, so that their
// bodies cannot use the memory for users. If necessary, NewBodyLimits raises both limits to 4*largest, because a caller has at most
// a quarter.
const (
	anonymousBodies = 8 << 20
	userBodies      = 24 << 20
)

// BodyLimits limits the size and the time of request bodies, and the total memory of bodies larger than SmallBody.
type BodyLimits struct {
	largest          int64
	timeout          time.Duration
	anonymous, users *slot.Shares // the memory for large bodies
	forms            *slot.Shares // the memory for the parameters of forms with files, which can be received for a long time
}

// NewBodyLimits returns BodyLimits that limit bodies to SmallBody bytes, to largest on routes with route.LargeBody, or to the limit
// of route.Raw. A multipart body on a route with route.Files has largest for its parameters, and the limits of its files besides. If
// largest is smaller than SmallBody, largest is the limit of every route without route.Raw. timeout is the time from the header to the
// end of the body. A body waits for memory for at most a third of the timeout.
func NewBodyLimits(largest int64, timeout time.Duration) *BodyLimits {
	return &BodyLimits{
		largest: largest, timeout: timeout, anonymous: slot.NewShares(max(anonymousBodies, 4*largest)), users: slot.NewShares(max(userBodies, 4*largest)),
		forms: slot.NewShares(max(anonymousBodies, 4*largest)),
	}
}

// Handler returns the middleware that limits the bodies of a route. It runs before all handlers that read the body. The body's
// Read returns *http.MaxBytesError if the body is too large, os.ErrDeadlineExceeded after the timeout, and Unavailable if no memory
// becomes available. With route.Raw, Read returns the errors of rest.RawBody instead.
func (l *BodyLimits) Handler(row *route.Route) gin.HandlerFunc {
	size := min(SmallBody, l.largest)
	switch {
	case row.LargeBody:
		size = l.largest
	case row.Raw > 0:
		size = row.Raw
	}
	return func(g *gin.Context) {
		r := g.Request
		if r.ContentLength == 0 || r.Body == nil {
			if row.Raw > 0 {
				rest.SetRaw(g, nil)
			}
			return
		}
		connection := http.NewResponseController(g.Writer)
		if err := connection.SetReadDeadline(time.Now().Add(l.timeout)); err != nil { // an httptest.ResponseRecorder has no connection
			connection = nil
		}
		body := &limitedBody{
			ReadCloser: r.Body, announced: r.ContentLength, size: size, limits: l, shares: l.anonymous, g: g, ctx: r.Context(), connection: connection,
		}
		defer func() {
			rest.DropBody(g)
			body.release()
		}()
		r.Body = body
		g.Set(bodyKey, body)
		switch {
		case row.Upload != nil: // the handler rejects a body that is too large, if the caller may change the record
			body.streamed, body.closes = true, true
			g.Header("Connection", "close")
			rest.SetRaw(g, nil)
		case row.Files && strings.EqualFold(g.ContentType(), "multipart/form-data"):
			body.streamed, body.closes, body.size = true, true, row.MaxForm(l.largest)
			g.Header("Connection", "close")
			rest.SetParts(g, row.List.Files, l.largest, func() error { return body.acquire(l.forms, l.largest) })
		case row.Raw > 0:
			body.streamed = true
			rest.SetRaw(g, func() { body.streamed = false })
			if body.announced > size {
				rest.Fail(g, apperr.New(apperr.PayloadTooLarge, "The body is larger than %d bytes.", size))
				return
			}
		}
		g.Next()
	}
}

// limitedBody is a request body with the limits of BodyLimits. Sizes are in bytes. limitedBody removes the read deadline at the
// end of the body. If a handler does not read the whole body, the deadline stays, because net/http reads the rest and must not
// wait forever.
type limitedBody struct {
	io.ReadCloser
	announced    int64  // Content-Length; -1 if it is unknown
	size         int64  // limit of the body
	read         int64  // number of bytes read so far
	streamed     bool   // the body is not kept in memory
	releaseShare func() // releases the memory that the body has acquired from shares; nil if there is none
	limits       *BodyLimits
	shares       *slot.Shares // the memory for this body
	user         string       // ID of the user who sends the body; "": unknown
	g            *gin.Context
	ctx          context.Context
	connection   *http.ResponseController // nil: reads have no deadline
	closes       bool                     // the response has Connection: close until the whole body is read
	pace         *pace                    // of a transfer, set by Transfers; replaces the timeout
	limit        *transferTime            // of a transfer
}

// bodyKey is the key of gin.Context for the *limitedBody of a request.
const bodyKey = "ginseng.body"

// bodyOf returns the body of a request; nil if the request has no body, or a body without limits.
func bodyOf(g *gin.Context) *limitedBody {
	body, _ := g.Get(bodyKey)
	limited, _ := body.(*limitedBody)
	return limited
}

// isLarge reports whether the body needs a share of the memory.
func (b *limitedBody) isLarge() bool {
	return !b.streamed && b.size > SmallBody && (b.announced < 0 || b.announced > SmallBody)
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.announced > b.size || b.read > b.size {
		return 0, &http.MaxBytesError{Limit: b.size}
	}
	if b.releaseShare == nil && b.isLarge() {
		if b.read >= SmallBody || b.announced > SmallBody {
			share := b.announced
			if share < 0 {
				share = b.size
			}
			if err := b.acquire(b.shares, share); err != nil {
				return 0, err
			}
		} else {
			p = p[:min(int64(len(p)), SmallBody-b.read)]
		}
	}
	if b.pace != nil {
		b.limit.pause()
		if b.connection != nil {
			_ = b.connection.SetReadDeadline(b.pace.deadline())
		}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.size+1-b.read)]) // one more byte shows that the body is too large
	b.read += int64(n)
	if b.pace != nil {
		b.pace.add(int64(n))
		if err != nil {
			b.limit.resume(storeTime(b.g))
		}
	}
	if b.read > b.size {
		return 0, &http.MaxBytesError{Limit: b.size}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		keepConnection(b.g.Writer)
	}
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if b.connection != nil {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	if b.closes {
		b.g.Writer.Header().Del("Connection")
	}
	return n, err
}

// keepConnection makes net/http close the connection 500 ms after the response, as it does after a body that is too large. Otherwise,
// it closes the connection immediately if a read has failed, and a client that is sending fails before it reads the response.
func keepConnection(w http.ResponseWriter) {
	for {
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = inner.Unwrap()
	}
	tooLarge := http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0)
	_, _ = tooLarge.Read(make([]byte, 1)) // an *http.MaxBytesError
}

// acquire waits for size bytes of memory, or for the caller's quarter if size is larger. Unavailable: other bodies are using the
// memory.
func (b *limitedBody) acquire(shares *slot.Shares, size int64) error {
	release, err := shares.Acquire(b.ctx, cmp.Or(b.user, rest.Sharer(b.g)), min(size, shares.Quarter()), b.limits.timeout/3)
	if err != nil {
		b.g.Header("Connection", "close") // the rest of the body is not read
		return apperr.New(apperr.Unavailable, "Too many large bodies are being received. Try again in a few seconds.").AsOverload()
	}
	b.releaseShare = release
	return nil
}

func (b *limitedBody) release() {
	if b.releaseShare != nil {
		b.releaseShare()
	}
}
