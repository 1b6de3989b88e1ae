// Package store is the database interface of the modules: a Collection of documents with a few verbs, typed filters and
// typed changes. The engines mongo and sqlite implement it; the tests of package storetest check that both behave the
// same. What these verbs cannot express, a module writes against the driver.
//
// # Rules of both engines
//
//   - A document is a Go struct that embeds Meta and has `json` tags, which both engines use as field names. A dotted
//     path ("profile.city") names a nested field. "id" names the key.
//   - null and absent are the same: a nil pointer is not stored, and an absent list is read as an empty one. Eq(field, nil)
//     finds documents without the field.
//   - Insert, Update and Delete of one document are atomic, and durable when they return. Each Update increments
//     Meta.Version.
//   - Strings compare by code point. Absent values sort before all others. Equal values are sorted by id, in the
//     direction of the last Order.
//   - Unique indexes ignore documents that lack one of their fields.
//   - Errors are *apperr.Error: NotFound, Conflict (Fields names the duplicate field), Unavailable (the database is
//     unreachable, full or read-only, or the context ended; errors.Is finds context.Canceled).
package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/apperr"
)

// DB is a database. An engine implements it.
type DB interface {
	// Open declares a collection, without accessing the database. If a name is opened again, the later Spec applies.
	Open(Spec) Engine
	// Prepare creates the missing collections, indexes and search words, also of existing documents. It may be called
	// repeatedly, and by several instances concurrently.
	Prepare(context.Context) error
	// Names returns the names of all collections, sorted.
	Names(context.Context) ([]string, error)
	// Drop deletes a collection if it exists. Only Prepare and Load create it again.
	Drop(ctx context.Context, name string) error
	// Ping returns Unavailable if the database does not respond.
	Ping(context.Context) error
	// Close waits for pending writes and closes the database.
	Close() error
}

// Spec declares a collection.
type Spec struct {
	Name    string   // plural: "articles"
	Search  []string // string fields that Search reads
	Indexes []Index

	document reflect.Type // type of the documents
}

// NewDocument returns a pointer to a zero document of the collection's type.
func (s Spec) NewDocument() Document { return reflect.New(s.document).Interface().(Document) }

// Index declares an index. The id is the last key of each index that is not unique, so that a list sorted by the fields
// reads the index in order, in both directions. If a list is sorted by the fields of a unique index, declare a plain
// index on them as well.
type Index struct {
	Fields []string
	Unique bool
}

// Engine is a collection as an engine implements it. Modules use Collection, which adds types.
type Engine interface {
	Insert(ctx context.Context, id ID, doc any) error
	// First decodes the oldest document (by id) that the filter selects.
	First(ctx context.Context, f Filter, into any) error
	// List decodes each document, in order, into the value that next returns, and ends before one that Query.Bytes rejects. If
	// next is nil, it reads no documents. It returns the number of documents that the filter selects, up to MaxCount.
	List(ctx context.Context, q Query, next func() any) (count int64, err error)
	// Update changes one document that f selects and decodes the new version.
	Update(ctx context.Context, f Filter, changes []Change, into any) error
	// Delete deletes all documents that f selects and returns their number.
	Delete(ctx context.Context, f Filter) (int64, error)
	// Load stores new documents in order, much faster than Insert; ids has the key of each. After an error or a loss of
	// power, a prefix of the documents may be stored. It creates the collection, but no indexes and no search words:
	// call Prepare after the last Load, before any other use of the collection.
	Load(ctx context.Context, ids []ID, docs []any) error
}

// Query selects the documents of a List, their order and their fields.
type Query struct {
	Filter Filter  // nil selects all
	Sort   []Order // nil sorts by id
	After  []any   // position of the previous row: its values of the Sort fields (nil if absent) and its id
	Skip   int
	Limit  int      // 0 is no limit
	Fields []string // top-level fields that the caller needs; nil is all. The others may be missing, except id
	// Lossless makes it an error if the Go type cannot keep all of a document, as CheckLossless says. It is ignored if
	// Fields is set.
	Lossless bool
	MaxCount int64 // count up to this number; 0 does not count, CountAll counts all
	Bytes    *Size // bounds the size of the documents; nil is no bound
}

// CountAll is a Query.MaxCount without bound.
const CountAll = math.MaxInt64

// Size bounds the size of the documents that one List or Page reads, in bytes as the database stores them.
type Size struct {
	Max      int
	used     int
	exceeded bool
}

// Add adds a document. It reports whether it fits; the first one always does. A nil Size has no bound.
func (s *Size) Add(size int) bool {
	if s == nil {
		return true
	}
	s.exceeded = s.used > 0 && s.used+size > s.Max
	s.used += size
	return !s.exceeded
}

// Exceeded reports whether the list ended before a document that did not fit.
func (s *Size) Exceeded() bool { return s.exceeded }

