package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

// ContentType is the content type of every response with a view.
const ContentType = "application/json; charset=utf-8"

// OK responds 200 with a view, which is a struct that is sent as JSON.
func OK(g *gin.Context, view any) error { return respond(g, http.StatusOK, view) }

// Record responds 200 with the view of a record and its ETag, or 304 to a GET whose If-None-Match has that ETag.
func Record(g *gin.Context, record store.Meta, view any) error {
	if NotModified(g, RecordTag(record, view)) {
		return nil
	}
	return respond(g, http.StatusOK, view)
}

// View responds 200 with a view and an ETag of the view's content, or 304 to a GET whose If-None-Match has that ETag. Use View
// instead of Record if the record has data that the view does not show.
func View(g *gin.Context, view any) error {
	return encode(budgetOf(g), view, func(body []byte) error {
		if !NotModified(g, ContentTag(body)) {
			writeView(g, http.StatusOK, body)
		}
		return nil
	})
}

// Page is like View, for a page of a list. If the request exports the list, Page responds with all rows; see Exporter.
func Page(g *gin.Context, page any) error {
	if p, ok := page.(Exporter); ok {
		if e := p.Export(); e != nil {
			return e.serve(g)
		}
	}
	return View(g, page)
}

// Created responds 201 with the view of a new record and its ETag. Location is the path of the request followed by the ID. An action
// whose path is not that of the list, such as POST /events/:id/reserve, responds with Record, because nothing is at that Location.
func Created(g *gin.Context, record store.Meta, view any) error {
	return CreatedAt(g, g.Request.URL.Path+"/"+record.ID.Hex(), record, view)
}

// CreatedAt is like Created, with another Location: the path of a new part of the record.
func CreatedAt(g *gin.Context, location string, record store.Meta, view any) error {
	g.Header("Location", location)
	g.Header("ETag", RecordTag(record, view))
	return respond(g, http.StatusCreated, view)
}

// CreatedView is like Created, but sets the ETag that View sets.
func CreatedView(g *gin.Context, id store.ID, view any) error {
	g.Header("Location", g.Request.URL.Path+"/"+id.Hex())
	return encode(budgetOf(g), view, func(body []byte) error {
		g.Header("ETag", ContentTag(body))
		writeView(g, http.StatusCreated, body)
		return nil
	})
}

// CreatedSecret responds 201 with a view that contains a token and must not be cached.
func CreatedSecret(g *gin.Context, view any) error {
	g.Header("Cache-Control", "no-store")
	return respond(g, http.StatusCreated, view)
}

// Accepted responds 202 with a view: the work continues after the response.
func Accepted(g *gin.Context, view any) error { return respond(g, http.StatusAccepted, view) }

// NoContent responds 204. It returns nil.
func NoContent(g *gin.Context) error {
	g.Status(http.StatusNoContent)
	g.Writer.WriteHeaderNow()
	return nil
}

// SetRateLimit sets the headers RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers), or does nothing if there
// are no states.
func SetRateLimit(g *gin.Context, states ratelimit.States) {
	if len(states) == 0 {
		return
	}
	policies, left := make([]string, len(states)), make([]string, len(states))
	for i, s := range states {
		policies[i] = fmt.Sprintf("%q;q=%d;w=%d", s.Name, s.Max, seconds(s.Window))
		left[i] = fmt.Sprintf("%q;r=%d;t=%d", s.Name, max(0, s.Left), seconds(s.Reset))
	}
	g.Header("RateLimit-Policy", strings.Join(policies, ", "))
	g.Header("RateLimit", strings.Join(left, ", "))
}

func respond(g *gin.Context, status int, view any) error {
	err := encode(budgetOf(g), view, func(body []byte) error {
		writeView(g, status, body)
		return nil
	})
	if err != nil {
		g.Writer.Header().Del("ETag")
	}
	return err
}

