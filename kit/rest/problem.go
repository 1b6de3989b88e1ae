package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
)

// Problem is the body of every error response (RFC 9457).
type Problem struct {
	Type      string         `json:"type" example:"about:blank"`
	Title     string         `json:"title" example:"Bad Request"`
	Status    int            `json:"status" example:"400"`
	Code      apperr.Code    `json:"code" example:"validation_failed"` // stable, for programs
	Detail    string         `json:"detail" example:"Some parameters are not valid; errors lists each of them."`
	RequestID string         `json:"requestId" example:"5f0e8c1b9d3a47e2a6c4"`  // also in the log and in X-Request-Id
	Errors    []apperr.Field `json:"errors,omitempty" extensions:"x-omitempty"` // the invalid parameters
} //	@name	Problem

const problemType = "application/problem+json"

// statuses has the HTTP status of each code.
var statuses = map[apperr.Code]int{
	apperr.ValidationFailed:     http.StatusBadRequest,
	apperr.MalformedBody:        http.StatusBadRequest,
	apperr.Unauthorized:         http.StatusUnauthorized,
	apperr.Forbidden:            http.StatusForbidden,
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
	case apperr.Unauthorized:
		header.Set("WWW-Authenticate", challenge(c))
	case apperr.Unavailable, apperr.TooManyRequests:
		header.Set("Retry-After", strconv.Itoa(seconds(cmp.Or(e.RetryAfter, defaultRetryAfter))))
	case apperr.RequestTimeout, apperr.PayloadTooLarge:
		header.Set("Connection", "close") // the rest of the body is not read
	}
	body, marshalErr := json.Marshal(Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code,
		Detail: e.Message, RequestID: RequestID(c), Errors: e.Fields,
	})
	if marshalErr != nil {
		panic(marshalErr) // unreachable: the fields are plain values
	}
	c.Abort()
	write(c, status, problemType, body)
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
