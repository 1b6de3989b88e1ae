package middleware

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// BodyLimit limits the size of request bodies, and the time from the header to the end of the body. A read beyond the size
// fails with *http.MaxBytesError, a read after the time with os.ErrDeadlineExceeded.
func BodyLimit(size int64, timeout time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := c.Request
		if r.ContentLength == 0 || r.Body == nil {
			return
		}
		connection := http.NewResponseController(c.Writer)
		if err := connection.SetReadDeadline(time.Now().Add(timeout)); err != nil { // httptest.ResponseRecorder has none
			connection = nil
		}
		body := &limitedBody{ReadCloser: http.MaxBytesReader(nil, r.Body, size), connection: connection}
		if r.ContentLength > size {
			body.err = &http.MaxBytesError{Limit: size}
		}
		r.Body = body
	}
}

// limitedBody removes the read deadline at the end of the body. If a handler does not read that far, the deadline stays:
// net/http reads the rest, and must not wait forever.
type limitedBody struct {
	io.ReadCloser
	err        error // returned instead of reading
	connection *http.ResponseController
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && b.connection != nil {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}
