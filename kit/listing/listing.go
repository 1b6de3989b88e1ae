// Package listing parses the query string of a list into a query of the store, and returns the result as a page. A Spec
// declares what clients can search, sort and filter by.
package listing

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Limits and defaults of the parameters.
const (
	DefaultLimit = 30
	MaxLimit     = 100
	MaxSkip      = 10_000  // maximum number of rows that the page parameter can skip; the after parameter has no such limit
	MaxQuery     = 200     // maximum number of characters of q
	MaxWords     = 10      // maximum number of words of q
	MaxCount     = 10_000  // maximum count of a list with q or a filter
	MaxPageBytes = 1 << 20 // maximum size of the records of a page in bytes; the first record alone may be larger
)

// Type is the type of the values of a filter.
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
	Date
	UUID
	Decimal
	Email // an email address; values are compared in their normal form
)

// typeNames are the names of the types in JSON.
var typeNames = []string{"text", "int", "float", "bool", "time", "id", "enum", "date", "uuid", "decimal", "email"}

// MarshalText implements encoding.TextMarshaler.
func (t Type) MarshalText() ([]byte, error) { return []byte(typeNames[t]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Type) UnmarshalText(name []byte) error {
	at := slices.Index(typeNames, string(name))
	if at < 0 {
		return fmt.Errorf("listing: there is no type %q", name)
	}
	*t = Type(at)
	return nil
}

// Filter declares a field that a list can be filtered by.
type Filter struct {
	Field  string   `json:"field"`
	Type   Type     `json:"type"`
	Values []string `json:"values,omitempty"` // the allowed values of an Enum
	List   bool     `json:"list,omitempty"`   // the field is a list; the filter selects records whose list contains the value
	Absent bool     `json:"absent,omitempty"` // only for a Bool: documents without the field count as false
}

// Spec declares the list of a resource. Fields are named as in the JSON of the view. The document must have the fields of
// Search, Sort and Filter under the same names, but may lack fields of the view. If clients select a field that the document
// lacks, such as a computed field, the list reads whole documents.
type Spec struct {
	Name   string   `json:"name"`             // the name of the collection, in the plural
	Title  string   `json:"title,omitempty"`  // the field that names a record in pages; "": the first field of Search
	Search []string `json:"search,omitempty"` // fields that q searches
	Sort   []string `json:"sort,omitempty"`   // fields that a list can be sorted by; createdAt is the default, newest first
	Filter []Filter `json:"filter,omitempty"`
	View   any      `json:"-"`                // the zero value of the view; clients select its fields with the fields parameter
	Expand []string `json:"expand,omitempty"` // references of the view that can be expanded; see package resource

	Files []files.Field `json:"files,omitempty"` // fields for files

	Changes bool `json:"changes,omitempty"` // the log records changes to the records; see store.Spec
	ETag    ETag `json:"etag,omitempty"`    // the ETags of the rows
}

// ETag is how the route that returns one record of a list sets the header ETag. The route responds with the same type of view.
type ETag string

// The kinds of ETags.
const (
	RecordETag ETag = ""     // with rest.Record
	ViewETag   ETag = "view" // with rest.View
	NoETag     ETag = "none" // there is no such route; the list has no etags parameter
)

// tag returns the ETag of a record. view has all fields.
func (e ETag) tag(record store.Meta, view any) string {
	if e == ViewETag {
		tag, _ := rest.ViewTag(view) // after an error, encoding the row fails too
		return tag
	}
	return rest.RecordTag(record, view)
}

const defaultSort = "createdAt"

// Store returns the store.Spec of the collection. The Spec has the indexes in more, an index on createdAt, and an index on each
// field in Sort. It also has an index on (field, createdAt) for each field in Filter that is neither a list nor in Sort.
func (s Spec) Store(more ...store.Index) store.Spec {
	out := store.Spec{Name: s.Name, Search: s.Search, Indexes: more, Changes: s.Changes}
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
		if !f.List && !slices.Contains(s.Sort, f.Field) { // indexes on list fields cost more than they save, on both engines
			add(f.Field, defaultSort)
		}
	}
	return out
}

