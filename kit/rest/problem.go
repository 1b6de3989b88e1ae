package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
)

// Problem is the body of every error response (RFC 9457).
type Problem struct {
	Type      string         `json:"type" example:"about:blank"`
	Title     string         `json:"title" example:"Bad Request"`
	Status    int            `json:"status" example:"400"`
	Code      apperr.Code    `json:"code" example:"validation_failed"` // stable code for programs
	Detail    string         `json:"detail" example:"Some parameters are not valid; errors lists each of them."`
	RequestID string         `json:"requestId" example:"5f0e8c1b9d3a47e2a6c4"`     // the ID of the request, as in the header X-Request-Id and in the log
	Errors    []apperr.Field `json:"errors,omitempty" extensions:"x-omitempty"`    // the invalid parameters
	Challenge string         `json:"challenge,omitempty" extensions:"x-omitempty"` // only with second_factor_required at sign-in; required to send the second factor
	Operation *int           `json:"operation,omitempty" extensions:"x-omitempty"` // index of the failed operation in the batch
} //	@name	Problem

const problemType = "application/problem+json"

// statuses has the HTTP status of each of apperr.Codes.
var statuses = map[apperr.Code]int{
	apperr.ValidationFailed:     http.StatusBadRequest,
	apperr.MalformedBody:        http.StatusBadRequest,
	apperr.Unauthorized:         http.StatusUnauthorized,
	apperr.SecondFactorRequired: http.StatusForbidden,
	apperr.Forbidden:            http.StatusForbidden,
	apperr.InsufficientScope:    http.StatusForbidden,
	apperr.NotFound:             http.StatusNotFound,
	apperr.MethodNotAllowed:     http.StatusMethodNotAllowed,
	apperr.RequestTimeout:       http.StatusRequestTimeout,
	apperr.Conflict:             http.StatusConflict,
	apperr.PreconditionFailed:   http.StatusPreconditionFailed,
	apperr.IdempotencyMismatch:  http.StatusUnprocessableEntity,
	apperr.TooManyRequests:      http.StatusTooManyRequests,
	apperr.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	apperr.QuotaExceeded:        http.StatusRequestEntityTooLarge,
	apperr.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	apperr.Internal:             http.StatusInternalServerError,
	apperr.NotSupported:         http.StatusNotImplemented,
	apperr.Unavailable:          http.StatusServiceUnavailable,

	apperr.RangeNotSatisfiable:      http.StatusRequestedRangeNotSatisfiable,
	apperr.ReauthenticationRequired: http.StatusForbidden,
}

// defaultRetryAfter is the Retry-After of an Unavailable or TooManyRequests error without RetryAfter.
const defaultRetryAfter = 5 * time.Second

// OperationError is the error of one operation of a batch.
type OperationError struct {
	Index int
	Err   error
}

func (e *OperationError) Error() string { return fmt.Sprintf("operations[%d]: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *OperationError) Unwrap() error { return e.Err }

// Failure returns the error that Fail responded with, or nil if Fail was not called.
func Failure(g *gin.Context) error { return requestOf(g).failure }

// Fail responds with the Problem for err and aborts the handlers that follow. If err does not wrap an *apperr.Error, the status
// is 500, and the Problem does not describe err. Fail adds errors with a status of 500 or more, except NotSupported, to g.Errors,
// for the log.
func Fail(g *gin.Context, err error) {
	requestOf(g).failure = err
	var e *apperr.Error
	if !errors.As(err, &e) {
		e = apperr.New(apperr.Internal, "Internal error. Report the requestId: the log has the details.").WithCause(err)
	}
	status := statuses[e.Base()]
	if status >= http.StatusInternalServerError && e.Code != apperr.NotSupported {
		_ = g.Error(err)
	}
	header := g.Writer.Header()
	if status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", challenge(g))
	}
	switch e.Base() {
	case apperr.Unavailable, apperr.TooManyRequests:
		header.Set("Retry-After", strconv.Itoa(seconds(cmp.Or(e.RetryAfter, defaultRetryAfter))))
	case apperr.RequestTimeout, apperr.PayloadTooLarge:
		header.Set("Connection", "close") // the rest of the body is not read
	case apperr.UnsupportedMediaType: // RFC 9110 section 15.5.16
		types := mediaTypes(g.Request.Method)
		if requestOf(g).jsonOnly {
			types = []string{typeJSON}
		}
		header.Set("Accept", strings.Join(types, ", "))
		header.Set("Accept-Encoding", "identity")
	}
	p := Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code,
		Detail: e.Message, RequestID: RequestID(g), Errors: e.Fields,
	}
	if challenged := (*access.ChallengeError)(nil); errors.As(err, &challenged) {
		p.Challenge = challenged.Challenge
		header.Set("Cache-Control", "no-store") // the challenge is a secret
	}
	if failed := (*OperationError)(nil); errors.As(err, &failed) {
		p.Operation = &failed.Index
	}
	p.limit()
	body, marshalErr := json.Marshal(p)
	if marshalErr != nil {
		panic(marshalErr) // unreachable: the fields are plain values
	}
	g.Abort()
	write(g, status, problemType, append(body, '\n'))
}

// challenge returns the WWW-Authenticate header of a 401 response (RFC 9110 section 11.6.1).
func challenge(g *gin.Context) string {
	if requestOf(g).basic {
		return `Basic realm="ginseng", charset="UTF-8"`
	}
	return `Bearer realm="ginseng"`
}

// Limits of a Problem. Without limits, a request body could cause any number of errors, with names of any length.
const (
	maxErrors    = 100
	maxParamSize = 1024 // bytes; the longest valid path is selector.matchLabels["KEY"] with a KEY of 317 bytes
)

// limit shortens the list of errors to maxErrors, and each parameter name to maxParamSize. It adds the number of omitted errors
// to the detail.
func (p *Problem) limit() {
	if more := len(p.Errors) - maxErrors; more > 0 {
		p.Errors = p.Errors[:maxErrors]
		p.Detail += fmt.Sprintf(" There are %d more.", more)
	}
	for i, fieldErr := range p.Errors {
		if len(fieldErr.Param) > maxParamSize {
			p.Errors = slices.Clone(p.Errors)
			p.Errors[i].Param = strings.ToValidUTF8(fieldErr.Param[:maxParamSize], "") + "…"
		}
	}
}
