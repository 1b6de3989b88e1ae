package middleware

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Handler is a controller's method: it answers, or returns the error that the stack answers with.
type Handler func(*gin.Context) error

// Module is a part of the API: it mounts its routes.
type Module interface{ Routes(*Router) }

// Router mounts routes, each with the rule that its caller must meet.
type Router struct {
	group       gin.IRouter
	guard       Guard
	idempotency *Idempotency
}

// GET mounts a route.
func (r *Router) GET(path string, rule access.Rule, h Handler) { r.handle("GET", path, rule, h) }

// POST mounts a route.
func (r *Router) POST(path string, rule access.Rule, h Handler) { r.handle("POST", path, rule, h) }

// PUT mounts a route.
func (r *Router) PUT(path string, rule access.Rule, h Handler) { r.handle("PUT", path, rule, h) }

// PATCH mounts a route.
func (r *Router) PATCH(path string, rule access.Rule, h Handler) { r.handle("PATCH", path, rule, h) }

// DELETE mounts a route.
func (r *Router) DELETE(path string, rule access.Rule, h Handler) {
	r.handle("DELETE", path, rule, h)
}

func (r *Router) handle(method, path string, rule access.Rule, h Handler) {
	r.group.Handle(method, path, func(c *gin.Context) {
		if err := r.serve(c, rule, h); err != nil {
			fail(c, err)
		}
	})
}

// serve keeps the order of every route: body, credential, then the handler's validation, lookup, ownership, action.
// The body comes first because the credential may be in it.
func (r *Router) serve(c *gin.Context, rule access.Rule, h Handler) error {
	c.Set(ruleKey, rule)
	c.Writer.Header().Add("Vary", "Authorization")
	if err := readQuery(c); err != nil {
		return err
	}
	if err := r.guard.readBody(c); err != nil {
		return err
	}
	caller, err := r.guard.caller(c, rule)
	if err != nil {
		return err
	}
	c.Set(callerKey, caller)
	if caller.Master || caller.IsUser() {
		c.Header("Cache-Control", "private, no-cache") // a cache cannot see a credential in the query (RFC 6750 section 2.3)
	}
	return h(c)
}

// The keys of what the stack keeps in a request's context.
const (
	requestIDKey = "ginseng.requestID"
	ruleKey      = "ginseng.rule"
	basicKey     = "ginseng.basic"
	callerKey    = "ginseng.caller"
	valuesKey    = "ginseng.values"
	queryKey     = "ginseng.query"
)

// Caller is who made the request, as its route's rule found.
func Caller(c *gin.Context) access.Principal {
	caller, _ := c.Get(callerKey)
	p, _ := caller.(access.Principal) // the zero value where no guard ran: anonymous
	return p
}

// Client is where the request comes from.
func Client(c *gin.Context) access.Client {
	return access.Client{Address: c.ClientIP(), UserAgent: c.Request.UserAgent(), Trusted: Caller(c).Master}
}

// ID is the path's id. A malformed one is NotFound, as an unknown one is.
func ID(c *gin.Context) (store.ID, error) {
	id, ok := store.ParseID(c.Param("id"))
	if !ok {
		return id, store.ErrNotFound
	}
	return id, nil
}

// Bind reads the request's parameters into a T and holds them against its rules. ValidationFailed: all that is wrong.
func Bind[T any](c *gin.Context) (T, error) {
	var in T
	return in, values(c).Decode(&in)
}

// OK answers 200 with a view.
func OK(c *gin.Context, view any) error { return answer(c, http.StatusOK, view) }

// Page answers 200 with a page of a list, and an ETag of all that it shows; or 304 if the caller has it.
func Page(c *gin.Context, page any) error {
	return encode(page, func(body []byte) {
		sum := sha256.Sum256(body)
		if !unchanged(c, `"`+hex.EncodeToString(sum[:12])+`"`) {
			write(c, http.StatusOK, jsonType, body)
		}
	})
}

// Accepted answers 202 with a view: what was asked for is done after the answer.
func Accepted(c *gin.Context, view any) error { return answer(c, http.StatusAccepted, view) }

// Created answers 201 with the view of a new record, whose address is the request's path and the id.
func Created(c *gin.Context, record store.Meta, view any) error {
	c.Header("Location", c.Request.URL.Path+"/"+record.ID.Hex())
	c.Header("ETag", etag(record, view))
	return answer(c, http.StatusCreated, view)
}

// CreatedSecret answers 201 with a view that bears a token, which nobody may keep.
func CreatedSecret(c *gin.Context, view any) error {
	c.Header("Cache-Control", "no-store")
	return answer(c, http.StatusCreated, view)
}

// NoContent answers 204.
func NoContent(c *gin.Context) error {
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKeptBuffer bounds the memory that the pool keeps for each buffer.
const maxKeptBuffer = 64 << 10

func answer(c *gin.Context, status int, view any) error {
	return encode(view, func(body []byte) {
		if !hold(c, status, body) {
			write(c, status, jsonType, body)
		}
	})
}

// encode lends the view as JSON to use.
func encode(view any, use func(body []byte)) error {
	if v, ok := view.(interface{ JSON() any }); ok {
		view = v.JSON()
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxKeptBuffer {
			buffers.Put(buf)
		}
	}()
	buf.Reset()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // the type is JSON and nosniff is set: no browser reads it as HTML
	if err := enc.Encode(view); err != nil {
		return apperr.New(apperr.Internal, "The answer could not be written.").WithCause(err)
	}
	use(buf.Bytes())
	return nil
}

const jsonType = "application/json; charset=utf-8"

// buffered is how long an answer may be for net/http to find out its length. A header fewer keeps the most frequent
// answers at eight, beyond which a map takes twice the memory.
const buffered = 2 << 10

func write(c *gin.Context, status int, contentType string, body []byte) {
	header := c.Writer.Header()
	header.Set("Content-Type", contentType)
	if len(body) > buffered {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // the client may have gone; there is nobody to tell
}
