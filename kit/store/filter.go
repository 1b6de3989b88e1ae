package store

import (
	"context"
	"reflect"
	"slices"

	"example.com/ginseng/kit/apperr"
)

// Filter selects documents. The functions below return filters; the types are exported for the engines.
type Filter interface{ filter() }

// Op is a comparison, a connective or a kind of change.
type Op string

// The comparisons, connectives and changes.
const (
	OpEq    Op = "eq"
	OpNe    Op = "ne"
	OpGt    Op = "gt"
	OpGte   Op = "gte"
	OpLt    Op = "lt"
	OpLte   Op = "lte"
	OpAnd   Op = "and"
	OpOr    Op = "or"
	OpSet   Op = "set"
	OpUnset Op = "unset"
	OpInc   Op = "inc"
)

// Comparison selects documents by comparing a field with a scalar. A scalar is a Time, a Decimal, an ID, or a value whose
// underlying type is string, bool, a signed integer or a float. A pointer to such a value and nil are also scalars. nil stands
// for an absent field. Gt, Gte, Lt and Lte select only documents with the field, and select nothing if the value is nil. Ne also
// selects documents without the field, unless the value is nil.
type Comparison struct {
	Op    Op
	Field string
	Value any
}

// Membership selects documents whose field equals one of the values. If List is true, it selects documents whose field is a
// list that contains one of the values. If List is false, the value nil selects documents without the field. Without values, a
// Membership selects nothing.
type Membership struct {
	Field  string
	Values []any
	List   bool // the field is a list
}

// Connective joins filters by OpAnd or OpOr. An empty And selects all documents. An empty Or selects no document.
type Connective struct {
	Op      Op
	Filters []Filter
}

// TextSearch selects documents in which each word of Text is the prefix of a word in one of the Spec.Search fields. Package
// textsearch defines the words. A Text without words selects nothing.
type TextSearch struct{ Text string }

func (Comparison) filter() {}
func (Membership) filter() {}
func (Connective) filter() {}
func (TextSearch) filter() {}

// Eq selects documents whose field equals v.
func Eq(field string, v any) Filter { return Comparison{OpEq, field, v} }

// Ne selects documents whose field does not equal v, including documents without the field. With nil, it selects documents that
// have the field.
func Ne(field string, v any) Filter { return Comparison{OpNe, field, v} }

// Gt selects documents whose field is greater than v.
func Gt(field string, v any) Filter { return Comparison{OpGt, field, v} }

// Gte selects documents whose field is v or greater.
func Gte(field string, v any) Filter { return Comparison{OpGte, field, v} }

// Lt selects documents whose field is less than v.
func Lt(field string, v any) Filter { return Comparison{OpLt, field, v} }

// Lte selects documents whose field is v or less.
func Lte(field string, v any) Filter { return Comparison{OpLte, field, v} }

// In selects documents whose field equals one of the values; nil stands for an absent field.
func In(field string, values ...any) Filter { return Membership{Field: field, Values: values} }

// Values returns the items of list in a slice that can be passed to In and Contains.
func Values[T any](list []T) []any {
	values := make([]any, len(list))
	for i, item := range list {
		values[i] = item
	}
	return values
}

// Contains selects documents whose field is a list that contains at least one of the values.
func Contains(field string, values ...any) Filter {
	return Membership{Field: field, Values: values, List: true}
}

// And selects the documents that all filters select. It ignores nil filters. If one filter remains, And returns it unchanged.
func And(filters ...Filter) Filter {
	filters = present(filters)
	if len(filters) == 1 {
		return filters[0]
	}
	return Connective{OpAnd, filters}
}

// Or selects the documents that at least one filter selects. It ignores nil filters.
func Or(filters ...Filter) Filter { return Connective{OpOr, present(filters)} }

// Search selects documents that contain every word of text. See TextSearch.
func Search(text string) Filter { return TextSearch{text} }

func present(filters []Filter) []Filter {
	return slices.DeleteFunc(append([]Filter{}, filters...), func(f Filter) bool { return f == nil })
}

// Change is one change of an Update.
type Change struct {
	Op    Op
	Field string
	Value any
	// Implied is set by Collection.Update. An implied change is stored only together with another change that modifies the document.
	Implied bool
}

// Set sets the field to a scalar (see Comparison), slice, map or struct. nil removes the field.
func Set(field string, v any) Change {
	if IsNil(v) {
		return Unset(field)
	}
	return Change{Op: OpSet, Field: field, Value: v}
}

