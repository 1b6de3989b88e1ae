package rest

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// The parsers below are for parameters of bodies and of query strings. The *apperr.Field is nil for a valid value; else it
// has Code and Message, and the caller sets In and Param. An ID that cannot be parsed has the code format, any other
// scalar type.

// maxInt is the largest integer that every JSON reader keeps exactly (RFC 8259 section 6).
const maxInt = 1<<53 - 1

// ParseInt parses an integer within ±(2^53-1).
func ParseInt(s string) (int64, *apperr.Field) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > maxInt || n < -maxInt {
		return 0, wrongType("an integer between -9007199254740991 and 9007199254740991")
	}
	return n, nil
}

// ParseFloat parses a finite number.
func ParseFloat(s string) (float64, *apperr.Field) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, wrongType("a number")
	}
	return x, nil
}

// ParseBool parses true or false.
func ParseBool(s string) (bool, *apperr.Field) {
	if s != "true" && s != "false" {
		return false, wrongType("true or false")
	}
	return s == "true", nil
}

// ParseTime parses an RFC 3339 time.
func ParseTime(s string) (store.Time, *apperr.Field) {
	t, err := store.ParseTime(s)
	if err != nil {
		return t, wrongType("a time such as 2006-01-02T15:04:05.000Z")
	}
	return t, nil
}

// ParseID parses an ID.
func ParseID(s string) (store.ID, *apperr.Field) {
	id, ok := store.ParseID(s)
	if !ok {
		return id, &apperr.Field{Code: apperr.Format, Message: "Must be an ID: 24 hexadecimal characters."}
	}
	return id, nil
}

// ParseDate parses a date.
func ParseDate(s string) (store.Date, *apperr.Field) {
	d, err := store.ParseDate(s)
	if err != nil {
		return "", wrongType("a date such as 2006-01-02")
	}
	return d, nil
}

// ParseUUID parses a UUID.
func ParseUUID(s string) (store.UUID, *apperr.Field) {
	u, err := store.ParseUUID(s)
	if err != nil {
		return "", &apperr.Field{Code: apperr.Format, Message: "Must be a UUID such as 123e4567-e89b-42d3-a456-426614174000."}
	}
	return u, nil
}

const decimalForm = "a number such as 12.5, with at most 12 digits before the point and 6 after it"

// ParseDecimal parses a decimal.
func ParseDecimal(s string) (store.Decimal, *apperr.Field) {
	d, err := store.ParseDecimal(s)
	if err != nil {
		return 0, wrongType(decimalForm)
	}
	return d, nil
}

// CheckString checks that a string can be stored.
func CheckString(s string) *apperr.Field {
	if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return &apperr.Field{Code: apperr.Format, Message: "Must be valid UTF-8 without the character U+0000."}
	}
	return nil
}

func wrongType(expected string) *apperr.Field {
	return &apperr.Field{Code: apperr.Type, Message: "Must be " + expected + "."}
}