// Page is the response of a list.
type Page[V any] struct {
	Count       *int64 `json:"count,omitempty" extensions:"x-omitempty" example:"57"`          // number of records in the whole list; with q or a filter, at most 10,000
	CountCapped bool   `json:"countCapped,omitempty" extensions:"x-omitempty" example:"false"` // true if more than count records match
	Rows        []V    `json:"rows"`                                                           // the records, with the fields selected by the fields parameter
	Next        string `json:"next,omitempty" extensions:"x-omitempty"`                        // the value of the after parameter of the next request; absent on the last page

	fields []string
	export *export[V] // nil unless the query asks for an export
	etags  *etags     // nil unless the query asks for ETags
}

// tagFunc returns the ETag of a record. record has the ID and the version; view has all fields.
type tagFunc func(record store.Meta, view any) string

// etags returns the ETags of the rows of a page.
type etags struct {
	tag     tagFunc
	records []store.Meta // of the rows
}

// Source is what Run reads: a store.Collection, or a type that embeds a store.Collection.
type Source[D store.Document] interface {
	List(context.Context, store.Query) ([]D, error)
	Page(context.Context, store.Query) ([]D, int64, error)
}

// Run returns the page that q selects in a collection. A page ends early if the next record would make the page larger than
// MaxPageBytes; the page then has the cursor of the next page. ValidationFailed: the query has the page parameter, and either
// this page ends early, or this is page 2 and page 1 ends early. Unavailable: the response is large, and other large responses
// are using the budget of ctx (rest.Budget).
func Run[D store.Document, V any](ctx context.Context, source Source[D], q Query, view func(D) V) (Page[V], error) {
	page := Page[V]{fields: q.fields}
	if stored := fieldIndexes(reflect.TypeFor[D]()); slices.ContainsFunc(q.Fields, func(name string) bool { return stored[name] == nil }) {
		q.Fields = nil
	}
	sq := q.Query
	sq.Limit++ // one more row shows whether there is a next page
	read := source.List
	if q.count {
		page.Count = new(int64)
		if q.Filter != nil {
			sq.MaxCount = MaxCount + 1
		}
		read = func(ctx context.Context, sq store.Query) ([]D, error) {
			docs, count, err := source.Page(ctx, sq)
			*page.Count = count
			return docs, err
		}
	}
	docs, early, err := readPage(ctx, source, sq, read)
	if err != nil {
		return page, err
	}
	if q.Filter != nil && q.count && *page.Count > MaxCount {
		*page.Count, page.CountCapped = MaxCount, true
	}
	skips := q.paged && early && len(docs) < q.Limit // the next page number would skip rows
	// The client may have read page 1 without the page parameter. That request does not fail if the page ends early, so check page
	// 1 in the request for page 2.
	if q.paged && q.Skip == q.Limit && !skips {
		first := q.Query
		first.Skip = 0
		_, skips, err = readPage(ctx, source, first, source.List)
		if err != nil {
			return page, err
		}
	}
	if skips {
		return page, apperr.Invalid(apperr.Field{In: "query", Param: "limit", Code: apperr.Max, Message: fmt.Sprintf("With the page parameter, a page can have "+
			"at most %d bytes of records. Use a smaller limit, exclude large fields (fields=-name), or page with after instead of page.", MaxPageBytes)})
	}
	if len(docs) > q.Limit || early {
		docs = docs[:min(len(docs), q.Limit)]
		page.Next = q.cursor(reflect.ValueOf(docs[len(docs)-1]))
	}
	page.Rows = make([]V, len(docs))
	for i, doc := range docs {
		page.Rows[i] = view(doc)
	}
	if q.etag != nil {
		page.etags = &etags{q.etag, make([]store.Meta, len(docs))}
		for i, doc := range docs {
			page.etags.records[i] = versionOf(doc)
		}
	}
	if q.format != "" {
		page.export = &export[V]{format: q.format, bom: q.bom, name: q.name, expands: q.Expand != nil}
		if page.Next != "" {
			page.export.after = q.position(reflect.ValueOf(docs[len(docs)-1]))
		}
		page = page.Then(q, func(ctx context.Context, q Query) (Page[V], error) { return Run(ctx, source, q, view) })
	}
	return page, nil
}

