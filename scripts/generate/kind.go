package main

import (
	"maps"
	"regexp"
	"slices"
	"time"
)

// The types of fields.
const (
	typeString  = "string"
	typeText    = "text"
	typeInt     = "int"
	typeFloat   = "float"
	typeBool    = "bool"
	typeTime    = "time"
	typeEmail   = "email"
	typeURL     = "url"
	typeEnum    = "enum"
	typeRef     = "ref"
	typeDecimal = "decimal"
	typeDate    = "date"
	typeUUID    = "uuid"
	typeJSON    = "json"
	typeStrings = "[]string"
	typeInts    = "[]int"
	typeRefs    = "[]ref"
)

const (
	maxString  = 200             // characters of a string without max=
	maxLong    = 10_000          // characters that max= of a string can allow
	maxText    = 100_000         // characters of a text
	maxItems   = 100             // items of a list
	maxDecimal = 999_999_999_999 // the largest whole number of store.Decimal
	maxInt     = 1<<53 - 1       // the largest integer that every JSON parser represents exactly (RFC 8259, section 6)
	minUnique  = 1000            // number of values that the bounds of a unique field must allow
)

// kind describes a type of fields. The Go expressions in it are code for the generated module or its tests.
type kind struct {
	goType    string // Go type of a value
	isString  bool   // the Go type is a string
	maxLength int    // maximum length of a string or list without max=; if not 0, min= and max= are lengths
	limit     int    // maximum of max=, if greater than maxLength
	isNumber  bool   // min= and max= are values
	// unique is a Go expression with a different value for each n. The value is at least LOW, or has WIDTH digits. unique is ""
	// if the type cannot be unique. stored is a Go expression with a different value for each recordID.
	unique, stored string
	sample         string                 // a value in the tests; contains WORD, or N for 1, 2 and 3
	filter         string                 // type of the filter in package listing; "" if there is none
	operators      string                 // constant of package testkit: the operators of the filter
	isValue        func(text string) bool // reports whether a default is valid; nil if check has other rules
	values         string                 // describes the valid defaults in a message
	rules          []string               // rules of the validator that do not depend on the field
	format         string                 // format in the API document
	swaggerType    string                 // type in the API document, if it differs from the Go type
	longest        string                 // maximum length in the API document, if swag cannot read it from the rules
	example        string                 // example in the API document, if it does not depend on the field
	trials         []trial                // values in the test that do not depend on the field
}

