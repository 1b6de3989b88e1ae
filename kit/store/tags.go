package store

import (
	"reflect"
	"strings"
)

// FieldName returns the JSON name of a struct field, which is its name in requests, responses and stored documents; "" if
// its tag has none.
func FieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
