package middleware

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/apperr"
)

// SmallBody is the size in bytes of the bodies that every route accepts.
const SmallBody = 16 << 10

// The bytes of large bodies that are in memory at the same time, or a multiple of the largest body if that is more. What
// anonymous callers send has a separate share, so that they cannot prevent users from sending.
const (
	anonymousBodies = 8 << 20
	userBodies      = 24 << 20
)

// BodyLimit limits the size of request bodies to SmallBody, the memory that large ones use together, and the time from the
// header to the end of the body, of which a third is for waiting for memory. LargeBody raises the size for a route. A read
// beyond the size fails with *http.MaxBytesError, a read after the time with os.ErrDeadlineExceeded, and one without a
// share of the memory with Unavailable.
func BodyLimit(largest int64, timeout time.Duration) gin.HandlerFunc {
	anonymous := semaphore.NewWeighted(max(anonymousBodies, 2*largest))
	users := semaphore.NewWeighted(max(userBodies, 4*largest))
	return func(c *gin.Context) {
		r := c.Request
		if r.ContentLength == 0 || r.Body == nil {
			return
		}
		connection := http.NewResponseController(c.Writer)
		if err := connection.SetReadDeadline(time.Now().Add(timeout)); err != nil { // httptest.ResponseRecorder has none
			connection = nil
		}
		body := &limitedBody{
			ReadCloser: r.Body, announced: r.ContentLength, size: min(SmallBody, largest), largest: largest,
			shares: anonymous, users: users, ctx: r.Context(), wait: timeout / 3, header: c.Writer.Header(), connection: connection,
		}
		defer body.release()
		r.Body = body
		c.Next()
	}
}

// LargeBody makes a route accept bodies of the largest size of BodyLimit.
func LargeBody() gin.HandlerFunc {
	return func(c *gin.Context) {
		if body, ok := c.Request.Body.(*limitedBody); ok {
			body.size = body.largest
		}
	}
}

// limitedBody removes the read deadline at the end of the body. If a handler does not read that far, the deadline stays:
// net/http reads the rest, and must not wait forever.
type limitedBody struct {
	io.ReadCloser
	announced     int64 // -1 if it is unknown
	size, largest int64
	read, share   int64
	shares, users *semaphore.Weighted
	ctx           context.Context
	wait          time.Duration // for a share
	header        http.Header
	connection    *http.ResponseController
}

// isLarge reports whether the body needs a share of the memory.
func (b *limitedBody) isLarge() bool {
	return b.size > SmallBody && (b.announced < 0 || b.announced > SmallBody)
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.announced > b.size || b.read > b.size {
		return 0, &http.MaxBytesError{Limit: b.size}
	}
	if b.share == 0 && b.isLarge() {
		if b.read >= SmallBody || b.announced > SmallBody {
			if err := b.acquire(); err != nil {
				return 0, err
			}
		} else {
			p = p[:min(int64(len(p)), SmallBody-b.read)]
		}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.size+1-b.read)]) // one more byte shows that the body is too large
	if b.read += int64(n); b.read > b.size {
		return 0, &http.MaxBytesError{Limit: b.size}
	}
	if errors.Is(err, io.EOF) && b.connection != nil {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// acquire waits for a share.
func (b *limitedBody) acquire() error {
	share := b.announced
	if share < 0 {
		share = b.size
	}
	ctx, cancel := context.WithTimeout(b.ctx, b.wait)
	defer cancel()
	if b.shares.Acquire(ctx, share) != nil {
		b.header.Set("Connection", "close") // the rest of the body is not read
		return apperr.New(apperr.Unavailable, "Too many large bodies are being received. Try again in a few seconds.").AsOverload()
	}
	b.share = share
	return nil
}

func (b *limitedBody) release() {
	if b.share > 0 {
		b.shares.Release(b.share)
	}
}
