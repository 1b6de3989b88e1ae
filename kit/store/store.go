// Package store is what a module sees of a database: a Collection of documents with a few verbs, typed filters and
// typed changes. Two engines stand behind it, mongo and sqlite, held to one behaviour by storetest. It is no second
// MongoDB: what these verbs cannot say is written against the driver, visibly, in the module that needs it.
//
// # Rules that both engines keep
//
//   - A document is a Go struct that embeds Meta, with `json` tags; both engines use these names. A dotted path
//     ("profile.city") names a nested field. "id" names the key.
//   - null and absent are the same: a nil pointer is not stored. Eq(field, nil) finds documents without the field.
//   - Insert, Update and Delete of one document are atomic and durable when they return; two of them on one document
//     happen one after the other. Every Update raises Meta.Version by one.
//   - Text compares by code point; absent values sort before all others; ties are broken by id, in the direction of
//     the last Order.
//   - Unique indexes ignore documents that lack a field of theirs.
//   - Errors are *apperr.Error: NotFound (no such document), Conflict (Fields names the duplicate field), Unavailable
//     (the database is away, full, read-only, or the context ended; errors.Is finds context.Canceled).
package store

import (
	"context"
	"reflect"

	"example.com/ginseng/kit/apperr"
)

// DB is a database: the collections that modules open on it, and its life. An engine implements it.
type DB interface {
	// Open declares a collection. It does not touch the database: Prepare does, for all that were opened. A name that
	// is opened again takes the later Spec.
	Open(Spec) Engine
	// Prepare makes the collections, the indexes and the words for Search that are missing, also for documents that
	// are there already. It is safe to call again, and from several copies of the service at once.
	Prepare(context.Context) error
	// Names are the collections that are there, whoever made them, sorted.
	Names(context.Context) ([]string, error)
	// Drop removes a collection with all that belongs to it, if it is there. Only Prepare and Load make it again.
	Drop(ctx context.Context, name string) error
	// Ping fails with Unavailable unless the database answers.
	Ping(context.Context) error
	// Close waits for writes under way, then lets go of the database.
	Close() error
}

// Spec declares a collection.
type Spec struct {
	Name    string   // of the collection, in the plural: "articles"
	Search  []string // fields of text whose words Search finds
	Indexes []Index

	document reflect.Type // what Open was given
}

// NewDocument makes a pointer to an empty document of the type that the collection was opened with.
func (s Spec) NewDocument() Document { return reflect.New(s.document).Interface().(Document) }

// Index declares an index over one or several fields. The id is the last key of each that is not unique, so that a
// listing sorted by the fields reads the index in order, in both directions. A unique one is for looking up: where its
// fields are also sorted by, declare a plain one beside it.
type Index struct {
	Fields []string
	Unique bool
}

// Engine is one collection as an engine implements it. Modules use Collection, which adds the types.
type Engine interface {
	Insert(ctx context.Context, id ID, doc any) error
	// First decodes the oldest document (by id) that the filter selects.
	First(ctx context.Context, f Filter, into any) error
	// List decodes each document, in order, into what next returns.
	List(ctx context.Context, q Query, next func() any) error
	Count(ctx context.Context, f Filter) (int64, error)
	// Page is List and returns the Count of the query's filter.
	Page(ctx context.Context, q Query, next func() any) (int64, error)
	// Update changes one document that the filter selects and decodes it as it is afterwards.
	Update(ctx context.Context, f Filter, changes []Change, into any) error
	// Delete removes every document that the filter selects and says how many.
	Delete(ctx context.Context, f Filter) (int64, error)
	// Load stores new documents in their order, much faster than Insert; ids has the key of each. After an error, or a loss
	// of power before anything else is written, some of the first may be there and none of those behind. It makes the
	// collection if it is missing, but neither indexes nor the words for Search: Prepare is to be called after the last
	// Load, before anything else is done with the collection.
	Load(ctx context.Context, ids []ID, docs []any) error
}

// Query says which documents a List returns, in which order, and how much of each.
type Query struct {
	Filter Filter  // nil selects all
	Sort   []Order // nil sorts by id
	After  []any   // the values of the Sort fields (nil where absent) and the id of the row before the first one wanted
	Skip   int
	Limit  int      // 0 is no limit
	Fields []string // top-level fields that the caller needs; nil is all. The others may be missing, except id
	// Lossless makes it an error if the Go type cannot keep all of a document, as CheckLossless says. It is ignored if
	// Fields is set.
	Lossless bool
}

