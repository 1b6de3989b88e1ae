package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"golang.org/x/sync/semaphore"

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
	return encode(view, func(body []byte) error {
		if NotModified(c, ContentTag(body)) {
			return nil
		}
		return writeView(c, http.StatusOK, body)
	})
}

// Page responds 200 with a page of a list, as View does.
func Page(c *gin.Context, page any) error { return View(c, page) }

// Created responds 201 with the view of a new record. Its Location is the request's path and the ID.
func Created(c *gin.Context, record store.Meta, view any) error {
	c.Header("Location", c.Request.URL.Path+"/"+record.ID.Hex())
	c.Header("ETag", etag(record, view))
	return respond(c, http.StatusCreated, view)
}

// CreatedView is Created with the ETag of View.
func CreatedView(c *gin.Context, id store.ID, view any) error {
	c.Header("Location", c.Request.URL.Path+"/"+id.Hex())
	return encode(view, func(body []byte) error {
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

// NoContent responds 204.
func NoContent(c *gin.Context) error {
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

// SetRateLimit sets the headers RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers).
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
	return encode(view, func(body []byte) error { return writeView(c, status, body) })
}

// writeView writes an encoded view. A large response to a GET needs a share of the Budget; one that reports a change does
// not, because the change has been made.
func writeView(c *gin.Context, status int, body []byte) error {
	if len(body) > LargeResponse && c.Request.Method == http.MethodGet {
		if err := reserve(c.Request.Context(), int64(len(body))); err != nil {
			c.Writer.Header().Del("ETag")
			return err
		}
	}
	write(c, status, ContentType, body)
	return nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledBuffer bounds the memory that the pool keeps per buffer.
const maxPooledBuffer = 64 << 10

// encode calls use with the view as JSON. The bytes are valid until use returns.
func encode(view any, use func(body []byte) error) error {
	if v, ok := view.(interface{ JSON() any }); ok {
		view = v.JSON()
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooledBuffer {
			buffers.Put(buf)
		}
	}()
	buf.Reset()
	// It does not escape HTML: browsers do not read application/json with nosniff as HTML.
	if err := store.EncodeJSON(buf, view); err != nil {
		return apperr.New(apperr.Internal, "The response could not be encoded.").WithCause(err)
	}
	buf.WriteByte('\n')
	return use(buf.Bytes())
}

// autoLength is the size up to which net/http sets Content-Length. Not setting it keeps the headers of most responses at
// eight, beyond which a map takes twice the memory.
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

// GzipSuffix ends the ETag of a compressed response, which is another representation (RFC 9110 section 8.8.3.3).
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

// NotModified sets the ETag of the response. For a GET whose If-None-Match has it, NotModified responds 304 and returns
// true.
func NotModified(c *gin.Context, tag string) bool {
	c.Header("ETag", tag)
	if c.Request.Method != http.MethodGet || !lists(joined(c, "If-None-Match"), tag) {
		return false
	}
	c.Status(http.StatusNotModified)
	c.Writer.WriteHeaderNow()
	return true
}

// lists reports whether an If-None-Match header has the tag, by weak comparison.
func lists(header, tag string) bool {
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), "W/")
		if item == "*" || item == tag || strings.Replace(item, GzipSuffix+`"`, `"`, 1) == tag {
			return true
		}
	}
	return false
}

// joined returns the value of a header that may have several lines (RFC 9110 section 5.3).
func joined(c *gin.Context, name string) string {
	return strings.Join(c.Request.Header.Values(name), ",")
}

// IfMatch returns the versions of a record that the request may change (RFC 9110 section 13.1.1): nil for any, if the
// header is absent or *. Tags that are weak, or not of this record, match no version.
func IfMatch(c *gin.Context, id store.ID) store.Versions {
	header := strings.TrimSpace(joined(c, "If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	versions := store.Versions{}
	for item := range strings.SplitSeq(header, ",") {
		if m := recordTag.FindStringSubmatch(strings.TrimSpace(item)); m != nil && m[1] == id.Hex() {
			version, _ := strconv.ParseInt(m[2], 10, 64) // up to 18 digits
			versions = append(versions, version)
		}
	}
	return versions
}

// IfMatchView is IfMatch for the ETag of View. It returns a function that reports whether the request may change a record
// with the view: nil for any.
func IfMatchView(c *gin.Context) func(view any) bool {
	header := strings.TrimSpace(joined(c, "If-Match"))
	if header == "" || header == "*" {
		return nil
	}
	return func(view any) (matches bool) {
		_ = encode(view, func(body []byte) error { // View reports the error
			tag := ContentTag(body)
			for item := range strings.SplitSeq(header, ",") {
				matches = matches || strings.Replace(strings.TrimSpace(item), GzipSuffix+`"`, `"`, 1) == tag
			}
			return nil
		})
		return matches
	}
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// LargeResponse is the size in bytes above which a response needs a share of the Budget. What is smaller fits into the
// buffers of the system, so that a client that does not read keeps nothing in memory.
const LargeResponse = 128 << 10

// Budget bounds the bytes of large responses that are in memory at the same time, because their clients read slowly. Pages
// of lists and single records have separate shares, so that clients that do not read pages cannot keep others from
// reading records.
type Budget struct {
	pages, records *semaphore.Weighted
	wait           time.Duration
}

// NewBudget returns a Budget with the given bytes for pages and for records. A page waits for its share for the given
// time.
func NewBudget(pages, records int64, wait time.Duration) *Budget {
	return &Budget{pages: semaphore.NewWeighted(pages), records: semaphore.NewWeighted(records), wait: wait}
}

// share is what the response to one request has of a Budget.
type share struct {
	budget *Budget
	of     *semaphore.Weighted // nil: nothing is reserved
	bytes  int64
}

type shareKey struct{}

// Context returns a context for a request whose response uses the budget. Call release after the response.
func (b *Budget) Context(ctx context.Context) (_ context.Context, release func()) {
	s := &share{budget: b}
	return context.WithValue(ctx, shareKey{}, s), s.release
}

func (s *share) release() {
	if s.of != nil {
		s.of.Release(s.bytes)
	}
}

func tooManyResponses() error {
	return apperr.New(apperr.Unavailable, "Too many large responses are being sent. Try again in a few seconds, or request less with limit or fields.").AsOverload()
}

// ReservePage waits for a share of the Budget of the context, for a page of the given bytes. Call it before the page is
// read. Unavailable: other responses use the budget.
func ReservePage(ctx context.Context, bytes int64) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok || s.of != nil {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, s.budget.wait)
	defer cancel()
	if s.budget.pages.Acquire(waiting, bytes) != nil {
		return tooManyResponses()
	}
	s.of, s.bytes = s.budget.pages, bytes
	return nil
}

// reserve takes a share for the response, if it is large. It does not wait, because the response is in memory already.
func reserve(ctx context.Context, bytes int64) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok || s.of != nil {
		return nil
	}
	if !s.budget.records.TryAcquire(bytes) {
		return tooManyResponses()
	}
	s.of, s.bytes = s.budget.records, bytes
	return nil
}
