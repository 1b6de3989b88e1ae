package rest

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Parse parses a parameter of a body or of a query string. T is string, bool, int64, float64, store.Time, store.Date, store.ID,
// store.UUID or store.Decimal. fieldErr is nil if the value is valid. Otherwise it has Code and Message, and the caller sets In
// and Param. Code is Format if T is string, store.ID or store.UUID, otherwise Type.
func Parse[T any](text string) (value T, fieldErr *apperr.Field) {
	fieldErr = parse(text, &value)
	return value, fieldErr
}

// maxInt is the largest integer that every JSON reader represents exactly (RFC 8259 section 6).
const maxInt = 1<<53 - 1

// parse is like Parse, but stores the value in the variable that into points to.
func parse(text string, into any) *apperr.Field {
	var err error
	var expected string
	switch p := into.(type) {
	case *string:
		*p = text
		return CheckString(text)
	case *store.ID:
		var ok bool
		*p, ok = store.ParseID(text)
		if !ok {
			return &apperr.Field{Code: apperr.Format, Message: "Must be an ID: 24 hexadecimal characters."}
		}
	case *store.UUID:
		*p, err = store.ParseUUID(text)
		if err != nil {
			return &apperr.Field{Code: apperr.Format, Message: "Must be a UUID such as 123e4567-e89b-42d3-a456-426614174000."}
		}
	case *bool:
		*p = text == "true"
		if !*p && text != "false" {
			return wrongType("true or false")
		}
	case *int64:
		*p, err = store.ParseInt(text)
		if *p > maxInt || *p < -maxInt {
			err = strconv.ErrRange
		}
		expected = "an integer between -9007199254740991 and 9007199254740991"
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
		if strings.Trim(text, "0123456789+-.eE") != "" { // ParseFloat also accepts Inf, NaN, 0x10p0 and 1_000
			err = strconv.ErrSyntax
		}
		expected = "a number"
	case *store.Time:
		*p, err = store.ParseTime(text)
		expected = "a time such as 2006-01-02T15:04:05.000Z"
	case *store.Date:
		*p, err = store.ParseDate(text)
		expected = "a date such as 2006-01-02"
	case *store.Decimal:
		*p, err = store.ParseDecimal(text)
		expected = "a number such as 12.5, with at most 12 digits before the point and 6 after it"
	default:
		panic(fmt.Sprintf("rest: a parameter cannot have the type %T", into))
	}
	if err != nil {
		return wrongType(expected)
	}
	return nil
}

func wrongType(expected string) *apperr.Field {
	return &apperr.Field{Code: apperr.Type, Message: "Must be " + expected + "."}
}
