package rest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

var (
	fileType  = reflect.TypeFor[*files.File]()
	filesType = reflect.TypeFor[[]files.File]()
	viewNames = store.FieldNames(reflect.TypeFor[files.View]())
)

// decodeFile is decodeField for a field for files. The view of a file is not given, because clients send back the record that they
// received.
func (p Params) decodeFile(f field, dst reflect.Value) (given, empty bool, fieldErrs []apperr.Field) {
	isList := dst.Type() == filesType
	part := p.files[f.name]
	texts, raws := p.form[f.name], []json.RawMessage{p.json[f.name]}
	for _, text := range texts {
		raws = append(raws, json.RawMessage(strings.TrimSpace(text)))
	}
	for _, raw := range raws {
		switch {
		case len(raw) == 0:
		case string(raw) == "null":
			given = true
		case !isView(raw, isList):
			fieldErrs = f.bodyErrors(&apperr.Field{Code: apperr.Type, Message: "Must be a file in a multipart/form-data body, or null to delete."})
		}
	}
	if part == nil {
		return given, true, fieldErrs
	}
	if given && len(part.files) > 0 {
		fieldErrs = f.bodyErrors(&apperr.Field{Code: apperr.Type, Message: "Must be a file or null, not both."})
	}
	fieldErrs = append(fieldErrs, part.fieldErrs...)
	if len(part.files) == 0 || fieldErrs != nil {
		return given, fieldErrs == nil, fieldErrs
	}
	if !isList {
		dst.Set(reflect.ValueOf(part.files[0]))
		return true, false, nil
	}
	list := make([]files.File, len(part.files))
	for i, file := range part.files {
		list[i] = *file
	}
	dst.Set(reflect.ValueOf(list))
	return true, false, nil
}

// isView reports whether a JSON value is the view of a file, or a list of them.
func isView(raw json.RawMessage, isList bool) bool {
	list := []json.RawMessage{raw}
	if isList && json.Unmarshal(raw, &list) != nil {
		return false
	}
	return !slices.ContainsFunc(list, func(item json.RawMessage) bool {
		object, err := parseObject(item)
		for name := range object {
			if !slices.Contains(viewNames, name) {
				return true
			}
		}
		return err != nil || len(object) == 0
	})
}