// Unset removes the field.
func Unset(field string) Change { return Change{Op: OpUnset, Field: field} }

// Inc adds n to the number in the field. An absent field counts as 0.
func Inc(field string, n int64) Change { return Change{Op: OpInc, Field: field, Value: n} }

// Patch is the input of an update: new values for some fields of T, a struct with json tags.
type Patch[T any] struct {
	Fields T
	Given  []string // JSON names of the fields to change; the values of other fields are ignored
	Merge  bool     // an Object is a JSON Merge Patch of the field (see OpMerge), and otherwise its new value
}

// Has reports whether the patch changes the field with the JSON name.
func (p Patch[T]) Has(name string) bool { return slices.Contains(p.Given, name) }

// Changes returns a change for each field in Given; nil if Given is empty. The change for a nil pointer removes the field.
func (p Patch[T]) Changes() (changes []Change) {
	v := reflect.ValueOf(p.Fields)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name := FieldName(f); !f.Anonymous && p.Has(name) {
			change := Set(name, v.FieldByIndex(f.Index).Interface())
			if patch, ok := asObject(change.Value); ok && p.Merge {
				change = Change{Op: OpMerge, Field: name, Value: patch}
			}
			changes = append(changes, change)
		}
	}
	return changes
}

// Apply copies the fields in Given to doc, a pointer to a struct. It ignores fields that the struct does not have. If Merge is
// set, it merges objects. ValidationFailed: a merged object breaks a limit of Object.ParseInput; Apply does not change its field.
func (p Patch[T]) Apply(doc any) (err error) {
	from, to := reflect.ValueOf(p.Fields), reflect.ValueOf(doc).Elem()
	for _, f := range reflect.VisibleFields(to.Type()) {
		for _, given := range reflect.VisibleFields(from.Type()) {
			if name := FieldName(f); !f.Anonymous && !given.Anonymous && name == FieldName(given) && p.Has(name) {
				value := from.FieldByIndex(given.Index)
				if patch, ok := asObject(value.Interface()); ok && p.Merge {
					object, limitErr := Object(merged(objectAt(doc, name), patch)).limited(name)
					if limitErr != nil {
						err = apperr.JoinInvalid(err, limitErr)
						continue
					}
					value = reflect.ValueOf(&object)
					if f.Type.Kind() != reflect.Pointer {
						value = value.Elem()
					}
				}
				to.FieldByIndex(f.Index).Set(value.Convert(f.Type))
			}
		}
	}
	return err
}

// Versions are the accepted versions of a document that is to be changed (If-Match in RFC 9110). nil accepts any version. An
// empty list accepts no version.
type Versions []int64

// ErrStale is returned if the document does not exist or does not have one of the accepted Versions.
var ErrStale = apperr.New(apperr.PreconditionFailed, "The record has changed since it was read. Read it again and apply your change to the new version.")

// Check returns ErrStale unless v accepts the version.
func (v Versions) Check(version int64) error {
	if v == nil || slices.Contains(v, version) {
		return nil
	}
	return ErrStale
}

// filter returns the filter that selects the document with the id if it has one of the versions.
func (v Versions) filter(id ID) Filter {
	if v == nil {
		return Eq("id", id)
	}
	return And(Eq("id", id), In("version", Values(v)...))
}

// notFound returns the error for an operation in which v.filter has selected no document. If v is not nil, the error is ErrStale,
// even if the document does not exist (RFC 9110, section 13.1.1).
func (v Versions) notFound() error {
	if v == nil {
		return ErrNotFound
	}
	return ErrStale
}

// UpdateByID updates the document with the id like Update, and returns the new version. Errors: NotFound if versions is nil and the
// document does not exist; ErrStale if versions is not nil and no document with the id has one of the versions; Conflict as in
// Update.
func (c *Collection[T]) UpdateByID(ctx context.Context, id ID, versions Versions, changes ...Change) (T, error) {
	doc, err := c.Update(ctx, versions.filter(id), changes...)
	return doc, apperr.Replace(err, apperr.NotFound, versions.notFound())
}

// DeleteByID deletes the document with the id. Errors: NotFound if versions is nil and the document does not exist; ErrStale if
// versions is not nil and no document with the id has one of the versions.
func (c *core) DeleteByID(ctx context.Context, id ID, versions Versions) error {
	n, err := c.Delete(ctx, versions.filter(id))
	if err == nil && n == 0 {
		err = versions.notFound()
	}
	return err
}