var kinds = map[string]kind{
	typeString: {
		goType: "string", isString: true, maxLength: maxString, limit: maxLong, filter: "Text", operators: "ByOrder",
		stored: "recordID.Hex()", unique: `fmt.Sprintf("%0WIDTHd", n)`,
	},
	typeText: {goType: "string", isString: true, maxLength: maxText},
	typeInt: {
		goType: "int64", isNumber: true, filter: "Int", operators: "ByOrder",
		stored: "int64(recordID[10])<<8 + int64(recordID[11])", unique: "float64(LOW + n)",
		trials: []trial{{`"ten"`, "type"}, {"1.5", "type"}, {"9007199254740992.0", "type"}},
	},
	typeFloat: {
		goType: "float64", isNumber: true, filter: "Float", operators: "ByOrder",
		trials: []trial{{`"ten"`, "type"}},
	},
	typeBool: {
		goType: "bool", values: "true or false", isValue: func(text string) bool { return text == "true" || text == "false" },
		filter: "Bool", operators: "ByBool",
		trials: []trial{{`"true"`, "type"}, {"false", ""}, {"true", ""}},
	},
	typeTime: {
		goType: "store.Time", filter: "Time", operators: "ByOrder",
		sample: "2026-01-0NT00:00:00.000Z", stored: "store.At(time.Unix(int64(recordID[10])<<8 + int64(recordID[11]), 0))", unique: "store.At(time.Unix(int64(n), 0)).String()",
		format: "date-time", swaggerType: "string", example: "2026-01-02T15:04:05.678Z", trials: []trial{{`"yesterday"`, "type"}},
	},
	typeEmail: {
		goType: "string", values: "an email address", isValue: isEmail,
		isString: true, filter: "Text", operators: "ByOrder",
		sample: "WORD@example.com", stored: "recordID.Hex()", unique: `fmt.Sprintf("a%d@example.com", n)`,
		rules: []string{"maxbytes=254", "email"}, format: "email", longest: "254", example: "alice@example.com",
		trials: []trial{{`"nobody"`, "format"}, {`strings.Repeat("a", 243) + "@example.com"`, "max_length"}},
	},
	typeURL: {
		goType: "string", values: "an http:// or https:// URL", isValue: isURL,
		isString: true, filter: "Text", operators: "ByOrder",
		sample: "https://example.com/WORD", stored: "recordID.Hex()", unique: `fmt.Sprintf("https://example.com/%d", n)`,
		rules: []string{"max=2048", "http_url"}, format: "uri", example: "https://example.com/",
		trials: []trial{
			{`"javascript:alert(1)"`, "format"}, {`"https://example.com/" + strings.Repeat("x", 2028)`, ""},
			{`"https://example.com/" + strings.Repeat("x", 2029)`, "max_length"},
		},
	},
	typeEnum: {goType: "string", isString: true, filter: "Enum", operators: "ByEquality", trials: []trial{{`"none of these"`, "one_of"}}},
	typeRef: {
		goType: "store.ID", filter: "ID", operators: "ByEquality",
		sample: "00000000000000000000000N", stored: "recordID", unique: "references",
		swaggerType: "string", example: "65f0c1d2e3a4b5c6d7e8f904", trials: []trial{{`"x"`, "format"}, {"5.0", "type"}},
	},
	typeDecimal: {
		goType: "store.Decimal", isNumber: true, filter: "Decimal", operators: "ByOrder", format: "decimal",
		stored: "store.Decimal(int64(recordID[10])<<8 + int64(recordID[11]))", unique: "strconv.Itoa(LOW + n)",
		swaggerType: "string", trials: []trial{{`"ten"`, "type"}, {"true", "type"}, {`"0.1234567"`, "type"}, {`"1000000000000"`, "type"}},
	},
	typeDate: {
		goType: "store.Date", values: "a date such as 2026-01-02", isValue: func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil },
		filter: "Date", operators: "ByOrder", format: "date",
		sample: "2026-01-0N", stored: "store.Date(time.Unix((int64(recordID[10])<<8 + int64(recordID[11]))*86400, 0).UTC().Format(time.DateOnly))", unique: "time.Unix(int64(n)*86400, 0).UTC().Format(time.DateOnly)",
		swaggerType: "string", example: "2026-01-02", trials: []trial{{`"2026-02-30"`, "type"}, {"5.0", "type"}},
	},
	typeUUID: {
		goType: "store.UUID", values: "a UUID in lower case", isValue: regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString,
		filter: "UUID", operators: "ByEquality", format: "uuid",
		sample: "11111111-0000-4000-8000-00000000000N", stored: `store.UUID("00000000-0000-4000-8000-" + recordID.Hex()[12:])`, unique: `fmt.Sprintf("00000000-0000-4000-8000-%012d", n)`,
		swaggerType: "string", example: "123e4567-e89b-42d3-a456-426614174000", trials: []trial{{`"x"`, "format"}, {"5.0", "type"}},
	},
	typeJSON: {
		goType: "store.Object", swaggerType: "string", example: `{\"color\": \"red\"}`,
		trials: []trial{
			{`"x"`, "type"}, {"[]any{}", "type"}, {`map[string]any{"a": strings.Repeat("x", store.MaxObjectBytes)}`, "max_length"},
			{`map[string]any{}`, ""},
		},
	},
	typeStrings: {goType: "[]string", maxLength: maxItems, filter: "Text", operators: "ByItem"},
	typeInts:    {goType: "[]int64", maxLength: maxItems, filter: "Int", operators: "ByItem", trials: []trial{{`[]any{"x"}`, "type"}, {"[]any{1.5}", "type"}}},
	typeRefs: {
		goType: "[]store.ID", maxLength: maxItems, filter: "ID", operators: "ByItem",
		swaggerType: "array,string", example: "65f0c1d2e3a4b5c6d7e8f904", trials: []trial{{`[]any{"x"}`, "format"}, {"[]any{5.0}", "type"}},
	},
}

var typeNames = slices.Sorted(maps.Keys(kinds))
