package store

import (
	"reflect"
	"strings"
)

// Changes returns a Set for each field of a struct that is not nil: the input of an update, whose fields are pointers with
// JSON names. A pointer to nil is Unset, as is "" in a field with omitempty; a pointer to a nil slice sets an empty one.
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
