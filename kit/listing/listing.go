// Package listing turns the query string of a list into a query of the store, and the documents it finds into a page.
// What a caller may search, sort and filter by is declared once for each resource, in a Spec.
package listing

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
)

// Bounds and defaults of the parameters.
const (
	DefaultLimit = 30
	MaxLimit     = 100
	MaxSkip      = 10_000 // rows that page may pass over; after has no bound
	MaxQuery     = 200    // characters of q
)

// Type is what the values of a filter are.
type Type int

// The types of filters.
const (
	Text Type = iota
	Int
	Float
	Bool
	Time
	ID
	Enum
)

// Filter is a field that a list can be filtered by.
type Filter struct {
	Field  string
	Type   Type
	Values []string // of an Enum
}

// Spec declares what callers may ask of a resource's list. Names are those of the view's fields, which are the
// document's too.
type Spec struct {
	Name   string   // of the collection, in the plural
	Search []string // fields whose words q finds
	Sort   []string // fields a list can be sorted by; createdAt is the default, newest first
	Filter []Filter
	View   any // the zero view: its fields are what `fields` may name
}

const defaultSort = "createdAt"

// Store is the declaration of the collection behind the list: an index for each sort, one for each filter in the
// default order, and those of more.
func (s Spec) Store(more ...store.Index) store.Spec {
	out := store.Spec{Name: s.Name, Search: s.Search, Indexes: more}
	add := func(fields ...string) {
		if !slices.ContainsFunc(out.Indexes, func(i store.Index) bool { return !i.Unique && slices.Equal(i.Fields, fields) }) {
			out.Indexes = append(out.Indexes, store.Index{Fields: fields})
		}
	}
	add(defaultSort)
	for _, field := range s.Sort {
		add(field)
	}
	for _, f := range s.Filter {
		if !slices.Contains(s.Sort, f.Field) {
			add(f.Field, defaultSort)
		}
	}
	return out
}

// Page is the answer of a list.
type Page[V any] struct {
	Count *int64 `json:"count,omitempty" extensions:"x-omitempty"` // of the whole list, however much of it this page shows
	Rows  []V    `json:"rows"`                                     // whole records, or of each what the parameter fields asks for
	Next  string `json:"next,omitempty" extensions:"x-omitempty"`  // for the parameter after, if a row follows

	fields []string
}

// Run returns the page of a collection that a query asks for.
func Run[D store.Document, V any](ctx context.Context, c *store.Collection[D], q Query, view func(D) V) (Page[V], error) {
	page := Page[V]{fields: q.fields}
	sq := q.Query
	sq.Limit++ // one more row shows whether there is a next page
	var docs []D
	var err error
	if q.count {
		page.Count = new(int64)
		docs, *page.Count, err = c.Page(ctx, sq)
	} else {
		docs, err = c.List(ctx, sq)
	}
	if err != nil {
		return page, err
	}
	if len(docs) > q.Limit {
		docs = docs[:q.Limit]
		page.Next = q.cursor(reflect.ValueOf(docs[q.Limit-1]))
	}
	page.Rows = make([]V, len(docs))
	for i, doc := range docs {
		page.Rows[i] = view(doc)
	}
	return page, nil
}

// JSON is what to encode: the page as it is, or rows of just the fields that the caller chose.
func (p Page[V]) JSON() any {
	if p.fields == nil {
		return p
	}
	out := Page[map[string]any]{Count: p.Count, Next: p.Next, Rows: make([]map[string]any, len(p.Rows))}
	indexes := make([][]int, len(p.fields))
	for i, name := range p.fields {
		indexes[i] = fieldIndex(reflect.TypeFor[V](), name)
	}
	for i, row := range p.Rows {
		value, chosen := reflect.ValueOf(row), make(map[string]any, len(p.fields))
		for k, name := range p.fields {
			chosen[name] = value.FieldByIndex(indexes[k]).Interface()
		}
		out.Rows[i] = chosen
	}
	return out
}

// fieldNames are the JSON names of a struct's fields, those of embedded structs included.
func fieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// fieldIndex finds the field of a struct with the JSON name; there must be one.
func fieldIndex(t reflect.Type, name string) []int {
	for _, f := range reflect.VisibleFields(t) {
		if jsonName(f) == name {
			return f.Index
		}
	}
	panic("listing: " + t.String() + " has no field " + name)
}

func jsonName(f reflect.StructField) string {
	if f.Anonymous {
		return ""
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