// Order is one field of a sort.
type Order struct {
	Field string
	Desc  bool
}

// TotalOrder completes a sort by the id, in the direction of the last field, so that there are no ties.
func TotalOrder(sort []Order) []Order {
	if i := slices.IndexFunc(sort, func(o Order) bool { return o.Field == "id" }); i >= 0 {
		return sort[:i+1]
	}
	last := Order{Field: "id"}
	if len(sort) > 0 {
		last.Desc = sort[len(sort)-1].Desc
	}
	return append(slices.Clone(sort), last)
}

// Document is a document of a collection: a struct that embeds Meta, or a pointer to one.
type Document interface {
	documentID() ID
	documentVersion() int64
}

// IDOf returns the id of a document.
func IDOf(d Document) ID { return d.documentID() }

// VersionOf returns the version of a document.
func VersionOf(d Document) int64 { return d.documentVersion() }

// Meta has the fields of every document. Embed it with the tag `bson:",inline"`.
type Meta struct {
	ID        ID    `json:"id" bson:"_id"`
	Version   int64 `json:"version"` // incremented by each Update; the source of ETag
	CreatedAt Time  `json:"createdAt"`
	UpdatedAt Time  `json:"updatedAt"`
}

func (m Meta) documentID() ID         { return m.ID }
func (m Meta) documentVersion() int64 { return m.Version }

// NewMeta returns the Meta of a document created now. UpdatedAt equals CreatedAt.
func NewMeta(id ID, now Time) Meta {
	return Meta{ID: id, Version: 1, CreatedAt: now, UpdatedAt: now}
}

// Collection holds documents of one type.
type Collection[T Document] struct {
	engine   Engine
	defaults T // a document with the defaults of its fields
}

// Open declares a collection of T on db. Fields that a document lacks have their defaults; see SetDefaults.
func Open[T Document](db DB, spec Spec) *Collection[T] {
	spec.document = reflect.TypeFor[T]()
	c := &Collection[T]{engine: db.Open(spec)}
	SetDefaults(&c.defaults)
	return c
}

// Engine returns the collection without its type, for code that reads documents of another form.
func (c *Collection[T]) Engine() Engine { return c.engine }

// Insert stores a new document. Errors: Conflict if its id or a unique field exists.
func (c *Collection[T]) Insert(ctx context.Context, doc T) error {
	return c.engine.Insert(ctx, doc.documentID(), doc)
}

// Get returns the document with the id. Errors: NotFound.
func (c *Collection[T]) Get(ctx context.Context, id ID) (T, error) {
	return c.First(ctx, Eq("id", id))
}

// First returns the oldest document (by id) that f selects. Errors: NotFound.
func (c *Collection[T]) First(ctx context.Context, f Filter) (T, error) {
	doc := c.defaults
	err := c.engine.First(ctx, f, &doc)
	return doc, err
}

// Exists reports whether f selects a document.
func (c *Collection[T]) Exists(ctx context.Context, f Filter) (bool, error) {
	_, err := c.First(ctx, f)
	return err == nil, apperr.Replace(err, apperr.NotFound, nil)
}

// List returns the documents that q selects, never nil.
func (c *Collection[T]) List(ctx context.Context, q Query) ([]T, error) {
	docs := make([]T, 0, min(q.Limit, 128))
	q.MaxCount = 0
	_, err := c.engine.List(ctx, q, c.appendTo(&docs))
	return docs, err
}

// Page returns the documents that q selects, as List does, and the number of documents that q.Filter selects, up to
// q.MaxCount unless that is 0. On SQLite both come from one snapshot; on MongoDB, concurrent writes may come between them.
func (c *Collection[T]) Page(ctx context.Context, q Query) ([]T, int64, error) {
	docs := make([]T, 0, min(q.Limit, 128))
	q.MaxCount = cmp.Or(q.MaxCount, CountAll)
	n, err := c.engine.List(ctx, q, c.appendTo(&docs))
	return docs, n, err
}

// appendTo returns a function that appends a document with the defaults to docs and returns a pointer to it.
func (c *Collection[T]) appendTo(docs *[]T) func() any {
	return func() any {
		*docs = append(*docs, c.defaults)
		return &(*docs)[len(*docs)-1]
	}
}

// Count returns the number of documents that f selects. nil counts all, in constant time.
func (c *Collection[T]) Count(ctx context.Context, f Filter) (int64, error) {
	return c.engine.List(ctx, Query{Filter: f, MaxCount: CountAll}, nil)
}

// Update changes one document that f selects and returns the new version. The filter and the changes are one atomic
// step: if the filter holds only before the change, exactly one of several concurrent callers succeeds. Errors:
// NotFound.
func (c *Collection[T]) Update(ctx context.Context, f Filter, changes ...Change) (T, error) {
	doc := c.defaults
	err := c.engine.Update(ctx, f, changes, &doc)
	return doc, err
}