// Order is one field of a sort.
type Order struct {
	Field string
	Desc  bool
}

// Document is what a collection holds: a struct that embeds Meta, or a pointer to one.
type Document interface{ documentID() ID }

// IDOf returns the id of a document.
func IDOf(d Document) ID { return d.documentID() }

// Meta is what every document bears. Embed it with the tag `bson:",inline"`.
type Meta struct {
	ID        ID    `json:"id" bson:"_id"`
	Version   int64 `json:"version"` // raised by each Update; the source of ETag
	CreatedAt Time  `json:"createdAt"`
	UpdatedAt Time  `json:"updatedAt"`
}

func (m Meta) documentID() ID { return m.ID }

// NewMeta is the Meta of a document made now: updatedAt equals createdAt.
func NewMeta(id ID, now Time) Meta {
	return Meta{ID: id, Version: 1, CreatedAt: now, UpdatedAt: now}
}

// Collection holds documents of one type.
type Collection[T Document] struct {
	engine Engine
}

// Open declares a collection of T on db.
func Open[T Document](db DB, spec Spec) *Collection[T] {
	spec.document = reflect.TypeFor[T]()
	return &Collection[T]{engine: db.Open(spec)}
}

// Insert stores a new document. Conflict: its id or a unique field is taken.
func (c *Collection[T]) Insert(ctx context.Context, doc T) error {
	return c.engine.Insert(ctx, doc.documentID(), doc)
}

// Get returns the document with the id, or NotFound.
func (c *Collection[T]) Get(ctx context.Context, id ID) (T, error) {
	return c.First(ctx, Eq("id", id))
}

// First returns the oldest document (by id) that f selects, or NotFound.
func (c *Collection[T]) First(ctx context.Context, f Filter) (T, error) {
	var doc T
	err := c.engine.First(ctx, f, &doc)
	return doc, err
}

// List returns the documents that q selects; never nil.
func (c *Collection[T]) List(ctx context.Context, q Query) ([]T, error) {
	docs := make([]T, 0, min(q.Limit, 128))
	err := c.engine.List(ctx, q, appendTo(&docs))
	return docs, err
}

// Page returns the documents that q selects, as List does, and the number of documents that q.Filter selects. On SQLite
// both come from one snapshot; on MongoDB, concurrent writes may come between them.
func (c *Collection[T]) Page(ctx context.Context, q Query) ([]T, int64, error) {
	docs := make([]T, 0, min(q.Limit, 128))
	n, err := c.engine.Page(ctx, q, appendTo(&docs))
	return docs, n, err
}

// appendTo returns a function that appends a zero value to docs and returns a pointer to it.
func appendTo[T any](docs *[]T) func() any {
	return func() any {
		var zero T
		*docs = append(*docs, zero)
		return &(*docs)[len(*docs)-1]
	}
}

// Count says how many documents f selects; nil counts all, at a cost that does not grow with their number.
func (c *Collection[T]) Count(ctx context.Context, f Filter) (int64, error) {
	return c.engine.Count(ctx, f)
}

// Update changes one document that f selects and returns it as it is afterwards, or NotFound. The filter and the
// changes act as one step: of many callers whose filter holds only before the change, exactly one succeeds.
func (c *Collection[T]) Update(ctx context.Context, f Filter, changes ...Change) (T, error) {
	var doc T
	err := c.engine.Update(ctx, f, changes, &doc)
	return doc, err
}

// Delete removes every document that f selects and says how many. Of many callers who delete one document, one is
// told 1.
func (c *Collection[T]) Delete(ctx context.Context, f Filter) (int64, error) {
	return c.engine.Delete(ctx, f)
}

// ErrNotFound is what engines return where no document is selected.
var ErrNotFound = apperr.New(apperr.NotFound, "There is no such record.")

// Duplicate is the Conflict of a unique index; fields are its fields.
func Duplicate(fields ...string) *apperr.Error {
	err := apperr.New(apperr.Conflict, "A record with the same value exists already.")
	for _, f := range fields {
		err = err.WithFields(apperr.Field{In: "body", Param: f, Code: apperr.FieldConflict, Message: "This value is taken by another record."})
	}
	return err
}

// Unavailable returns the error of a database that cannot be used. cause is for the log.
func Unavailable(cause error) *apperr.Error {
	return apperr.New(apperr.Unavailable, "The database does not answer at the moment. Try again in a few seconds.").WithCause(cause)
}

// IsNil reports whether a filter's or a change's value is null: nil, or a nil pointer.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}
