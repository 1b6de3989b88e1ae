package records

import (
	"context"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// buildAll builds the documents of the records.
func (im *importer) buildAll(ctx context.Context, records []*record) error {
	return each(ctx, records, runtime.GOMAXPROCS(0), func(_ context.Context, r *record) error { return im.build(r) })
}

// build sets r.doc to the record that the Creator returns for the parameters. It then copies the fields that clients of the API cannot
// set, except version, from the file.
func (im *importer) build(r *record) error {
	doc, err := im.target.Creator.New(operator, []byte(r.JSON))
	if err != nil {
		return err
	}
	var invalid []apperr.Field
	var unchecked []string // fields that New has not checked
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if name == "id" || name == "version" || slices.Contains(im.parameters, name) {
			continue
		}
		f := field(doc, name)
		if f.IsValid() && decode(r.fields[name], f.Addr().Interface()) != nil {
			invalid = append(invalid, apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Is not a valid value."})
		}
		unchecked = append(unchecked, name)
	}
	if _, given := r.fields["updatedAt"]; !given {
		field(doc, "updatedAt").Set(field(doc, "createdAt"))
	}
	field(doc, "id").Set(reflect.ValueOf(r.id))
	switch owner := field(doc, "userId"); {
	case !owner.IsValid():
	case owner.Type() == reflect.TypeFor[store.ID]() && owner.IsZero():
		invalid = append(invalid, apperr.Field{In: "body", Param: "userId", Code: apperr.Required, Message: "Must be given."})
	case owner.Type() == reflect.TypeFor[*store.ID]() && !owner.IsNil() && owner.Elem().IsZero():
		owner.SetZero()
	}
	if parent := im.target.Spec.Parent; parent != "" && field(doc, parent).IsZero() {
		invalid = append(invalid, apperr.Field{In: "body", Param: parent, Code: apperr.Required, Message: "Must be the ID of the parent."})
	}
	if invalid != nil {
		return apperr.Invalid(invalid...)
	}
	if unchecked != nil {
		if err := rest.Validate(reflect.ValueOf(doc).Elem().Interface(), unchecked...); err != nil {
			return err
		}
	}
	r.doc = doc
	return nil
}

// field returns the document's field with the JSON name, or an invalid Value if the document has no such field.
func field(doc store.Document, name string) reflect.Value {
	v := reflect.ValueOf(doc).Elem()
	cached, ok := fieldIndexes.Load(v.Type())
	if !ok {
		indexes := make(map[string][]int)
		for _, column := range exchange.Columns(v.Type(), nil) {
			indexes[column.Name] = column.Index
		}
		cached, _ = fieldIndexes.LoadOrStore(v.Type(), indexes)
	}
	if index, ok := cached.(map[string][]int)[name]; ok {
		return v.FieldByIndex(index)
	}
	return reflect.Value{}
}

var fieldIndexes sync.Map // reflect.Type → map[string][]int
