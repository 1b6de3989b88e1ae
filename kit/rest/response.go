package rest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"regexp"
	"slices"
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
	return encode(view, func(body []byte) error {
		if NotModified(c, contentTag(body)) {
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
		c.Header("ETag", contentTag(body))
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

// contentTag identifies a representation by its bytes.
func contentTag(body []byte) string {
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
			tag := contentTag(body)
			for item := range strings.SplitSeq(header, ",") {
				matches = matches || strings.Replace(strings.TrimSpace(item), GzipSuffix+`"`, `"`, 1) == tag
			}
			return nil
		})
		return matches
	}
}

// Problem is the body of every error response (RFC 9457).
type Problem struct {
	Type      string         `json:"type" example:"about:blank"`
	Title     string         `json:"title" example:"Bad Request"`
	Status    int            `json:"status" example:"400"`
	Code      apperr.Code    `json:"code" example:"validation_failed"` // stable, for programs
	Detail    string         `json:"detail" example:"Some parameters are not valid; errors lists each of them."`
	RequestID string         `json:"requestId" example:"5f0e8c1b9d3a47e2a6c4"`     // also in the log and in X-Request-Id
	Errors    []apperr.Field `json:"errors,omitempty" extensions:"x-omitempty"`    // the invalid parameters
	Challenge string         `json:"challenge,omitempty" extensions:"x-omitempty"` // of second_factor_required
} //	@name	Problem

const problemType = "application/problem+json"

// statuses has the HTTP status of each code.
var statuses = map[apperr.Code]int{
	apperr.ValidationFailed:     http.StatusBadRequest,
	apperr.MalformedBody:        http.StatusBadRequest,
	apperr.Unauthorized:         http.StatusUnauthorized,
	apperr.SecondFactorRequired: http.StatusUnauthorized,
	apperr.Forbidden:            http.StatusForbidden,
	apperr.EmailNotVerified:     http.StatusForbidden,
	apperr.Suspended:            http.StatusForbidden,
	apperr.TwoFactorRequired:    http.StatusForbidden,
	apperr.NotFound:             http.StatusNotFound,
	apperr.MethodNotAllowed:     http.StatusMethodNotAllowed,
	apperr.RequestTimeout:       http.StatusRequestTimeout,
	apperr.Conflict:             http.StatusConflict,
	apperr.PreconditionFailed:   http.StatusPreconditionFailed,
	apperr.IdempotencyMismatch:  http.StatusUnprocessableEntity,
	apperr.TooManyRequests:      http.StatusTooManyRequests,
	apperr.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	apperr.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	apperr.Internal:             http.StatusInternalServerError,
	apperr.Unavailable:          http.StatusServiceUnavailable,
}

// defaultRetryAfter is the Retry-After of an error without one.
const defaultRetryAfter = 5 * time.Second

// Fail responds with the problem of err and aborts the handlers that follow. An error that is not an *apperr.Error is a
// 500 without details. An error with a status of 500 or more is added to c.Errors, for the log.
func Fail(c *gin.Context, err error) {
	var e *apperr.Error
	if !errors.As(err, &e) {
		e = apperr.New(apperr.Internal, "Internal error. Report the requestId: the log has the details.").WithCause(err)
	}
	status := statuses[e.Code]
	if status >= http.StatusInternalServerError {
		_ = c.Error(err)
	}
	header := c.Writer.Header()
	switch e.Code {
	case apperr.Unauthorized, apperr.SecondFactorRequired:
		header.Set("WWW-Authenticate", challenge(c))
		if e.Challenge != "" { // a secret
			header.Set("Cache-Control", "no-store")
		}
	case apperr.Unavailable, apperr.TooManyRequests:
		header.Set("Retry-After", strconv.Itoa(seconds(cmp.Or(e.RetryAfter, defaultRetryAfter))))
	case apperr.RequestTimeout, apperr.PayloadTooLarge:
		header.Set("Connection", "close") // the rest of the body is not read
	case apperr.UnsupportedMediaType: // RFC 9110 section 15.5.16
		header.Set("Accept", strings.Join(mediaTypes(c.Request.Method), ", "))
		header.Set("Accept-Encoding", "identity")
	}
	p := Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code,
		Detail: e.Message, RequestID: RequestID(c), Errors: e.Fields, Challenge: e.Challenge,
	}
	p.limit()
	body, marshalErr := json.Marshal(p)
	if marshalErr != nil {
		panic(marshalErr) // unreachable: the fields are plain values
	}
	c.Abort()
	write(c, status, problemType, body)
}

// The limits of a problem: the body of a request can be the cause of very many errors, with names of any length.
const (
	maxErrors    = 100
	maxParamSize = 1024 // bytes; the longest valid path is selector.matchLabels["…"] with 317
)

// limit cuts the list of errors, and long names in it, and adds the number of the other errors to the detail.
func (p *Problem) limit() {
	if more := len(p.Errors) - maxErrors; more > 0 {
		p.Errors = p.Errors[:maxErrors]
		p.Detail += fmt.Sprintf(" There are %d more.", more)
	}
	for i, fault := range p.Errors {
		if len(fault.Param) > maxParamSize {
			p.Errors = slices.Clone(p.Errors)
			p.Errors[i].Param = strings.ToValidUTF8(fault.Param[:maxParamSize], "") + "…"
		}
	}
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
