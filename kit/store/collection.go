package store

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"example.com/ginseng/kit/apperr"
)

// Collection is a collection of documents of type T.
type Collection[T Document] struct {
	core
	defaults T // each document is decoded into a copy of defaults
}

// core is the part of a Collection that does not depend on the type of its documents. Go compiles the methods of a generic type again in
// each package that uses them, so those of Collection only call the methods of core.
type core struct {
	engine Engine
	names  names
	spec   Spec
	now    func() time.Time
}

// Open declares a collection of T on db. If a stored document lacks a field, the field has its default; see SetDefaults. Open
// panics if T lacks a field of Search, LogFields, Scope or Indexes, or if a unique index has a list field. The methods of the collection
// return an error if a filter, a sort, a change or a list of fields names a field that T lacks.
func Open[T Document](db DB, spec Spec) *Collection[T] {
	spec.document = reflect.TypeFor[T]()
	c := &Collection[T]{core: open(db, spec)}
	SetDefaults(&c.defaults)
	return c
}

func open(db DB, spec Spec) core {
	c := core{engine: db.Open(spec), names: names{spec.Name, fieldsOf(spec.document, map[reflect.Type]fields{})}, spec: spec, now: time.Now}
	if clock, ok := db.(clockDB); ok {
		c.now = clock.now
	}
	if err := c.names.spec(spec); err != nil {
		panic(err)
	}
	return c
}

// newDocument returns a pointer to a new document with its defaults.
func (c *core) newDocument() Document {
	doc := c.spec.NewDocument()
	SetDefaults(doc)
	return doc
}

// Engine returns the untyped collection, for code that decodes documents into types other than T.
func (c *core) Engine() Engine { return c.engine }

// Insert stores a new document. Errors: Conflict if another document has the same id, or the same values in a unique index.
func (c *Collection[T]) Insert(ctx context.Context, doc T) error { return c.insert(ctx, doc) }

func (c *core) insert(ctx context.Context, doc Document) error {
	return c.ofChild(c.engine.Insert(ctx, IDOf(doc), doc))
}

// ofChild returns err; a Conflict does not name Spec.Parent, for the reason that Duplicate has.
func (c *core) ofChild(err error) error {
	var e *apperr.Error
	if c.spec.Parent == "" || !errors.As(err, &e) || e.Code != apperr.Conflict {
		return err
	}
	out := *e
	out.Fields = slices.DeleteFunc(slices.Clone(e.Fields), func(f apperr.Field) bool { return f.Param == c.spec.Parent })
	return &out
}

// Get returns the document with the id. Errors: NotFound if the document does not exist.
func (c *Collection[T]) Get(ctx context.Context, id ID) (T, error) {
	return c.First(ctx, Eq("id", id))
}

// First returns the document with the lowest id that f selects. Errors: NotFound if f selects no document.
func (c *Collection[T]) First(ctx context.Context, f Filter) (T, error) {
	doc := c.defaults
	err := c.first(ctx, f, &doc)
	return doc, err
}

// first decodes the document of First into the value that into points to.
func (c *core) first(ctx context.Context, f Filter, into any) error {
	if err := c.names.filter(f); err != nil {
		return err
	}
	return c.engine.First(ctx, f, into)
}

// Exists reports whether f selects a document.
func (c *core) Exists(ctx context.Context, f Filter) (bool, error) {
	err := c.first(ctx, f, new(Meta))
	return err == nil, apperr.Replace(err, apperr.NotFound, nil)
}

// List returns the documents that q selects; the slice is not nil. It ignores q.MaxCount.
func (c *Collection[T]) List(ctx context.Context, q Query) ([]T, error) {
	q.MaxCount = 0
	docs, _, err := c.page(ctx, q)
	return docs, err
}

// Page returns the documents that q selects, as List does, and the number of documents that q.Filter selects, up to q.MaxCount; 0
// counts all. On SQLite, both results come from one snapshot. On MongoDB, other callers may write between the reading and the
// counting.
func (c *Collection[T]) Page(ctx context.Context, q Query) ([]T, int64, error) {
	q.MaxCount = cmp.Or(q.MaxCount, CountAll)
	return c.page(ctx, q)
}

// page is Page, but does not count if q.MaxCount is 0.
func (c *Collection[T]) page(ctx context.Context, q Query) ([]T, int64, error) {
	docs := make([]T, 0, min(q.Limit, 128))
	n, err := c.list(ctx, q, func() any {
		docs = append(docs, c.defaults)
		return &docs[len(docs)-1]
	})
	return docs, n, err
}

// list is Engine.List with a check of the names in q.
func (c *core) list(ctx context.Context, q Query, next func() any) (count int64, err error) {
	if err := c.names.query(q); err != nil {
		return 0, err
	}
	return c.engine.List(ctx, q, next)
}

// Count returns the number of documents that f selects. With nil, it returns the number of all documents in constant time. On
// MongoDB, this number may be inexact after an unclean shutdown and in sharded clusters.
func (c *core) Count(ctx context.Context, f Filter) (int64, error) {
	return c.list(ctx, Query{Filter: f, MaxCount: CountAll}, nil)
}

// Update changes one document that f selects and returns the new version. Evaluating the filter and changing the document is one
// atomic step. If the filter does not select the changed document, only one of several concurrent callers succeeds. Update sets
// updatedAt, unless one of the changes sets it.
//
// If the document already has the values of the changes, Update stores nothing and returns the document: the version and
// updatedAt stay the same, and the log gets no entry. Values are compared in their stored form. Inc always modifies the document.
// Errors: NotFound if f selects no document; Conflict if another document has the
// same values in a unique index.
func (c *Collection[T]) Update(ctx context.Context, f Filter, changes ...Change) (T, error) {
	doc := c.defaults
	err := c.update(ctx, f, changes, &doc)
	return doc, err
}

// update decodes the new version of Update into the value that into points to.
func (c *core) update(ctx context.Context, f Filter, changes []Change, into any) error {
	if err := c.names.changes(f, changes); err != nil {
		return err
	}
	switch {
	case len(changes) == 0:
		return c.engine.First(ctx, f, into)
	case slices.ContainsFunc(changes, func(change Change) bool { return change.Op == OpMerge }):
		return c.updateMerged(ctx, f, changes, into)
	}
	if !slices.ContainsFunc(changes, func(change Change) bool { return change.Field == "updatedAt" }) {
		changes = append(slices.Clip(changes), Change{Op: OpSet, Field: "updatedAt", Value: At(c.now()), Implied: true})
	}
	return c.ofChild(c.engine.Update(ctx, f, changes, into))
}

// Delete deletes all documents that f selects and returns their number. If several callers delete the same document, only one
// of them counts this document.
func (c *core) Delete(ctx context.Context, f Filter) (int64, error) {
	if err := c.names.filter(f); err != nil {
		return 0, err
	}
	return c.engine.Delete(ctx, f)
}

// DeleteList deletes the documents that List returns for q; q.Skip is the number of documents to keep at the start of the list.
// Reading the list and deleting are not one atomic step.
func (c *core) DeleteList(ctx context.Context, q Query) error {
	var docs []*Meta
	q.Fields, q.MaxCount = []string{"id"}, 0
	_, err := c.list(ctx, q, func() any {
		docs = append(docs, new(Meta))
		return docs[len(docs)-1]
	})
	if err != nil || len(docs) == 0 {
		return err
	}
	ids := make([]any, len(docs))
	for i, doc := range docs {
		ids[i] = doc.ID
	}
	_, err = c.Delete(ctx, In("id", ids...))
	return err
}
