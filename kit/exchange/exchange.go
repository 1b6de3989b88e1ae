// Package exchange writes records to files and reads records from files. The formats are NDJSON, with one JSON object per line,
// and CSV (RFC 4180).
//
// The first line of a CSV file has the names of the fields. A cell contains a string unchanged, and any other value as JSON. An
// empty cell means that the field is null or absent. A cell that contains only an apostrophe (') is an empty string. A value that
// begins with =, +, -, @, a tab, a carriage return or ' is written with the prefix '. The prefix prevents spreadsheets from
// running the value as a formula (OWASP, CSV Injection).
//
// Use it when code has records to write to a file or to read from one; it knows no database and no API. To import or export a
// resource, use package records, and to let clients export a list, package listing.
package exchange

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
)

// Format is a file format.
type Format string

// The formats.
const (
	NDJSON Format = "ndjson"
	CSV    Format = "csv"
)

// ByteOrderMark begins a UTF-8 file that a spreadsheet has written. Excel reads a CSV file without it in the encoding of its
// language.
const ByteOrderMark = "\ufeff"

// Formats lists the names of all formats.
var Formats = []string{string(NDJSON), string(CSV)}

// FormatOf returns the format with the name. If name is "", FormatOf returns the format for the extension of file: .ndjson,
// .jsonl or .csv.
func FormatOf(file, name string) (Format, error) {
	if name == "" {
		name = strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
		if name == "jsonl" {
			name = string(NDJSON)
		}
		if !slices.Contains(Formats, name) {
			return "", fmt.Errorf("the file name %q does not end with .ndjson, .jsonl or .csv; specify the format with --format", file)
		}
	}
	if !slices.Contains(Formats, name) {
		return "", fmt.Errorf("%q is not a format; use %s", name, strings.Join(Formats, " or "))
	}
	return Format(name), nil
}

// ContentType returns the media type of the format.
func (f Format) ContentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8"
	}
	return "application/x-ndjson"
}

// Column is a field of the records.
type Column struct {
	Name  string
	Index []int // index of the field in the struct of a record, for reflect.Value.FieldByIndex
}

// Columns returns the columns for the fields of the struct type t whose names are in names. If names is nil, it returns all
// columns.
func Columns(t reflect.Type, names []string) (columns []Column) {
	for _, f := range reflect.VisibleFields(t) {
		if name := store.FieldName(f); name != "" && name != "-" && !f.Anonymous && (names == nil || slices.Contains(names, name)) {
			columns = append(columns, Column{name, f.Index})
		}
	}
	return columns
}
