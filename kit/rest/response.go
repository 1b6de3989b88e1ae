package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

// ContentType is the content type of every response with a view.
const ContentType = "application/json; charset=utf-8"

// OK responds 200 with a view.
func OK(c *gin.Context, view any) error { return respond(c, http.StatusOK, view) }

// Record responds 200 with the view of a record and its ETag, or 304 to a GET whose If-None-Match has that ETag.
func Record(c *gin.Context, record store.Meta, view any) error {
	if NotModified(c, etag(record, view)) {
		return nil
	}
	return respond(c, http.StatusOK, view)
}

// View responds 200 with a view and an ETag of its content, or 304 to a GET whose If-None-Match has that ETag. Use it
// instead of Record if the record has data that the view does not show.
func View(c *gin.Context, view any) error {
	return encode(budgetOf(c), view, func(body []byte) error {
		if !NotModified(c, ContentTag(body)) {
			write(c, http.StatusOK, ContentType, body)
		}
		return nil
	})
}

// Page is View for a page of a list. If the request exports the list, Page responds with all rows; see Exporter.
func Page(c *gin.Context, page any) error {
	if p, ok := page.(Exporter); ok {
		if e := p.Export(); e != nil {
			return e.serve(c)
		}
	}
	return View(c, page)
}

// Created responds 201 with the view of a new record and its ETag. Location is the path of the request followed by the ID.
func Created(c *gin.Context, record store.Meta, view any) error {
	c.Header("Location", c.Request.URL.Path+"/"+record.ID.Hex())
	c.Header("ETag", etag(record, view))
	return respond(c, http.StatusCreated, view)
}

// CreatedView is Created with the ETag of View.
func CreatedView(c *gin.Context, id store.ID, view any) error {
	c.Header("Location", c.Request.URL.Path+"/"+id.Hex())
	return encode(budgetOf(c), view, func(body []byte) error {
		c.Header("ETag", ContentTag(body))
		write(c, http.StatusCreated, ContentType, body)
		return nil
	})
}

// CreatedSecret responds 201 with a view that contains a token and must not be cached.
func CreatedSecret(c *gin.Context, view any) error {
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusCreated, view)
}

// Accepted responds 202 with a view: the work continues after the response.
func Accepted(c *gin.Context, view any) error { return respond(c, http.StatusAccepted, view) }

// NoContent responds 204. It returns nil.
func NoContent(c *gin.Context) error {
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

// SetRateLimit sets the headers RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers), unless there are no
// states.
func SetRateLimit(c *gin.Context, states ratelimit.States) {
	if len(states) == 0 {
		return
	}
	policies, left := make([]string, len(states)), make([]string, len(states))
	for i, s := range states {
		policies[i] = fmt.Sprintf("%q;q=%d;w=%d", s.Name, s.Max, seconds(s.Window))
		left[i] = fmt.Sprintf("%q;r=%d;t=%d", s.Name, max(0, s.Left), seconds(s.Reset))
	}
	c.Header("RateLimit-Policy", strings.Join(policies, ", "))
	c.Header("RateLimit", strings.Join(left, ", "))
}

func respond(c *gin.Context, status int, view any) error {
	err := encode(budgetOf(c), view, func(body []byte) error {
		write(c, status, ContentType, body)
		return nil
	})
	if err != nil {
		c.Writer.Header().Del("ETag")
	}
	return err
}

// budgetOf returns the context of the request if a large response must have a share of its Budget, otherwise nil. Responses
// to GET must, and those that have a share already. Others need none: the change that they report has been made.
func budgetOf(c *gin.Context) context.Context {
	ctx := c.Request.Context()
	if c.Request.Method != http.MethodGet && !Reserved(ctx) {
		return nil
	}
	return ctx
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxPooledBuffer is the capacity in bytes above which a buffer is not pooled.
const maxPooledBuffer = 64 << 10

// encode calls use with the view as JSON. The bytes are valid until use returns. ctx is that of a buffer. Unavailable: the
// JSON is large, and other responses use the budget.
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
	// It does not escape HTML: browsers do not read application/json with nosniff as HTML.
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

// autoLength is the size in bytes up to which net/http sets Content-Length itself. The header map of most responses then has
// at most eight entries; with more it takes twice the memory.
const autoLength = 2 << 10

func write(c *gin.Context, status int, contentType string, body []byte) {
	header := c.Writer.Header()
	header.Set("Content-Type", contentType)
	if len(body) > autoLength {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // fails if the client has disconnected
}

// GzipSuffix is the end of the ETag of a compressed response, which is another representation (RFC 9110 section 8.8.3.3).
const GzipSuffix = "-gzip"

// recordTag matches what etag returns, with or without GzipSuffix.
var recordTag = regexp.MustCompile(`^"([0-9a-f]{24})-(\d{1,18})-\w*View(?:\.[0-9a-f]{16})?(?:` + GzipSuffix + `)?"$`)

// etag identifies a version of a record in a view, and the versions of the records that the view includes. It has the ID
// because a path such as /users/me has none.
func etag(record store.Meta, view any) string {
	tag := `"` + record.ID.Hex() + "-" + strconv.FormatInt(record.Version, 10) + "-" + reflect.TypeOf(view).Name()
	if v, ok := view.(interface{ ExpandTag() string }); ok {
		tag += v.ExpandTag()
	}
	return tag + `"`
}

// ContentTag identifies a representation by its bytes.
func ContentTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// NotModified sets the ETag of the response. If the request is a GET whose If-None-Match has the ETag, NotModified responds
// 304 and returns true; otherwise the caller must respond.
func NotModified(c *gin.Context, tag string) bool {
	c.Header("ETag", tag)
	if c.Request.Method != http.MethodGet || !hasTag(headerValue(c, "If-None-Match"), tag) {
		return false
	}
	c.Status(http.StatusNotModified)
	c.Writer.WriteHeaderNow()
	return true
}

// hasTag reports whether an If-None-Match header has the tag, by weak comparison and ignoring GzipSuffix.
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
func headerValue(c *gin.Context, name string) string {
	return strings.Join(c.Request.Header.Values(name), ",")
}

// IfMatch returns the versions of a record that the request may change (RFC 9110 section 13.1.1). nil means all: the header
// is absent or *. An empty list means none: all tags are weak, or not of this record.
func IfMatch(c *gin.Context, id store.ID) store.Versions {
	header := strings.TrimSpace(headerValue(c, "If-Match"))
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

// IfMatchView is IfMatch for the ETag of View. The returned function reports whether the request may change a record with
// the view; it is nil if the request may change any.
func IfMatchView(c *gin.Context) func(view any) bool {
	header := strings.TrimSpace(headerValue(c, "If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	return func(view any) bool {
		matches := false
		_ = encode(context.Background(), view, func(body []byte) error { // an error matches nothing; View reports it
			tag := ContentTag(body)
			for item := range strings.SplitSeq(header, ",") {
				if strings.Replace(strings.TrimSpace(item), GzipSuffix+`"`, `"`, 1) == tag {
					matches = true
				}
			}
			return nil
		})
		return matches
	}
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
