package store

import (
	"reflect"
	"strings"
)

// Changes returns the changes for the input of an update: a struct of pointers with JSON names. A nil pointer makes
// no change. A pointer to nil, or to a zero value in a field with omitempty, is Unset. A pointer to a nil slice sets
// an empty slice. Any other pointer is Set.
func Changes(input any) (changes []Change) {
	v := reflect.ValueOf(input)
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if value.IsNil() {
			continue
		}
		value = value.Elem()
		name, omitEmpty := FieldName(field), strings.HasSuffix(field.Tag.Get("json"), ",omitempty")
		switch {
		case omitEmpty && value.IsZero():
			changes = append(changes, Unset(name))
		case value.Kind() == reflect.Slice && value.IsNil():
			changes = append(changes, Set(name, reflect.MakeSlice(value.Type(), 0, 0).Interface()))
		default:
			changes = append(changes, Set(name, value.Interface()))
		}
	}
	return changes
}
