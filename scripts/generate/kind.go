package main

import (
	"maps"
	"slices"
)

// The types of fields.
const (
	typeString = "string"
	typeText   = "text"
	typeInt    = "int"
	typeFloat  = "float"
	typeBool   = "bool"
	typeTime   = "time"
	typeEmail  = "email"
	typeURL    = "url"
	typeEnum   = "enum"
	typeRef    = "ref"
	typeList   = "[]string"
)

const (
	maxString = 200
	maxText   = 100_000
	maxItems  = 100
	maxInt    = 1<<53 - 1 // the largest integer that every JSON reader keeps exact (RFC 8259, section 6)
	minUnique = 1000      // values that the bounds of a unique field must allow
)

// kind describes a type of fields.
type kind struct {
	goType    string   // of a value
	isString  bool     // a Go string
	maxLength int      // of strings and lists, unless max= is lower; then min= and max= are lengths
	isNumber  bool     // min= and max= are values
	unique    bool     // can be unique
	filter    string   // type of the filter in package listing; "": cannot be filtered or sorted
	operators []string // of the filter, besides equality
	swagger   string   // type of the filter in the API document
	rules     []string // of the validator, besides those that depend on the field
	tags      string   // for the API document
	example   string   // in the API document, if it does not depend on the field
	trials    []trial  // in the test of the rules, besides those that depend on the field
}

var (
	equality = []string{"ne", "in"}
	ordering = []string{"gt", "gte", "lt", "lte", "ne", "in"}
)

var kinds = map[string]kind{
	typeString: {goType: "string", isString: true, maxLength: maxString, unique: true, filter: "Text", operators: ordering, swagger: "string"},
	typeText:   {goType: "string", isString: true, maxLength: maxText},
	typeInt: {
		goType: "int64", isNumber: true, unique: true, filter: "Int", operators: ordering, swagger: "integer",
		trials: []trial{{`"ten"`, "type"}, {"1.5", "type"}, {"9007199254740992.0", "type"}},
	},
	typeFloat: {
		goType: "float64", isNumber: true, filter: "Float", operators: ordering, swagger: "number",
		trials: []trial{{`"ten"`, "type"}},
	},
	typeBool: {
		goType: "bool", filter: "Bool", operators: []string{"ne"}, swagger: "boolean",
		trials: []trial{{`"true"`, "type"}, {"false", ""}, {"true", ""}},
	},
	typeTime: {
		goType: "store.Time", unique: true, filter: "Time", operators: ordering, swagger: "string",
		tags: `swaggertype:"string" format:"date-time"`, example: "2026-01-02T15:04:05.678Z", trials: []trial{{`"yesterday"`, "type"}},
	},
	typeEmail: {
		goType: "string", isString: true, unique: true, filter: "Text", operators: ordering, swagger: "string",
		rules: []string{"maxbytes=254", "email"}, tags: `format:"email" maxLength:"254"`, example: "alice@example.com",
		trials: []trial{{`"nobody"`, "format"}, {`strings.Repeat("a", 243) + "@example.com"`, "max_length"}},
	},
	typeURL: {
		goType: "string", isString: true, unique: true, filter: "Text", operators: ordering, swagger: "string",
		rules: []string{"max=2048", "http_url"}, tags: `format:"uri"`, example: "https://example.com/",
		trials: []trial{
			{`"javascript:alert(1)"`, "format"}, {`"https://example.com/" + strings.Repeat("x", 2028)`, ""},
			{`"https://example.com/" + strings.Repeat("x", 2029)`, "max_length"},
		},
	},
	typeEnum: {goType: "string", isString: true, filter: "Enum", operators: equality, swagger: "string", trials: []trial{{`"none of these"`, "one_of"}}},
	typeRef: {
		goType: "store.ID", unique: true, filter: "ID", operators: equality, swagger: "string",
		tags: `swaggertype:"string"`, example: "65f0c1d2e3a4b5c6d7e8f904", trials: []trial{{`"x"`, "format"}, {"5.0", "type"}},
	},
	typeList: {goType: "[]string", maxLength: maxItems},
}

var typeNames = slices.Sorted(maps.Keys(kinds))
