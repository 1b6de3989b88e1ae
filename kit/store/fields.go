package store

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// SetDefaults sets the fields of a struct that have the tag default to that value, and nil lists to empty ones. dst is a
// pointer to a zero struct; other types are ignored. A default is JSON, or a string without its quotes. SetDefaults panics
// if it does not fit the field's type.
func SetDefaults(dst any) {
	v := reflect.ValueOf(dst).Elem()
	if v.Kind() != reflect.Struct {
		return
	}
	for _, d := range defaultsOf(v.Type()) {
		v.FieldByIndex(d.index).Set(d.value)
	}
}

type fieldDefault struct {
	index []int
	value reflect.Value
}

var defaultCache sync.Map // reflect.Type → []fieldDefault

func defaultsOf(t reflect.Type) (out []fieldDefault) {
	if cached, ok := defaultCache.Load(t); ok {
		return cached.([]fieldDefault)
	}
	for _, f := range reflect.VisibleFields(t) {
		value := reflect.New(f.Type)
		if text, ok := f.Tag.Lookup("default"); ok {
			if json.Unmarshal([]byte(text), value.Interface()) != nil {
				if err := json.Unmarshal([]byte(strconv.Quote(text)), value.Interface()); err != nil {
					panic(fmt.Sprintf("store: the field %s of %s cannot have the default %s: %v", f.Name, t, text, err))
				}
			}
		} else if f.Type.Kind() == reflect.Slice {
			value.Elem().Set(reflect.MakeSlice(f.Type, 0, 0))
		} else {
			continue
		}
		out = append(out, fieldDefault{f.Index, value.Elem()})
	}
	defaultCache.Store(t, out)
	return out
}

// FieldName returns the JSON name of a struct field, which is its name in requests, responses and stored documents; "" if
// its tag has none.
func FieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// FieldNames returns the JSON names of a struct's fields, with those of embedded structs.
func FieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := FieldName(f); name != "" && !f.Anonymous {
			names = append(names, name)
		}
	}
	return names
}
