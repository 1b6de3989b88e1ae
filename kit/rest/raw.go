package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
)

// rawBody is the body of a request to a route with route.Raw.
type rawBody struct {
	io.ReadCloser
	buffer func() // see SetRaw; can be nil
	begun  bool   // Read was called
	done   bool   // RawBody was called, with this result:
	data   []byte
	err    error
}

// Read returns the errors of Body, so that a handler can return an error of Read.
func (b *rawBody) Read(p []byte) (int, error) {
	if b.done {
		return 0, errConsumed
	}
	b.begun = true
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyError(err)
	}
	return n, err
}

const maxRawBody = 2 << 20 // maximum size of a body in RawBody, in bytes

// errConsumed is a mistake of the programmer. Without it, the second of two reads of a body would be empty.
var errConsumed = errors.New("rest: the body has already been read: add route.Raw to the route, and read the body with rest.RawBody")

// consumed is a body that was read.
type consumed struct{}

func (consumed) Read([]byte) (int, error) { return 0, errConsumed }
func (consumed) Close() error             { return nil }

// SetRaw lets RawBody read the body of the request. Body then fails without reading it. buffer is called before RawBody reads the
// body into memory; it can be nil. The middleware of a route with route.Raw calls SetRaw.
func SetRaw(g *gin.Context, buffer func()) {
	raw := &rawBody{ReadCloser: g.Request.Body, buffer: buffer}
	if raw.ReadCloser == nil {
		raw.ReadCloser = http.NoBody
	}
	requestOf(g).raw, g.Request.Body = raw, raw
}

// DropBody frees the body and the parameters of a request that was handled. Otherwise, they would stay in memory until Gin uses the
// context for another request.
func DropBody(g *gin.Context) {
	r := requestOf(g)
	r.params, r.raw, r.parts, g.Request.Body = Params{}, nil, nil, http.NoBody
}

// RawBody returns the whole body of a request to a route with route.Raw, exactly as the client sent it, for example to verify a
// signature with package signature. Further calls return the same bytes, which must not be changed. To stream a body, read
// g.Request.Body instead: its Read returns the same errors. PayloadTooLarge: the body is larger than the limit of route.Raw, or than
// 2 MiB, because it is in memory as a whole. MalformedBody: the body is incomplete. RequestTimeout: the body arrived too slowly.
// Unavailable: other bodies are using the memory for large bodies. Any other error is a mistake of the programmer, with status 500:
// the route does not have route.Raw, or a handler has already read g.Request.Body.
func RawBody(g *gin.Context) ([]byte, error) {
	raw := requestOf(g).raw
	switch {
	case raw == nil:
		return nil, fmt.Errorf("rest: RawBody: the route %s %s does not keep its body: add route.Raw", g.Request.Method, g.FullPath())
	case raw.done:
		return raw.data, raw.err
	case raw.begun:
		return nil, errors.New("rest: RawBody: a handler has already read g.Request.Body")
	}
	if raw.buffer != nil {
		raw.buffer()
	}
	raw.data, raw.err = readAll(http.MaxBytesReader(nil, g.Request.Body, maxRawBody), g.Request.ContentLength)
	raw.done = true
	return raw.data, raw.err
}
