// Package engine has the code that the engines of package store share. Only engines need it.
package engine

import (
	"fmt"
	"reflect"
	"slices"

	"example.com/ginseng/kit/store"
)

// TotalOrder returns sort with the id as its last field, so that no two documents compare equal. If sort has no id, TotalOrder
// appends the id in the direction of the last field. Otherwise it removes the fields after the id.
func TotalOrder(sort []store.Order) []store.Order {
	if i := slices.IndexFunc(sort, func(o store.Order) bool { return o.Field == "id" }); i >= 0 {
		return sort[:i+1]
	}
	last := store.Order{Field: "id"}
	if len(sort) > 0 {
		last.Desc = sort[len(sort)-1].Desc
	}
	return append(slices.Clone(sort), last)
}

// HasSearch reports whether f is or contains a TextSearch.
func HasSearch(f store.Filter) bool {
	switch f := f.(type) {
	case store.TextSearch:
		return true
	case store.Connective:
		return slices.ContainsFunc(f.Filters, HasSearch)
	}
	return false
}

// Scalar converts the value of a Comparison to nil, string, bool, int64, float64, ID or Time. It fails for other types, such as a
// map or a slice, because their values could contain MongoDB operators.
func Scalar(v any) (any, error) {
	if store.IsNil(v) {
		return nil, nil
	}
	r := reflect.Indirect(reflect.ValueOf(v))
	switch v := r.Interface().(type) {
	case store.ID, store.Time:
		return v, nil
	case store.Decimal:
		return v.Stored(), nil
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
	return nil, fmt.Errorf("store: a filter cannot compare a field with a value of type %T", v)
}

// Conditions returns the changes of an update that stores nothing if the document already has their values. The result is nil if
// the changes always modify the document.
func Conditions(changes []store.Change) []store.Change {
	if slices.ContainsFunc(changes, func(c store.Change) bool { return c.Op == store.OpInc }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c store.Change) bool { return c.Implied })
}
