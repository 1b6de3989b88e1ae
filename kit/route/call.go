package route

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// Request is a request of Table.Call.
type Request struct {
	Method         string
	Path           string // below the root of the API, with the values of path parameters
	Query          url.Values
	Body           []byte // a JSON object; empty: none
	IfMatch        string // the header If-Match; "": none
	IdempotencyKey string // the header Idempotency-Key; "": none
	ID             string // the request ID in problems
}

// Response is the response to a Request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Logged error // the error that the log of a request would show, also of a request that has succeeded; nil: none
}

// Call handles a request for a route of a resource in process, as the caller, on the engine of Serve. The route checks the caller's
// kind, API key and restriction. The request has no client (rest.Client), log line, metric, time limit, body limit or share of
// memory of its own: Call relies on those of the request that ctx belongs to. If the handler fails, err is its error, and the
// Response is the problem. If it panics after the beginning of its response, the Response has the status 500 and no body. NotFound:
// there is no route of a resource. NotSupported: the request would be an export, or the route has the option Raw, Upload or Download.
func (t *Table) Call(ctx context.Context, caller access.Principal, r Request) (Response, error) {
	target := url.URL{Path: t.root + r.Path, RawQuery: r.Query.Encode()}
	switch row := t.Match(r.Method, target.Path); {
	case row == nil || row.Resource == "":
		return Response{}, apperr.New(apperr.NotFound, "This path does not exist.")
	case row.Raw > 0 || row.Download:
		return Response{}, apperr.New(apperr.NotSupported, "The body of this operation or of its response is not JSON, so it can only be called on its own.")
	case r.Query.Has("format"):
		return Response{}, apperr.New(apperr.NotSupported, "A call in process cannot export a list.")
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return Response{}, err
	}
	c := &call{Reader: bytes.NewReader(r.Body), caller: caller, id: r.ID}
	request.Body = c
	header := map[string]string{"If-Match": r.IfMatch, "Idempotency-Key": r.IdempotencyKey}
	if len(r.Body) > 0 {
		header["Content-Type"] = "application/json"
	}
	for name, value := range header {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	var body bytes.Buffer
	w := &recorder{header: http.Header{}, status: http.StatusOK, body: &body}
	if err := t.serve(w, request, c); err != nil {
		return Response{Status: http.StatusInternalServerError, Header: http.Header{}, Logged: err}, err
	}
	return Response{Status: w.status, Header: w.header, Body: body.Bytes(), Logged: c.logged}, c.failure
}

// Export exports a list in process, as Call: the list at the path, with the query, which has the parameter format. It writes the rows
// to body as it reads them, and nothing if the route rejects the request. written, if it is not nil, is called after n rows are
// written. Export fails if body fails.
func (t *Table) Export(ctx context.Context, caller access.Principal, path string, query url.Values, body io.Writer, written func(n int)) error {
	target := url.URL{Path: t.root + path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	c := &call{Reader: bytes.NewReader(nil), caller: caller, exports: &rest.Exports{Context: ctx, Rows: written}}
	request.Body = c
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	w.body = writerFunc(func(p []byte) (int, error) {
		if w.status != http.StatusOK {
			return len(p), nil // a problem, which is also c.failure
		}
		return body.Write(p)
	})
	if err := t.serve(w, request, c); err != nil {
		return cmp.Or(w.err, err)
	}
	return c.failure
}

// serve handles a request of the call. It returns an error if the handler panics after the beginning of its response.
func (t *Table) serve(w *recorder, request *http.Request, c *call) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = cmp.Or(c.logged, fmt.Errorf("panic: %v", v)) // c.logged is what middleware.Recovery has recorded
		}
	}()
	t.engine.ServeHTTP(w, request)
	return nil
}

// call is the body of a request of Table.Call. It marks the request: a client cannot send such a body, and the handlers that
// follow cannot pass it on by a context.
type call struct {
	*bytes.Reader
	caller  access.Principal
	id      string
	exports *rest.Exports // see Export
	failure error         // the error of the response
	logged  error         // see Response
}

// Close implements io.Closer.
func (c *call) Close() error { return nil }

// callKey is the key of the call in a gin.Context.
const callKey = "ginseng.call"

// CalledBy returns the caller of a request of Table.Call. inProcess is false for other requests. The body of the request does not say
// so after rest.Body.
func CalledBy(g *gin.Context) (caller access.Principal, inProcess bool) {
	v, _ := g.Get(callKey)
	c, ok := v.(*call)
	if !ok {
		return access.Principal{}, false
	}
	return c.caller, true
}

// External returns middleware that runs the handler only for requests of clients, not for those of Table.Call. It must run before
// rest.Body.
func External(handler gin.HandlerFunc) gin.HandlerFunc {
	return func(g *gin.Context) {
		if _, inProcess := g.Request.Body.(*call); !inProcess {
			handler(g)
		}
	}
}

// returnFailure passes the errors of the response to Table.Call.
func returnFailure(g *gin.Context) {
	c, ok := g.Request.Body.(*call)
	if !ok {
		return
	}
	g.Set(callKey, c)
	rest.SetRequestID(g, c.id)
	if c.exports != nil {
		rest.SetExports(g, c.exports)
	}
	defer func() {
		c.failure = rest.Failure(g)
		if last := g.Errors.Last(); last != nil {
			c.logged = last.Err
		}
	}()
	g.Next()
}

// recorder records a response.
type recorder struct {
	header http.Header
	status int
	body   io.Writer
	err    error // of body
}

// writerFunc is a function that is an io.Writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }
func (r *recorder) Flush()                 {}

func (r *recorder) Write(p []byte) (n int, err error) {
	n, r.err = r.body.Write(p)
	return n, r.err
}
