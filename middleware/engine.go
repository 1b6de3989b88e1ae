// Package middleware has Gin middleware: functions that return a gin.HandlerFunc, for any Gin application. Errors are
// written with package rest.
package middleware

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
		rest.SetTimeLimit(g, d)
		ctx, cancel := context.WithTimeout(g.Request.Context(), d)
		defer cancel()
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
