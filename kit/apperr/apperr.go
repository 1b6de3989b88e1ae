// Package apperr is the one error type of the service: what went wrong, in words for the caller, with a code that a
// program can act on and a cause that only the log sees. It knows nothing of HTTP; package middleware turns a code
// into a status.
package apperr

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of thing went wrong. It is stable: clients switch on it.
type Code string //	@name	ErrorCode

// The codes, one for each row of the table of errors in the documentation.
const (
	ValidationFailed     Code = "validation_failed"
	MalformedBody        Code = "malformed_body"
	Unauthorized         Code = "unauthorized"
	Forbidden            Code = "forbidden"
	NotFound             Code = "not_found"
	RequestTimeout       Code = "request_timeout"
	MethodNotAllowed     Code = "method_not_allowed"
	Conflict             Code = "conflict"
	PreconditionFailed   Code = "precondition_failed"
	IdempotencyMismatch  Code = "idempotency_mismatch"
	TooManyRequests      Code = "too_many_requests"
	PayloadTooLarge      Code = "payload_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	Internal             Code = "internal"
	Unavailable          Code = "unavailable"
)

// Codes lists every Code, so that a test can hold other tables against it.
var Codes = []Code{
	ValidationFailed, MalformedBody, Unauthorized, Forbidden, NotFound, RequestTimeout,
	MethodNotAllowed, Conflict, PreconditionFailed, IdempotencyMismatch, TooManyRequests, PayloadTooLarge, UnsupportedMediaType, Internal,
	Unavailable,
}

// Error is what a service or the store returns. Message is a sentence for the caller: it never holds a value that the
// caller sent, nor anything of the inside. The cause is for the log alone.
type Error struct {
	Code       Code
	Message    string
	Fields     []Field       // the parameters at fault, all of them
	RetryAfter time.Duration // when it is worth trying again; zero says nothing
	Refused    bool          // an Unavailable from before anything was done, because of too much work: not a fault
	cause      error
}

// Field is one parameter at fault.
type Field struct {
	In       string    `json:"in" enums:"body,query,path,header"`
	Param    string    `json:"param"`                                       // name of the parameter as the caller writes it
	Code     FieldCode `json:"code"`                                        // stable; what programs switch on
	Message  string    `json:"message"`                                     // what is wrong, as a sentence
	Expected any       `json:"expected,omitempty" extensions:"x-omitempty"` // the bound or the allowed values
} //	@name	ErrorField

// FieldCode says what is wrong with a parameter. It is stable, too.
type FieldCode string //	@name	FieldCode

// The codes of parameters at fault.
const (
	Required  FieldCode = "required"
	Type      FieldCode = "type"
	Format    FieldCode = "format"
	Min       FieldCode = "min"
	Max       FieldCode = "max"
	MinLength FieldCode = "min_length"
	MaxLength FieldCode = "max_length"
	OneOf     FieldCode = "one_of"
	Unknown   FieldCode = "unknown"
	Clash     FieldCode = "conflict"
	TooCommon FieldCode = "too_common"
	Wildcard  FieldCode = "wildcard"
)

// New makes an Error; the arguments go into the message as fmt.Sprintf does it.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid is a validation failure of the given parameters.
func Invalid(fields ...Field) *Error {
	return &Error{Code: ValidationFailed, Message: "Some parameters are not valid; errors lists each of them.", Fields: fields}
}

// Because returns a copy of e with the cause, which only the log shows.
func (e *Error) Because(cause error) *Error {
	out := *e
	out.cause = cause
	return &out
}

// With returns a copy of e with further parameters at fault.
func (e *Error) With(fields ...Field) *Error {
	out := *e
	out.Fields = append(append([]Field(nil), e.Fields...), fields...)
	return &out
}

// After returns a copy of e that says when it is worth trying again.
func (e *Error) After(d time.Duration) *Error {
	out := *e
	out.RetryAfter = d
	return &out
}

// Refuse returns a copy of e that says that nothing was done.
func (e *Error) Refuse() *Error {
	out := *e
	out.Refused = true
	return &out
}

// Error is the text for the log: code, message and cause.
func (e *Error) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of err: Internal for an error that is no *Error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// Is reports whether err bears the code.
func Is(err error, code Code) bool { return CodeOf(err) == code }
