package store

import (
	"context"
	stdjson "encoding/json"
	"maps"
	"reflect"
	"slices"

	"example.com/ginseng/kit/apperr"
)

// OpMerge is the operation of a Change that merges an Object into the field as a JSON Merge Patch (RFC 7396): a nested object is
// merged, null removes a property, and any other value replaces one.
const OpMerge Op = "merge"

// ParseMerge is like ParseInput, for an OpMerge: it keeps properties that are null.
func (o *Object) ParseMerge(name string, value stdjson.RawMessage) []apperr.Field {
	return o.parse(name, value, true)
}

// merged returns the object after the merge of patch. It changes neither object.
func merged(object, patch map[string]any) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range patch {
		nested, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(out, name)
		case isObject:
			before, _ := out[name].(map[string]any)
			out[name] = merged(before, nested)
		default:
			out[name] = value
		}
	}
	return out
}

// objectAt returns the object in the field of doc; nil if the field is empty or no Object.
func objectAt(doc any, field string) Object {
	v := reflect.Indirect(reflect.ValueOf(doc))
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous || FieldName(f) != field {
			continue
		}
		if object, ok := asObject(v.FieldByIndex(f.Index).Interface()); ok {
			return object
		}
	}
	return nil
}

// asObject returns the Object in v, which can be an Object or a pointer to one.
func asObject(v any) (object Object, ok bool) {
	switch v := v.(type) {
	case Object:
		return v, v != nil
	case *Object:
		if v != nil {
			return *v, true
		}
	}
	return nil, false
}

// updateMerged is update for changes with an OpMerge. If another write changes the document between the reading and the writing,
// updateMerged starts again with the new version. ValidationFailed: a merged object breaks a limit of ParseInput.
func (c *core) updateMerged(ctx context.Context, f Filter, changes []Change, into any) error {
	for {
		doc := c.newDocument()
		if err := c.first(ctx, f, doc); err != nil {
			return err
		}
		set := slices.Clone(changes)
		for i, change := range set {
			if change.Op != OpMerge {
				continue
			}
			object, err := Object(merged(objectAt(doc, change.Field), change.Value.(Object))).limited(change.Field)
			if err != nil {
				return err
			}
			set[i] = Set(change.Field, object)
		}
		err := c.update(ctx, And(f, Eq("id", IDOf(doc)), Eq("version", VersionOf(doc))), set, into)
		if !apperr.Is(err, apperr.NotFound) {
			return err
		}
	}
}

// limited returns the object as ParseInput reads it, without null properties. ValidationFailed: the object breaks a limit.
func (o Object) limited(field string) (stored Object, err error) {
	data, err := stdjson.Marshal(o)
	if err != nil {
		return nil, err
	}
	fieldErrs := stored.ParseInput(field, data)
	if fieldErrs == nil {
		return stored, nil
	}
	for i := range fieldErrs {
		fieldErrs[i].In = "body"
	}
	return nil, apperr.Invalid(fieldErrs...)
}