// Delete deletes all documents that f selects and returns their number. If several callers delete one document, one of
// them gets 1.
func (c *Collection[T]) Delete(ctx context.Context, f Filter) (int64, error) {
	return c.engine.Delete(ctx, f)
}

// DeleteList deletes the documents that List returns for q. With Skip, it keeps the first ones.
func (c *Collection[T]) DeleteList(ctx context.Context, q Query) error {
	q.Fields = []string{"id"}
	docs, err := c.List(ctx, q)
	if err != nil || len(docs) == 0 {
		return err
	}
	ids := make([]any, len(docs))
	for i, doc := range docs {
		ids[i] = doc.documentID()
	}
	_, err = c.Delete(ctx, In("id", ids...))
	return err
}

// ErrNotFound is the error of the engines if no document is selected.
var ErrNotFound = apperr.New(apperr.NotFound, "There is no such record.")

// Duplicate returns the Conflict of a unique index with the given fields. userId, the owner, is not a parameter.
func Duplicate(fields ...string) *apperr.Error {
	err := apperr.New(apperr.Conflict, "A record with the same value exists already.")
	for _, f := range fields {
		if f == "userId" {
			continue
		}
		err = err.WithFields(apperr.Field{In: "body", Param: f, Code: apperr.FieldConflict, Message: "This value is taken by another record."})
	}
	return err
}

// Unavailable returns the error of a database that cannot be used. cause is for the log.
func Unavailable(cause error) *apperr.Error {
	return apperr.New(apperr.Unavailable, "The database is unavailable. Try again in a few seconds.").WithCause(cause)
}

// ErrSearches is the error of a search that waits too long for others.
var ErrSearches = apperr.New(apperr.Unavailable, "Too many searches are running. Try again in a few seconds.").AsOverload()

// IsNil reports whether the value of a filter or change is null: nil or a nil pointer.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// ID is the key of a document: 12 bytes, written as 24 hexadecimal characters.
type ID = bson.ObjectID

// NewID returns a unique ID. The IDs of one process are ascending.
func NewID() ID { return bson.NewObjectID() }

// ParseID parses 24 hexadecimal characters.
func ParseID(s string) (ID, bool) {
	id, err := bson.ObjectIDFromHex(s)
	return id, err == nil
}

// Time is an instant in UTC with millisecond precision. It is written as ISO 8601 with three decimals and Z, which
// sorts by time, and as a BSON date.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At converts t to UTC and truncates it to the millisecond.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// ParseTime parses an RFC 3339 time with any zone and precision. Its year in UTC must have four digits.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return Time{}, err
	}
	return At(t), checkYear(t)
}

func checkYear(t time.Time) error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("store: year %d is out of 0..9999", y)
	}
	return nil
}

// String returns t in the form of MarshalText.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// AppendText appends t in the form of MarshalText. The year must have four digits (RFC 3339).
func (t Time) AppendText(b []byte) ([]byte, error) {
	if err := checkYear(t.Time); err != nil {
		return b, err
	}
	b = t.UTC().AppendFormat(b, time.RFC3339) // package time formats it three times as fast as other layouts
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'), nil
}

// MarshalText returns t in the form 2006-01-02T15:04:05.000Z.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(make([]byte, 0, len(timeLayout))) }

// UnmarshalText parses b as ParseTime does.
func (t *Time) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTime(string(b))
	return err
}

// MarshalJSON returns t as a JSON string.
func (t Time) MarshalJSON() ([]byte, error) {
	b, err := t.AppendText(append(make([]byte, 0, len(timeLayout)+2), '"'))
	return append(b, '"'), err
}

// UnmarshalJSON parses a JSON string. null leaves t unchanged.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("store: a time is a JSON string")
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// MarshalBSONValue returns a BSON date.
func (t Time) MarshalBSONValue() (byte, []byte, error) {
	typ, data, err := bson.MarshalValue(t.Time)
	return byte(typ), data, err
}

// UnmarshalBSONValue parses a BSON date.
func (t *Time) UnmarshalBSONValue(typ byte, data []byte) error {
	var v time.Time
	if err := bson.UnmarshalValue(bson.Type(typ), data, &v); err != nil {
		return err
	}
	*t = At(v)
	return nil
}

// MarshalValues encodes scalars, as in Comparison. UnmarshalValues decodes them with their types: numbers as int32,
// int64 or float64, times as Time.
func MarshalValues(values []any) ([]byte, error) {
	return bson.Marshal(bson.D{{Key: "v", Value: values}})
}

// UnmarshalValues decodes the result of MarshalValues.
func UnmarshalValues(data []byte) ([]any, error) {
	var doc struct {
		Values bson.A `bson:"v"`
	}
	if err := bson.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	for i, v := range doc.Values {
		if t, ok := v.(bson.DateTime); ok {
			doc.Values[i] = At(t.Time())
		}
	}
	return doc.Values, nil
}
