package store

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/suggest"
)

// names has the field names that filters, sorts and changes of a collection can use. Engines do not check that the fields exist,
// because migrations use the names of earlier versions.
type names struct {
	collection string
	fields     fields
}

// fields has the fields of a struct by JSON name. Each value has the nested fields of the field; nil if there are none.
type fields map[string]fields

// anyName stands for the fields of a map or an interface, which can have any name.
var anyName = fields{"*": nil}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// fieldsOf returns the fields of a type. It returns nil for a type without named fields, such as a list, and for a type with its
// own encoding, such as Time. A type can refer to itself, so seen has the fields of the types that fieldsOf has already visited.
func fieldsOf(t reflect.Type, seen map[reflect.Type]fields) fields {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map, t.Kind() == reflect.Interface:
		return anyName
	case t.Kind() != reflect.Struct, reflect.PointerTo(t).Implements(jsonMarshaler), reflect.PointerTo(t).Implements(textMarshaler):
		return nil
	case seen[t] != nil:
		return seen[t]
	}
	found := fields{}
	seen[t] = found
	for _, f := range reflect.VisibleFields(t) {
		if name := FieldName(f); name != "" && name != "-" && !f.Anonymous {
			found[name] = fieldsOf(f.Type, seen)
		}
	}
	return found
}

// embedded returns an error if MongoDB would store an embedded struct of the type otherwise than JSON has it: its codec skips structs
// that are not exported, and inlines only those with the tag.
func (n names) embedded(t reflect.Type) error {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous || FieldName(f) == "-" {
			continue
		}
		if _, options, _ := strings.Cut(f.Tag.Get("bson"), ","); !f.IsExported() || !slices.Contains(strings.Split(options, ","), "inline") {
			return fmt.Errorf("store: the collection %s embeds %s, which MongoDB would not store as its own fields: export the type, and add the tag `bson:\",inline\"`", n.collection, f.Name)
		}
	}
	return nil
}

// check returns an error unless the type has a field at the path, such as "profile.city". The error suggests the field with the
// most similar name.
func (n names) check(path string) error {
	at := n.fields
	for i, name := range strings.Split(path, ".") {
		if _, ok := at["*"]; ok {
			return nil
		}
		next, ok := at[name]
		if !ok {
			parent := strings.Join(strings.Split(path, ".")[:i], ".")
			return n.unknown(path, parent, suggest.Nearest(name, slices.Sorted(maps.Keys(at))))
		}
		at = next
	}
	return nil
}

// unknown returns the error for a path with an unknown field. nearest is the field of parent with the most similar name, or "".
func (n names) unknown(path, parent, nearest string) error {
	hint := ""
	if nearest != "" {
		hint = fmt.Sprintf("; did you mean %q?", strings.TrimPrefix(parent+"."+nearest, "."))
	}
	return fmt.Errorf("store: the collection %s has no field %q%s", n.collection, path, hint)
}

// filter returns an error if a filter names an unknown field.
func (n names) filter(f Filter) error {
	switch f := f.(type) {
	case Comparison:
		return n.check(f.Field)
	case Membership:
		return n.check(f.Field)
	case Connective:
		for _, filter := range f.Filters {
			if err := n.filter(filter); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n names) query(q Query) error {
	for _, order := range q.Sort {
		if err := n.check(order.Field); err != nil {
			return err
		}
	}
	for _, field := range q.Fields {
		if err := n.check(field); err != nil {
			return err
		}
	}
	return n.filter(q.Filter)
}

func (n names) changes(f Filter, changes []Change) error {
	for _, change := range changes {
		if err := n.check(change.Field); err != nil {
			return err
		}
	}
	return n.filter(f)
}

// spec checks the fields of Search, LogFields, Scope and Indexes. It also fails if a unique index has a list field.
func (n names) spec(s Spec) error {
	if err := n.embedded(s.document); err != nil {
		return err
	}
	for _, field := range slices.Concat(s.Search, s.LogFields, s.Scope) {
		if err := n.check(field); err != nil {
			return err
		}
	}
	for _, index := range s.Indexes {
		for _, field := range index.Fields {
			if err := n.check(field); err != nil {
				return err
			}
			if index.Unique && isList(s.document, field) {
				return fmt.Errorf("store: the unique index of %s cannot contain the list %q, because engines compare lists differently", n.collection, field)
			}
		}
	}
	return nil
}

// isList reports whether the field at path is a list, or belongs to the items of a list.
func isList(t reflect.Type, path string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path == "" || t.Kind() != reflect.Struct {
		return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 // []byte is a string in JSON
	}
	name, rest, _ := strings.Cut(path, ".")
	fields := reflect.VisibleFields(t)
	i := slices.IndexFunc(fields, func(f reflect.StructField) bool { return !f.Anonymous && FieldName(f) == name })
	return i >= 0 && isList(fields[i].Type, rest)
}