// readPage reads documents with read. early reports whether the documents end before the limit of sq because more documents
// would exceed MaxPageBytes. If the documents exceed rest.LargeResponse bytes, readPage reserves memory and reads them again
// with source.List.
func readPage[D store.Document](ctx context.Context, source Source[D], sq store.Query, read func(context.Context, store.Query) ([]D, error)) (
	docs []D, early bool, err error) {
	sq.Bytes = &store.Size{Max: rest.LargeResponse}
	docs, err = read(ctx, sq)
	if err != nil || !sq.Bytes.Exceeded() {
		return docs, false, err
	}
	const share = MaxPageBytes * 5 / 4 // JSON can be larger than the stored records

	docs = nil // free the memory while the request waits
	if err := rest.ReservePage(ctx, share); err != nil {
		return docs, false, err
	}
	sq.Bytes = &store.Size{Max: MaxPageBytes}
	docs, err = source.List(ctx, sq)
	return docs, sq.Bytes.Exceeded(), err
}

// JSON returns the value to encode: p, or a page with the selected fields and the ETags of the rows.
func (p Page[V]) JSON() any {
	if p.fields == nil && p.etags == nil {
		return p
	}
	out := Page[any]{Count: p.Count, CountCapped: p.CountCapped, Next: p.Next, Rows: make([]any, len(p.Rows))}
	indexes := fieldIndexes(reflect.TypeFor[V]())
	for i, row := range p.Rows {
		tag := ""
		if p.etags != nil {
			tag = p.etags.tag(p.etags.records[i], row)
		}
		out.Rows[i] = selected(row, p.fields, indexes, tag)
	}
	return out
}

// selected returns a view with only the given fields, or with all fields if fields is nil, and with its ETag, unless tag is "".
// indexes is the result of fieldIndexes for the type of the view.
func selected[V any](view V, fields []string, indexes map[string][]int, tag string) any {
	switch {
	case fields == nil && tag == "":
		return view
	case fields == nil:
		return tagged[V]{view, tag}
	}
	value, chosen := reflect.ValueOf(view), make(map[string]any, len(fields)+1)
	for _, name := range fields {
		chosen[name] = value.FieldByIndex(indexes[name]).Interface()
	}
	if tag != "" {
		chosen["etag"] = tag
	}
	return chosen
}

// tagged is a view with its ETag. store.EncodeJSON encodes both as one object.
type tagged[V any] struct {
	View V      `json:",embed"`
	ETag string `json:"etag"`
}

// versionOf returns the ID and the version of a document.
func versionOf(doc store.Document) store.Meta {
	return store.Meta{ID: store.IDOf(doc), Version: store.VersionOf(doc)}
}

var indexCache sync.Map // reflect.Type → map[string][]int

// fieldIndexes returns the indexes of the fields that store.FieldNames returns, by name.
func fieldIndexes(t reflect.Type) map[string][]int {
	if cached, ok := indexCache.Load(t); ok {
		return cached.(map[string][]int)
	}
	indexes := make(map[string][]int)
	for _, f := range reflect.VisibleFields(t) {
		if name := store.FieldName(f); name != "" && !f.Anonymous {
			indexes[name] = f.Index
		}
	}
	indexCache.Store(t, indexes)
	return indexes
}

// Params documents the parameters of every list. The OpenAPI document gets the other parameters from the Spec of the list.
type Params struct {
	Page  int    `form:"page" minimum:"1"`                             // page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after
	Limit int    `form:"limit" minimum:"1" maximum:"100" default:"30"` // maximum number of rows per page
	After string `form:"after"`                                        // the value of next in the previous page; cannot be combined with page
	Count bool   `form:"count" default:"true"`                         // false omits count from the response, which is faster

	Format string `form:"format" enums:"ndjson,csv"` // exports all rows in this format; cannot be combined with page or limit
	BOM    bool   `form:"bom" default:"false"`       // with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8
}

// cursor returns the cursor of the position after a document.
func (q Query) cursor(doc reflect.Value) string { return q.seal(q.position(doc)) }

// position returns the position after a document, as in store.Query.After.
func (q Query) position(doc reflect.Value) []any {
	indexes := fieldIndexes(doc.Type())
	values := make([]any, 0, len(q.Sort)+1)
	for _, order := range q.Sort {
		values = append(values, doc.FieldByIndex(indexes[order.Field]).Interface())
	}
	return append(values, doc.FieldByIndex(indexes["id"]).Interface())
}
