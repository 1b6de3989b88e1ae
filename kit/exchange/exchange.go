// Package exchange writes records to files and reads them: NDJSON, one JSON object per line, and CSV (RFC 4180).
//
// A CSV file begins with the names of the fields. A cell has a string unchanged, and any other value as JSON. An empty cell is
// null or absent. A cell that begins with =, +, -, @, a tab, a carriage return or ', and an empty string, have a ' in front, so
// that spreadsheets do not run formulas (OWASP, CSV Injection).
package exchange

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
)

// Format is a format of files.
type Format string

// The formats.
const (
	NDJSON Format = "ndjson"
	CSV    Format = "csv"
)

// Formats has the names of all formats.
var Formats = []string{string(NDJSON), string(CSV)}

// FormatOf returns the format of a file: name, or if that is "" the extension of the file, .ndjson, .jsonl or .csv.
func FormatOf(file, name string) (Format, error) {
	if name == "" {
		name = strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
		if name == "jsonl" {
			name = string(NDJSON)
		}
		if !slices.Contains(Formats, name) {
			return "", fmt.Errorf("the name %q does not end with .ndjson or .csv; name the format with --format", file)
		}
	}
	if !slices.Contains(Formats, name) {
		return "", fmt.Errorf("%q is not a format; use %s", name, strings.Join(Formats, " or "))
	}
	return Format(name), nil
}

// ContentType returns the media type.
func (f Format) ContentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8"
	}
	return "application/x-ndjson"
}

// Column is a field of the records.
type Column struct {
	Name  string
	Index []int // of the field in the struct of a record; see reflect.Value.FieldByIndex
}

// Columns returns the columns of the fields of a struct with the names; of all fields, if names is nil.
func Columns(t reflect.Type, names []string) (columns []Column) {
	for _, f := range reflect.VisibleFields(t) {
		if name := store.FieldName(f); name != "" && name != "-" && !f.Anonymous && (names == nil || slices.Contains(names, name)) {
			columns = append(columns, Column{name, f.Index})
		}
	}
	return columns
}
