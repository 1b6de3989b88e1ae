// Package middleware has Gin middleware: functions that return a gin.HandlerFunc, for any Gin application. Errors are
// written with package rest.
package middleware

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/cors"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/slot"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
)

// RequestLog gives every request an ID, and logs one line per request. The ID is the client's X-Request-Id if that header is
// valid. The line omits the query string and the headers, because they can contain credentials. Requests to the quiet routes
// are logged at level debug, unless they fail with a status of 500 or more. The observer can be nil.
func RequestLog(log *slog.Logger, observer *telemetry.Observer, quiet ...string) gin.HandlerFunc {
	return func(g *gin.Context) {
		start, method := time.Now(), originalMethod(g.Request)
		id := validID(g.GetHeader("X-Request-Id"))
		if id == "" {
			id = rand.Text()
		}
		rest.SetRequestID(g, id)
		g.Header("X-Request-Id", id)
		ctx, observed := g.Request.Context(), telemetry.Request{}
		if observer != nil {
			ctx, observed = observer.Begin(g.Request, method, g.FullPath())
			g.Request = g.Request.WithContext(ctx)
		}

		status := http.StatusInternalServerError // the status after a panic that Recovery does not stop
		defer func() {
			attrs := []slog.Attr{
				slog.String("requestId", id), slog.String("method", method), slog.String("route", g.FullPath()),
				slog.Int("status", g.Writer.Status()), slog.Duration("duration", time.Since(start)),
			}
			var user string
			if caller := rest.Caller(g); caller.IsUser() {
				user = caller.UserID.Hex()
				attrs = append(attrs, slog.String("userId", user))
				if caller.Key != nil {
					attrs = append(attrs, slog.String("keyId", caller.Key.ID.Hex()))
				}
			}
			if observer != nil {
				if trace := observed.TraceID(); trace != "" {
					attrs = append(attrs, slog.String("traceId", trace))
				}
				defer func() { observed.End(status, user) }()
			}
			level := slog.LevelInfo
			if slices.Contains(quiet, g.FullPath()) {
				level = slog.LevelDebug
			}
			if events, isStream := rest.Events(g); isStream {
				attrs = append(attrs, slog.Int("events", events))
			}
			if failed := g.Errors.Last(); failed != nil {
				level = Severity(failed.Err)
				attrs = append(attrs, slog.String("error", failed.Error()))
			}
			log.LogAttrs(ctx, level, "request", attrs...)
		}()
		g.Next()
		status = g.Writer.Status()
	}
}

// Severity returns the level at which a failed request is logged: Info if the client has disconnected, Warn for overload or a
// busy database, and Error otherwise.
func Severity(err error) slog.Level {
	var e *apperr.Error
	switch {
	case errors.Is(err, context.Canceled):
		return slog.LevelInfo
	case errors.As(err, &e) && e.Overload, errors.Is(err, store.ErrBusy):
		return slog.LevelWarn
	}
	return slog.LevelError
}

const (
	maxIDLength  = 64 // bytes of a client's request ID
	idCharacters = "-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// validID returns a client's request ID, or "" if it is too long or has characters that could be misread in a log.
func validID(id string) string {
	if len(id) > maxIDLength || strings.Trim(id, idCharacters) != "" {
		return ""
	}
	return id
}

// Recovery responds 500 after a panic. If part of the response has been sent, Recovery closes the connection instead, so that the
// client does not mistake that part for the whole response. It does not stop a panic with http.ErrAbortHandler.
func Recovery() gin.HandlerFunc {
	return func(g *gin.Context) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			if g.Writer.Written() {
				_ = g.Error(err)
				panic(http.ErrAbortHandler)
			}
			rest.Fail(g, err)
		}()
		g.Next()
	}
}

// Timeout cancels the context of a request after d.
func Timeout(d time.Duration) gin.HandlerFunc {
	return func(g *gin.Context) {
		ctx, cancel := context.WithTimeout(g.Request.Context(), d)
		defer cancel()
		s := stateOf(g)
		s.untimed, s.timeout = g.Request.Context(), d
		g.Request = g.Request.WithContext(ctx)
		g.Next()
	}
}

// ResponseBudget lets large responses reserve memory from the budget, until they are sent.
func ResponseBudget(budget *rest.Budget) gin.HandlerFunc {
	return func(g *gin.Context) {
		ctx, release := budget.Context(g.Request.Context(), func() string { return rest.Sharer(g) })
		defer release()
		g.Request = g.Request.WithContext(ctx)
		g.Next()
	}
}

// headKey marks the context of a HEAD request.
type headKey struct{}

// HeadAsGet wraps an http.Handler so that GET routes also serve HEAD. net/http discards the body.
func HeadAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// originalMethod returns the method that the client sent.
func originalMethod(r *http.Request) string {
	if r.Method == http.MethodGet && r.Context().Value(headKey{}) != nil {
		return http.MethodHead
	}
	return r.Method
}

// CORS allows browser requests from the origins. "*" allows any origin, and https://*.example.com allows any host below
// example.com. The list must not be empty: an empty list would allow any origin.
func CORS(origins []string) gin.HandlerFunc {
	rules := cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
		AllowedHeaders: []string{"Authorization", "Content-Type", "Content-Disposition", "If-Match", "If-None-Match", "If-Range", "Range", "Idempotency-Key", "Last-Event-ID", "X-Request-Id", "Traceparent", "Tracestate", "Baggage", "Sentry-Trace", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"},
		ExposedHeaders: []string{"Accept-Ranges", "Content-Range", "ETag", "X-Request-Id", "Retry-After", "Location", "Link", "WWW-Authenticate", "Content-Disposition", "Idempotency-Replayed", "RateLimit", "RateLimit-Policy", "Deprecation", "Sunset"},
		MaxAge:         600, // seconds
	})
	return func(g *gin.Context) {
		rules.HandlerFunc(g.Writer, g.Request)
		if g.Request.Method == http.MethodOptions && g.GetHeader("Access-Control-Request-Method") != "" {
			g.Abort() // a preflight request is complete
		}
	}
}

// Origin rejects requests from web pages whose origin CORS does not allow. Otherwise, a page could use DNS rebinding to call a
// service on the user's machine or network. If the list is empty, no origin is allowed.
func Origin(origins []string) gin.HandlerFunc {
	rules := cors.New(cors.Options{AllowedOrigins: origins}) // without origins, rules allows any origin
	return func(g *gin.Context) {
		if g.GetHeader("Origin") != "" && (len(origins) == 0 || !rules.OriginAllowed(g.Request)) {
			rest.Fail(g, apperr.New(apperr.Forbidden, "This operation does not accept requests from pages with this Origin. Add the origin to CORS_ORIGINS."))
		}
	}
}

// SecurityHeaders sets headers that make browsers treat a response only as data (OWASP REST Security Cheat Sheet).
func SecurityHeaders() gin.HandlerFunc {
	headers := http.Header{
		"X-Content-Type-Options":  {"nosniff"},
		"Referrer-Policy":         {"no-referrer"},
		"X-Frame-Options":         {"DENY"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
	}
	return func(g *gin.Context) { maps.Copy(g.Writer.Header(), headers) }
}

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
		stateOf(g).body = body
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
