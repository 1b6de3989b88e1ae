package main

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
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
	typeFile    = "file"
	typeImage   = "image"
	typeFiles   = "[]file"
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

// kind describes a type of fields: all that the generated module and the messages of this command need to know. A new type also needs
// the values that tests send (testkit/field_kinds.go), a place in the usage and in docs/listings.md, a row in
// scripts/checks/matrix.sh and, for a new rule of the validator, a message in package rest.
type kind struct {
	goType    string // Go type of a value
	operators string // constant of package testkit: the operators of the filter
	filter    string // type of the filter in package listing; "" if there is none
	search    bool   // fields can have search
	unique    bool   // fields can have unique
	isList    bool
	isFile    bool // values are files: they have routes, and are no parameters in JSON; max= is a size
	neverNull bool // an absent value is "", which is valid, unless the field is unique
	converts  bool // a migration can convert values to and from the other types that have converts
	hasColons bool // a default can have colons

	maxLength int     // maximum length of a string or list without max=; if not 0, min= and max= are lengths
	limit     int     // maximum of max=, if greater than maxLength
	isNumber  bool    // min= and max= are values
	greatest  float64 // the greatest absolute value of a number
	isInteger bool
	isExact   bool // a number keeps all of its decimals
	bytes     int  // longest value in a form, percent-encoded; 0: the value is short, or maxLength limits it

	parse        func(f *Field, parameter string, bad reporter) // parses the text in the parentheses after the type; nil if there are none
	parameter    func(f Field) string                           // writes what parse reads
	checkDefault func(f *Field, bad reporter)                   // reports an invalid default; nil if a default is not possible
	rules        func(f Field) []string                         // rules of the validator besides required, min and max
	bound        string                                         // beginning of the names of the rules min and max
	note         func(f Field) string                           // comment on the field

	// In the API document:

	format      string
	swaggerType string               // type, if it differs from the Go type
	longest     string               // maximum length, if swag cannot read it from the rules
	extension   string               // additional property
	example     func(f Field) string // example of a field without a default
}

// reporter reports a mistake in a declaration.
type reporter = func(format string, args ...any)

// always returns a function that ignores the field.
func always[T any](value T) func(Field) T { return func(Field) T { return value } }

