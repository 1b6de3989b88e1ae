// Package apperr defines the error type of services and stores. An error has a stable code, a message for the client and a
// cause for the log. The package is independent of HTTP; package rest maps codes to statuses.
package apperr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code classifies an error. Codes are stable, because clients switch on them. A module declares its own codes as constants of
// this type, and sets them with Error.WithCode. The OpenAPI document lists all codes.
type Code string //	@name	ErrorCode

// The general error codes.
const (
	ValidationFailed     Code = "validation_failed"
	MalformedBody        Code = "malformed_body"
	Unauthorized         Code = "unauthorized"
	SecondFactorRequired Code = "second_factor_required"
	Forbidden            Code = "forbidden"
	InsufficientScope    Code = "insufficient_scope"
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
	NotSupported         Code = "not_supported"
	Unavailable          Code = "unavailable"

	ReauthenticationRequired Code = "reauthentication_required"
	RangeNotSatisfiable      Code = "range_not_satisfiable"
	QuotaExceeded            Code = "quota_exceeded" // of the uploader's files
)

// Codes lists the general error codes, without the codes of modules.
var Codes = []Code{
	ValidationFailed, MalformedBody, Unauthorized, SecondFactorRequired, Forbidden, InsufficientScope, NotFound, RequestTimeout, MethodNotAllowed,
	Conflict, PreconditionFailed, IdempotencyMismatch, TooManyRequests, PayloadTooLarge, UnsupportedMediaType, Internal,
	NotSupported, Unavailable, ReauthenticationRequired, RangeNotSatisfiable, QuotaExceeded,
}

// Error is the error that services and stores return. Message is a sentence for the client. It must contain neither internal
// details nor values that the client sent. The cause is only logged.
type Error struct {
	Code       Code
	Message    string
	Fields     []Field       // the invalid parameters
	RetryAfter time.Duration // the time to wait before another attempt; 0: package rest sets it for TooManyRequests and Unavailable
	Overload   bool          // Unavailable because of too much load, and nothing was written: logged as Warn, and the Idempotency-Key can be used again
	base       Code          // the code before WithCode; "" if WithCode was not called
	cause      error         // for the log; can be nil
}

// Field describes one invalid parameter.
type Field struct {
	In       string    `json:"in" enums:"body,query,path,header"`
	Param    string    `json:"param"`                                       // name of the parameter
	Code     FieldCode `json:"code"`                                        // stable code for programs
	Message  string    `json:"message"`                                     // the reason, as a sentence
	Expected any       `json:"expected,omitempty" extensions:"x-omitempty"` // the limit or the allowed values
} //	@name	ErrorField

// FieldCode classifies the error of one parameter. Field codes are stable.
type FieldCode string //	@name	FieldCode

// The field codes.
const (
	Required         FieldCode = "required"
	Type             FieldCode = "type"
	Format           FieldCode = "format"
	Min              FieldCode = "min"
	Max              FieldCode = "max"
	MinLength        FieldCode = "min_length"
	MaxLength        FieldCode = "max_length"
	MaxItems         FieldCode = "max_items"
	OneOf            FieldCode = "one_of"
	Unknown          FieldCode = "unknown"
	UnknownReference FieldCode = "unknown_reference" // the referenced record does not exist, or is not visible to the caller
	FieldConflict    FieldCode = "conflict"          // the value conflicts with another parameter or record
	TooCommon        FieldCode = "too_common"
	Wrong            FieldCode = "wrong" // a code or credential that does not match or was already used
	Wildcard         FieldCode = "wildcard"
	ReadOnly         FieldCode = "read_only"   // the caller cannot change it
	NotAllowed       FieldCode = "not_allowed" // the operation is not possible in a batch or by a tool
)

// New returns an Error. It formats the message as fmt.Sprintf does.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns a ValidationFailed error for the parameters.
func Invalid(fields ...Field) *Error {
	return &Error{Code: ValidationFailed, Message: "Some parameters are not valid; errors lists each of them.", Fields: fields}
}

// JoinInvalid joins two ValidationFailed errors. The result has the invalid parameters of first, and those of second that are neither in
// first nor part of one: items[0] is a part of items. If an error is nil or has another code, JoinInvalid returns
// first, or second if first is nil.
func JoinInvalid(first, second error) error {
	var a, b *Error
	if first == nil {
		return second
	}
	if !errors.As(first, &a) || a.Code != ValidationFailed || !errors.As(second, &b) || b.Code != ValidationFailed {
		return first
	}
	more := slices.DeleteFunc(slices.Clone(b.Fields), func(f Field) bool {
		return slices.ContainsFunc(a.Fields, func(known Field) bool {
			part, ok := strings.CutPrefix(f.Param, known.Param)
			return known.In == f.In && ok && (part == "" || part[0] == '[' || part[0] == '.')
		})
	})
	return a.WithFields(more...)
}

// WithCode returns a copy of e with a more specific code. The previous code must be in Codes; it still determines the status of
// a response.
func (e Error) WithCode(code Code) *Error {
	e.base, e.Code = e.Base(), code
	return &e
}

// Base returns the code before WithCode, or Code if WithCode was not called. This code determines the status of a response.
func (e Error) Base() Code { return cmp.Or(e.base, e.Code) }

// WithCause returns a copy of e with a cause for the log.
func (e Error) WithCause(cause error) *Error {
	e.cause = cause
	return &e
}

// WithFields returns a copy of e with fields appended to e.Fields.
func (e Error) WithFields(fields ...Field) *Error {
	e.Fields = slices.Concat(e.Fields, fields)
	return &e
}

// WithRetryAfter returns a copy of e with RetryAfter set to d.
func (e Error) WithRetryAfter(d time.Duration) *Error {
	e.RetryAfter = d
	return &e
}

// AsOverload returns a copy of e with Overload set.
func (e Error) AsOverload() *Error {
	e.Overload = true
	return &e
}

// Error returns the code, the message and the cause, for the log.
func (e *Error) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of err. It returns Internal if err is not an *Error, and "" if err is nil.
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

// Is reports whether err has the code.
func Is(err error, code Code) bool { return CodeOf(err) == code }

// Replace returns replacement if err has the code, and err otherwise. replacement can be nil.
func Replace(err error, code Code, replacement error) error {
	if Is(err, code) {
		return replacement
	}
	return err
}
