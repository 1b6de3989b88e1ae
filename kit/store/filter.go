package store

import (
	"fmt"
	"reflect"
)

// Filter selects documents. The constructors below make one; the types are for the engines, which translate them.
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

// Comparison compares a field with a value: string, bool, int, int64, float64 or a type based on one of them, Time, ID,
// a pointer to one of these, or nil for absent. Gt, Gte, Lt and Lte never select a document that lacks the field, so
// with nil they select none; Ne does.
type Comparison struct {
	Op    Op
	Field string
	Value any
}

// Membership selects documents whose field equals one of the values, nil being absent; none, if there are no values.
type Membership struct {
	Field  string
	Values []any
}

// Connective joins filters by And or Or. And of nothing selects all, Or of nothing selects none.
type Connective struct {
	Op      Op
	Filters []Filter
}

// TextSearch selects documents in whose Spec.Search fields, taken together, every word of Text begins some word.
// Words are those of Words and QueryWords. A text without any word selects nothing.
type TextSearch struct{ Text string }

func (Comparison) filter() {}
func (Membership) filter() {}
func (Connective) filter() {}
func (TextSearch) filter() {}

// Scalar is a value of a Comparison as its basic type, which engines translate: nil, string, bool, int64, float64, ID or
// Time. Anything else is an error: a document, an array or an expression would be more than data to MongoDB.
func Scalar(v any) (any, error) {
	if IsNil(v) {
		return nil, nil
	}
	r := reflect.Indirect(reflect.ValueOf(v))
	switch v := r.Interface().(type) {
	case ID, Time:
		return v, nil
	}
	switch {
	case r.Kind() == reflect.String:
		return r.String(), nil
	case r.Kind() == reflect.Bool:
		return r.Bool(), nil
	case r.CanInt():
		return r.Int(), nil
	case r.CanFloat():
		return r.Float(), nil
	}
	return nil, fmt.Errorf("store: a filter cannot compare with %T", v)
}

// Eq selects documents whose field equals v.
func Eq(field string, v any) Filter { return Comparison{OpEq, field, v} }

// Ne selects documents whose field does not equal v, or is absent.
func Ne(field string, v any) Filter { return Comparison{OpNe, field, v} }

// Gt selects documents whose field is greater than v.
func Gt(field string, v any) Filter { return Comparison{OpGt, field, v} }

// Gte selects documents whose field is v or greater.
func Gte(field string, v any) Filter { return Comparison{OpGte, field, v} }

// Lt selects documents whose field is less than v.
func Lt(field string, v any) Filter { return Comparison{OpLt, field, v} }

// Lte selects documents whose field is v or less.
func Lte(field string, v any) Filter { return Comparison{OpLte, field, v} }

// In selects documents whose field equals one of the values.
func In(field string, values ...any) Filter { return Membership{field, values} }

// And selects what all of the filters select; nil filters are left out.
func And(filters ...Filter) Filter { return Connective{OpAnd, present(filters)} }

// Or selects what any of the filters selects.
func Or(filters ...Filter) Filter { return Connective{OpOr, present(filters)} }

// Search selects documents that hold every word of the text, as TextSearch says.
func Search(text string) Filter { return TextSearch{text} }

func present(filters []Filter) []Filter {
	out := make([]Filter, 0, len(filters))
	for _, f := range filters {
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// Change is one change of an Update.
type Change struct {
	Op    Op
	Field string
	Value any
}

// Set gives the field the value: a scalar as in Comparison, or a slice, map or struct. nil unsets.
func Set(field string, v any) Change {
	if IsNil(v) {
		return Unset(field)
	}
	return Change{OpSet, field, v}
}

// Unset takes the field away.
func Unset(field string) Change { return Change{OpUnset, field, nil} }

// Inc adds n to the number in the field; an absent one counts as 0.
func Inc(field string, n int64) Change { return Change{OpInc, field, n} }