// budgetOf returns the context of the request if a large response must reserve memory from the Budget, otherwise nil. Responses
// to GET requests and responses that already have a share must reserve memory. Other responses report a change that has already
// been made, so they are sent without a share.
func budgetOf(g *gin.Context) context.Context {
	ctx := g.Request.Context()
	if g.Request.Method != http.MethodGet && !Reserved(ctx) {
		return nil
	}
	return ctx
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxPooledBuffer is the capacity in bytes above which a buffer is not pooled.
const maxPooledBuffer = 64 << 10

// encode encodes the view as JSON, and calls use with the bytes, which are valid until use returns. If ctx is not nil, large JSON
// reserves memory from the Budget of ctx. Unavailable: the JSON is large, and other responses are using the budget.
func encode(ctx context.Context, view any, use func(body []byte) error) error {
	if v, ok := view.(interface{ JSON() any }); ok {
		view = v.JSON()
	}
	buf := buffers.Get().(*buffer)
	defer func() {
		if cap(buf.data) <= maxPooledBuffer {
			*buf = buffer{data: buf.data[:0]}
			buffers.Put(buf)
		}
	}()
	buf.ctx = ctx
	// EncodeJSON does not escape HTML. That is safe: because of the header X-Content-Type-Options, browsers do not interpret
	// application/json as HTML.
	err := store.EncodeJSON(buf, view)
	buf.data = append(buf.data, '\n')
	var overload *apperr.Error
	switch {
	case errors.As(err, &overload):
		return overload
	case err != nil:
		return apperr.New(apperr.Internal, "The response could not be encoded.").WithCause(err)
	}
	return use(buf.data)
}

// OnlyID limits the views in the responses to the request to the field id. The middleware calls it for an API key that may write
// records of the resource, but not read them.
func OnlyID(g *gin.Context) { requestOf(g).onlyID = true }

// writeView responds with the JSON of a view, or with its id; see OnlyID.
func writeView(g *gin.Context, status int, body []byte) {
	if requestOf(g).onlyID {
		var view struct {
			ID json.RawMessage `json:"id,omitempty"`
		}
		_ = json.Unmarshal(body, &view) // fails if the view is not an object; the response is then {}
		body, _ = json.Marshal(view)    // cannot fail: ID is valid JSON
		body = append(body, '\n')
	}
	write(g, status, ContentType, body)
}

// autoLength is the size in bytes up to which net/http adds Content-Length. For such bodies, write does not set Content-Length.
// The header map of most responses then has at most eight entries; a larger map takes twice the memory.
const autoLength = 2 << 10

func write(g *gin.Context, status int, contentType string, body []byte) {
	header := g.Writer.Header()
	header.Set("Content-Type", contentType)
	if len(body) > autoLength {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	g.Writer.WriteHeader(status)
	_, _ = g.Writer.Write(body) // fails if the client has disconnected
}

// GzipSuffix is the end of the ETag of a compressed response, which is another representation (RFC 9110 section 8.8.3.3).
const GzipSuffix = "-gzip"

// recordTag matches the tags that RecordTag returns, with or without GzipSuffix, strong or weak: nginx makes the ETag of a response
// that it compresses weak. The version in the tag identifies the record all the same.
var recordTag = regexp.MustCompile(`^(?:W/)?"([0-9a-f]{24})-(\d{1,18})-\w+(?:\.[0-9a-f]{16})?(?:` + GzipSuffix + `)?"$`)

// RecordTag returns the ETag that Record sets. It has the ID and version of the record, the type of the view, and a digest of the
// records that the view includes. The tag needs the ID because a path such as /users/me does not identify the record.
func RecordTag(record store.Meta, view any) string {
	var expand string
	if v, ok := view.(interface{ ExpandTag() string }); ok {
		expand = v.ExpandTag()
	}
	return `"` + record.ID.Hex() + "-" + strconv.FormatInt(record.Version, 10) + "-" + typeTag(reflect.TypeOf(view)) + expand + `"`
}

// typeTag returns the part of an ETag that identifies the type of a view: its name or, for a type that is unnamed, generic or not
// named in ASCII, a digest. A pointer has the tag of the type that it points to.
func typeTag(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name := t.Name(); name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r == '[' || r > unicode.MaxASCII }) {
		return name
	}
	sum := sha256.Sum256([]byte(t.String()))
	return hex.EncodeToString(sum[:8])
}

// ContentTag returns an ETag that identifies a representation by its bytes.
func ContentTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// ViewTag returns the ETag that View sets. It fails if the view cannot be encoded.
func ViewTag(view any) (tag string, err error) {
	err = encode(context.Background(), view, func(body []byte) error {
		tag = ContentTag(body)
		return nil
	})
	return tag, err
}

// NotModified sets the ETag of the response. If the request is a GET whose If-None-Match has the ETag, NotModified responds
// 304 and returns true; otherwise the caller must respond.
func NotModified(g *gin.Context, tag string) bool {
	g.Header("ETag", tag)
	if g.Request.Method != http.MethodGet || !hasTag(headerValue(g, "If-None-Match"), tag) {
		return false
	}
	g.Status(http.StatusNotModified)
	g.Writer.WriteHeaderNow()
	return true
}

// hasTag reports whether an If-None-Match or If-Match header has * or the tag. It uses the weak comparison (RFC 9110 section
// 8.8.3.2; for If-Match, see recordTag), and ignores GzipSuffix.
func hasTag(header, tag string) bool {
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), "W/")
		if item == "*" || item == tag || strings.Replace(item, GzipSuffix+`"`, `"`, 1) == tag {
			return true
		}
	}
	return false
}

// headerValue returns the value of a header, which may be sent in several lines (RFC 9110 section 5.3).
func headerValue(g *gin.Context, name string) string {
	return strings.Join(g.Request.Header.Values(name), ",")
}

// IfMatch returns the versions of a record that the request may change (RFC 9110 section 13.1.1). nil means all: the header is
// absent or *. An empty list means none: no tag is a tag of this record. A weak tag counts as a strong one; see recordTag.
func IfMatch(g *gin.Context, id store.ID) store.Versions {
	header := strings.TrimSpace(headerValue(g, "If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	versions := store.Versions{}
	for item := range strings.SplitSeq(header, ",") {
		if m := recordTag.FindStringSubmatch(strings.TrimSpace(item)); m != nil && m[1] == id.Hex() {
			version, _ := strconv.ParseInt(m[2], 10, 64) // cannot fail: at most 18 digits
			versions = append(versions, version)
		}
	}
	return versions
}

// IfMatchView is like IfMatch, for the ETag that View sets. The returned function reports whether If-Match allows a change of
// the record that has this view. The function is nil if If-Match is absent or *.
func IfMatchView(g *gin.Context) func(view any) bool {
	header := strings.TrimSpace(headerValue(g, "If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	return func(view any) bool {
		tag, err := ViewTag(view) // after an error, no tag matches; View reports the error
		return err == nil && hasTag(header, tag)
	}
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
