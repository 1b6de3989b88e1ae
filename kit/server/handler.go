// Package middleware is what every request passes through, in the order that New gives, and what controllers answer
// with. It is the only shared package that knows Gin.
package middleware

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	"github.com/rs/cors"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/telemetry"
)

// Options are what a Stack is made of.
type Options struct {
	Modules        []Module
	Guard          Guard
	Idempotency    *Idempotency
	BodyTime       time.Duration               // for a body to arrive after its header; 0 is 15 s
	Root           string                      // prefix of every API path, "" or "/api"
	CORSOrigins    []string                    // who may call from a browser; "*" is anyone
	TrustedProxies []string                    // networks whose X-Forwarded-For is believed
	Ready          func(context.Context) error // whether the service can do its work
	Docs           *Documents                  // of the API; nil serves none
	Log            *slog.Logger
	Observer       *telemetry.Observer // nil sees nothing
}

// bodyTime is Options.BodyTime. requestTime is how long a request may take in all; the database calls it makes end with
// it.
const (
	bodyTime    = 15 * time.Second
	requestTime = 30 * time.Second
)

// Stack is the service's HTTP handler.
type Stack struct {
	http.Handler
	engine *gin.Engine
}

// New builds the stack. The order: HEAD as GET, gzip, then in Gin the request's id, its line in the log, panics, its
// time limit, CORS, security headers, and the route.
func New(o Options) (*Stack, error) {
	quiet()
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := engine.SetTrustedProxies(o.TrustedProxies); err != nil {
		return nil, fmt.Errorf("middleware: trusted proxies: %w", err)
	}
	engine.Use(observe(o.Log, o.Observer))
	if len(o.CORSOrigins) > 0 {
		engine.Use(allowOrigins(o.CORSOrigins))
	}
	engine.Use(secure, limitBody(cmp.Or(o.BodyTime, bodyTime)))
	engine.NoRoute(func(c *gin.Context) { fail(c, apperr.New(apperr.NotFound, "There is nothing at this address.")) })
	engine.NoMethod(noMethod)
	mountHealth(engine, o.Ready)
	if o.Docs != nil {
		mountDocs(engine, *o.Docs, o.Root)
	}
	router := &Router{group: engine.Group(o.Root), guard: o.Guard, idempotency: o.Idempotency}
	for _, m := range o.Modules {
		m.Routes(router)
	}
	compress, err := gzhttp.NewWrapper(gzhttp.SuffixETag(gzipSuffix))
	if err != nil {
		return nil, fmt.Errorf("middleware: gzip: %w", err)
	}
	return &Stack{Handler: headAsGet(compress(engine)), engine: engine}, nil
}

// quiet keeps Gin from printing its own lines; the mode is a global of Gin's.
var quiet = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })

// Routes lists what is mounted, as "METHOD /path".
func (s *Stack) Routes() []string {
	var out []string
	for _, r := range s.engine.Routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

func allowOrigins(origins []string) gin.HandlerFunc {
	rules := cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
		AllowedHeaders: []string{"Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "X-Request-Id"},
		ExposedHeaders: []string{"ETag", "X-Request-Id", "Retry-After", "Location", "Link", "Idempotency-Replayed", "RateLimit", "RateLimit-Policy", "Deprecation", "Sunset"},
		MaxAge:         600, // seconds
	})
	return func(c *gin.Context) {
		rules.HandlerFunc(c.Writer, c.Request)
		if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
			c.Abort() // a browser's question before its request: it is answered
		}
	}
}

// headKey marks the context of a request that came as HEAD.
type headKey struct{}

// headAsGet lets every GET route answer HEAD: net/http drops the body, since it remembers the request as it came.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// noMethod answers OPTIONS with what is allowed, and 405 to the rest. Gin has set Allow to the methods that are mounted.
func noMethod(c *gin.Context) {
	header := c.Writer.Header()
	allow := header.Get("Allow") + ", OPTIONS"
	if strings.Contains(allow, http.MethodGet) {
		allow += ", HEAD"
	}
	header.Set("Allow", allow)
	if c.Request.Method == http.MethodOptions {
		_ = NoContent(c)
		return
	}
	fail(c, apperr.New(apperr.MethodNotAllowed, "This address does not take this method; Allow lists those it takes."))
}

// cameAs is the method that the client sent.
func cameAs(r *http.Request) string {
	if r.Method == http.MethodGet && r.Context().Value(headKey{}) != nil {
		return http.MethodHead
	}
	return r.Method
}

// observe gives the request its id and time limit, writes its line in the log, and answers a panic. The line never
// holds the query or a header: a credential may stand there.
func observe(log *slog.Logger, observer *telemetry.Observer) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		id := incomingID(c.GetHeader("X-Request-Id"))
		if id == "" {
			id = rand.Text()
		}
		c.Set(requestIDKey, id)
		c.Header("X-Request-Id", id)
		method := cameAs(c.Request)
		ctx, seen := observer.Begin(c.Request, method, c.FullPath())
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)

		cut := next(c)

		attrs := []slog.Attr{
			slog.String("requestId", id), slog.String("method", method), slog.String("route", c.FullPath()),
			slog.Int("status", c.Writer.Status()), slog.Duration("duration", time.Since(start)),
		}
		if trace := seen.TraceID(); trace != "" {
			attrs = append(attrs, slog.String("traceId", trace))
		}
		var user string
		if caller := Caller(c); caller.IsUser() {
			user = caller.UserID.Hex()
			attrs = append(attrs, slog.String("userId", user))
		}
		level := slog.LevelInfo
		if isProbe(c.FullPath()) {
			level = slog.LevelDebug // it comes every few seconds
		}
		if failed := c.Errors.Last(); failed != nil {
			level = severity(failed.Err)
			attrs = append(attrs, slog.String("error", failed.Error()))
		}
		log.LogAttrs(ctx, level, "request", attrs...)
		if cut {
			seen.End(http.StatusInternalServerError, user)
			panic(http.ErrAbortHandler)
		}
		seen.End(c.Writer.Status(), user)
	}
}

// severity is Info for a client that has gone away, Warn for work that was refused, and Error for the rest.
func severity(err error) slog.Level {
	var e *apperr.Error
	switch {
	case errors.Is(err, context.Canceled):
		return slog.LevelInfo
	case errors.As(err, &e) && e.Overload:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// next runs the rest of the stack. A panic in it is a 500; if the answer has begun, the connection is to be cut
// instead, so that the client does not take half of an answer for the whole.
func next(c *gin.Context) (cut bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		if cut = c.Writer.Written(); cut {
			_ = c.Error(err)
			return
		}
		fail(c, err)
	}()
	c.Next()
	return false
}

func requestID(c *gin.Context) string { return c.GetString(requestIDKey) }

// maxID bounds a request id that a client brings along.
const maxID = 64

// incomingID is a client's request id, or "" if it is not fit for a log.
func incomingID(id string) string {
	if len(id) > maxID {
		return ""
	}
	for _, r := range id {
		if !strings.ContainsRune("-_.", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return ""
		}
	}
	return id
}

// secure sets the headers that keep a browser from reading an answer as anything but data (OWASP REST Security Cheat
// Sheet).
func secure(c *gin.Context) {
	header := c.Writer.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}
