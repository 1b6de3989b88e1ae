package middleware

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
)

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Type      string         `json:"type" example:"about:blank"`
	Title     string         `json:"title" example:"Bad Request"`
	Status    int            `json:"status" example:"400"`
	Code      apperr.Code    `json:"code" example:"validation_failed"` // stable; what programs switch on
	Detail    string         `json:"detail" example:"Some parameters are not valid; errors lists each of them."`
	RequestID string         `json:"requestId" example:"5f0e8c1b9d3a47e2a6c4"`  // the one in the log and in X-Request-Id
	Errors    []apperr.Field `json:"errors,omitempty" extensions:"x-omitempty"` // the parameters at fault, all of them
} //	@name	Problem

const problemType = "application/problem+json"

// statuses says with which status each code is answered.
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

// defaultRetry is the Retry-After of an error that names none.
const defaultRetry = 5 * time.Second

// fail answers with an error. An error that is no *apperr.Error is a 500 with a fixed text; its cause goes to the log
// only, in the request's line.
func fail(c *gin.Context, err error) {
	var e *apperr.Error
	if !errors.As(err, &e) {
		e = apperr.New(apperr.Internal, "Something went wrong on our side. The request's id helps us to find it in the log.").WithCause(err)
	}
	status := statuses[e.Code]
	id := requestID(c)
	if status >= http.StatusInternalServerError {
		_ = c.Error(err) // for the request's line in the log
	}
	header := c.Writer.Header()
	switch e.Code {
	case apperr.Unauthorized:
		header.Set("WWW-Authenticate", challenge(c))
	case apperr.Unavailable, apperr.TooManyRequests:
		header.Set("Retry-After", strconv.Itoa(seconds(cmp.Or(e.RetryAfter, defaultRetry))))
	case apperr.RequestTimeout, apperr.PayloadTooLarge:
		header.Set("Connection", "close") // the rest of the body is not read
	}
	body, marshalErr := json.Marshal(Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code,
		Detail: e.Message, RequestID: id, Errors: e.Fields,
	})
	if marshalErr != nil {
		panic(marshalErr) // plain fields: a mistake of ours
	}
	c.Abort()
	write(c, status, problemType, body)
}

// seconds is how many whole seconds are enough.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// challenge tells a client how to prove itself on this route (RFC 9110 section 11.6.1).
func challenge(c *gin.Context) string {
	if rule, ok := c.Get(ruleKey); ok && rule == access.Password || c.GetBool(basicKey) {
		return `Basic realm="ginseng", charset="UTF-8"`
	}
	return `Bearer realm="ginseng"`
}