const exampleID = "65f0c1d2e3a4b5c6d7e8f904"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// kinds returns the kind of each type. It is a function because the kinds refer to functions that call it.
func kinds() map[string]kind {
	return map[string]kind{
		typeString: {
			goType: "string", operators: "ByOrder", filter: "Text", search: true, unique: true, neverNull: true, converts: true,
			maxLength: maxString, limit: maxLong, checkDefault: (*Field).checkText, example: Field.exampleText,
		},
		typeText: {
			goType: "string", search: true, neverNull: true, converts: true,
			maxLength: maxText, checkDefault: (*Field).checkText, example: Field.exampleText,
		},
		typeInt: {
			goType: "int64", operators: "ByOrder", filter: "Int", unique: true, converts: true,
			isNumber: true, isInteger: true, greatest: maxInt, checkDefault: (*Field).checkNumber, example: Field.exampleNumber,
		},
		typeFloat: {
			goType: "float64", operators: "ByOrder", filter: "Float", converts: true,
			isNumber: true, greatest: math.MaxFloat64, checkDefault: (*Field).checkNumber, example: Field.exampleNumber,
		},
		typeDecimal: {
			goType: "store.Decimal", operators: "ByOrder", filter: "Decimal", unique: true, converts: true,
			isNumber: true, isExact: true, greatest: maxDecimal, bound: "dec", checkDefault: (*Field).checkNumber,
			format: "decimal", swaggerType: "string", example: Field.exampleNumber,
		},
		typeBool: {
			goType: "bool", operators: "ByBool", filter: "Bool", converts: true,
			checkDefault: checkValue("true or false", func(text string) bool { return text == "true" || text == "false" }), example: always("false"),
		},
		typeTime: {
			goType: "store.Time", operators: "ByOrder", filter: "Time", unique: true, converts: true, hasColons: true,
			checkDefault: (*Field).checkTime, format: "date-time", swaggerType: "string", example: always("2026-01-02T15:04:05.678Z"),
		},
		typeDate: {
			goType: "store.Date", operators: "ByOrder", filter: "Date", unique: true, converts: true,
			checkDefault: checkValue("a date such as 2026-01-02", func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil }),
			format:       "date", swaggerType: "string", example: always("2026-01-02"),
		},
		typeEmail: {
			goType: "string", operators: "ByOrder", filter: "Text", search: true, unique: true, converts: true,
			checkDefault: checkValue("an email address", isEmail), rules: always([]string{"maxbytes=254", "email"}),
			format: "email", longest: "254", example: always("alice@example.com"),
		},
		typeURL: {
			goType: "string", operators: "ByOrder", filter: "Text", search: true, unique: true, converts: true, hasColons: true, bytes: 2048 * 3,
			checkDefault: checkValue("an http:// or https:// URL", isURL), rules: always([]string{"max=2048", "http_url"}),
			format: "uri", example: always("https://example.com/"),
		},
		typeUUID: {
			goType: "store.UUID", operators: "ByEquality", filter: "UUID", unique: true, converts: true,
			checkDefault: checkValue("a UUID in lower case", uuid.MatchString),
			format:       "uuid", swaggerType: "string", example: always("123e4567-e89b-42d3-a456-426614174000"),
		},
		typeEnum: {
			goType: "string", operators: "ByEquality", filter: "Enum", converts: true,
			parse: (*Field).parseValues, parameter: func(f Field) string { return strings.Join(f.Values, ",") }, checkDefault: (*Field).checkEnum,
			rules:   func(f Field) []string { return []string{"oneof=" + strings.Join(f.Values, " ")} },
			example: func(f Field) string { return f.Values[0] },
		},
		typeJSON: {goType: "store.Object", swaggerType: "string", extension: "x-json=object", example: always(`{\"color\": \"red\"}`)},
		typeRef: {
			goType: "store.ID", operators: "ByEquality", filter: "ID", unique: true,
			parse: (*Field).parseTarget, parameter: func(f Field) string { return f.Target },
			note:        func(f Field) string { return "ID of " + withArticle(inWords(f.Target)) },
			swaggerType: "string", example: always(exampleID),
		},
		typeStrings: {
			goType: "[]string", operators: "ByItem", filter: "Text", isList: true, maxLength: maxItems,
			rules: always([]string{"dive", fmt.Sprint("max=", maxString)}),
			example: func(f Field) string {
				word := f.exampleWord()
				return f.exampleItems(word, func(i int) string { return fmt.Sprintf("%s%03d", word, i) })
			},
		},
		typeInts: {
			goType: "[]int64", operators: "ByItem", filter: "Int", isList: true, maxLength: maxItems,
			example: func(f Field) string { return f.exampleItems("1", func(i int) string { return fmt.Sprint(1000 + i) }) },
		},
		typeRefs: {
			goType: "[]store.ID", operators: "ByItem", filter: "ID", isList: true, maxLength: maxItems,
			parse: (*Field).parseTarget, parameter: func(f Field) string { return f.Target },
			note:        func(f Field) string { return "IDs of " + inWords(plural(f.Target)) },
			swaggerType: "array,string",
			example: func(f Field) string {
				return strings.Join(slices.Repeat([]string{exampleID}, max(1, f.MinLength())), ",")
			},
		},
		typeFile:  {goType: "files.File", isFile: true},
		typeImage: {goType: "files.File", isFile: true},
		typeFiles: {goType: "[]files.File", isFile: true, isList: true},
	}
}

// typeNames returns the names of the types, sorted.
func typeNames() []string { return slices.Sorted(maps.Keys(kinds())) }
