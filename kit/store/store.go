// Package store is the database interface of the modules: a Collection of documents with a few methods, typed filters and typed
// changes. The engines mongo and sqlite implement the interface. The tests of package storetest check that both engines behave
// the same.
//
// # Rules of both engines
//
//   - A document is a Go struct that embeds Meta. Both engines use the names in its `json` tags as field names. A dotted path
//     ("profile.city") names a nested field. "id" names the id of the document.
//   - null and absent are the same: a nil pointer is not stored, and an absent list is read as an empty list.
//     Eq(field, nil) selects documents without the field.
//   - Insert, Update and Delete of one document are atomic, and durable when they return. Each Update that modifies a document
//     increments Meta.Version and sets Meta.UpdatedAt. DB.Atomic makes several writes atomic.
//   - Strings compare by code point. Absent values sort before all other values. Documents with equal values are sorted by id, in
//     the direction of the last Order.
//   - Unique indexes ignore documents that lack one of their fields.
//   - Errors that a caller can handle are *apperr.Error: NotFound, Conflict (its Fields are the duplicate fields),
//     PreconditionFailed (ErrStale), NotSupported (ErrNoTransactions) and Unavailable. Unavailable means that the database is
//     unreachable, full, read-only or overloaded, or that the context has ended; errors.Is finds the error of the context.
package store

import (
	"context"
	"math"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/apperr"
)

// DB is a database. An engine implements it.
type DB interface {
	// Open declares a collection without accessing the database. If Open is called again with the same name, Prepare uses the
	// later Spec.
	Open(Spec) Engine
	// Prepare creates the missing parts of the declared collections: tables, indexes, and the words that Search looks up,
	// including the words of existing documents. It may be called repeatedly, and by several instances concurrently.
	Prepare(context.Context) error
	// Names returns the names of all collections, sorted.
	Names(context.Context) ([]string, error)
	// Drop deletes a collection if it exists. Prepare and Load create it again.
	Drop(ctx context.Context, name string) error
	// Atomic calls f and stores all writes that f makes with the context of f, or none. The writes are durable when Atomic
	// returns nil. Reads with this context see the writes immediately. Other callers do not see the writes before Atomic has
	// stored them.
	//
	// Nothing is stored if f returns an error or panics, or if ctx ends. The same applies if an operation of f fails with an
	// error other than NotFound, even if f ignores the error. Atomic returns the error of f or, if f returns nil, the reason why
	// nothing is stored. f must not search (ErrSearchInAtomic). f must have no effects except its writes: on MongoDB, Atomic
	// repeats f after a conflict with other writers. A call of Atomic in f joins the outer Atomic. After Atomic has returned,
	// operations with the context of f fail.
	//
	// On SQLite, one Atomic runs at a time, and other writes wait. If an Atomic takes longer than 5 s, it fails with ErrTooLong.
	// f must not wait for other operations, such as a write with another context. On MongoDB, f sees a snapshot, and other
	// callers can change documents that f only reads; see Collection.Lock. On a server without transactions, Atomic returns
	// ErrNoTransactions and does not call f.
	Atomic(ctx context.Context, f func(context.Context) error) error
	// Together calls Atomic if the server supports transactions. Otherwise Together stores each write of f separately. f must
	// order its writes so that an interruption after any write is harmless.
	Together(ctx context.Context, f func(context.Context) error) error
	// Serializable reports whether concurrent Atomics have the same result as if they ran one after the other. If Serializable
	// is true, Collection.Lock is not needed.
	Serializable() bool
	// Log returns the log of the changes in collections with Spec.Changes.
	Log() Log
	// Ping returns nil if the database responds, otherwise Unavailable.
	Ping(context.Context) error
	// Close waits for running operations and closes the database.
	Close() error
}

// Spec declares a collection.
type Spec struct {
	Name    string   // plural: "articles"
	Search  []string // string fields in which Search looks for words
	Indexes []Index
	// If Changes is true, the log of changes records each insert, update and delete with its author (WithAuthor). A migration or
	// a Load makes one entry for all of its changes. Other programs must not delete documents.
	Changes bool
	// LogFields limits the log to some updates. If LogFields is not empty, the log records an update only if it sets one of these
	// top-level fields, and Entry.Fields has only their names.
	LogFields []string
	// Scope names fields of type ID or *ID whose values never change, such as the field of the owner. Entries of the log have the
	// values of these fields.
	Scope []string
	// Parent names the field of type ID that has the id of the parent record; "" if documents have no parent. A Conflict does not
	// name it. Engines ignore Parent.
	Parent string

	document reflect.Type // set by store.Open
}

// NewDocument returns a pointer to a zero document of the collection's type. s must be a Spec that store.Open has passed to
// DB.Open.
func (s Spec) NewDocument() Document { return reflect.New(s.document).Interface().(Document) }

// Index declares an index. Engines append the id to the fields of an index that is not unique. A list that is sorted by these
// fields can read this index in order, in both directions. If a list is sorted by the fields of a unique index, also declare an
// index on these fields that is not unique.
type Index struct {
	Fields []string
	Unique bool
}

// Engine is the untyped collection that a database engine implements. Modules use Collection, which adds types.
type Engine interface {
	// Insert stores a new document; see Collection.Insert. id is the id of doc.
	Insert(ctx context.Context, id ID, doc any) error
	// First finds the documents that f selects, and decodes the document with the lowest id into the value that into points to.
	// Errors: NotFound if f selects no document.
	First(ctx context.Context, f Filter, into any) error
	// List reads the documents that q selects, in order. For each document, List calls next, which returns a pointer, and decodes
	// the document into the value at this pointer. List ends before the document that would exceed Query.Bytes. If next is nil,
	// List only counts. In an Atomic, next must not call the database with the context of the Atomic.
	//
	// count is the number of documents that q.Filter selects, up to q.MaxCount, or 0 if q.MaxCount is 0.
	List(ctx context.Context, q Query, next func() any) (count int64, err error)
	// Update changes one document that f selects and decodes the new version into the value that into points to. If only implied
	// changes would modify the document, Update stores nothing; see Collection.Update. There is at least one change that is not
	// implied. Errors: NotFound if f selects no document; Conflict if another document has the same values in a unique index.
	Update(ctx context.Context, f Filter, changes []Change, into any) error
	// Delete deletes all documents that f selects and returns their number.
	Delete(ctx context.Context, f Filter) (int64, error)
	// Lock locks documents; see Collection.Lock.
	Lock(ctx context.Context, ids ...ID) error
	// Load stores new documents in order, much faster than Insert. An error or a power failure may leave only the first documents
	// stored. Load creates the collection without indexes, and may omit the words that Search looks up. Call Prepare after the
	// last Load, before any other use of the collection.
	Load(ctx context.Context, docs []Document) error
	// Reset writes an entry of type Reset to the log if the collection has Spec.Changes. Do not call it in an Atomic.
	Reset(ctx context.Context) error
}

// Query selects the documents of a List, their order and their fields.
type Query struct {
	Filter Filter   // nil selects all
	Sort   []Order  // nil sorts by id
	After  []any    // Sort values (nil if absent) and id of the document before the list; nil starts at the first document
	Skip   int      // number of documents to skip; not together with After
	Limit  int      // 0 means no limit
	Fields []string // top-level fields to read; nil reads all. The id is always read; other fields may be read too
	// Lossless makes List fail if the Go type cannot represent a whole document; see engine.CheckLossless. If Fields is set,
	// Lossless has no effect.
	Lossless bool
	// MaxCount limits the count of the documents that Filter selects. With 0, the documents are not counted; with CountAll, all
	// of them are counted. Engines may ignore the limit if Filter is nil.
	MaxCount int64
	Bytes    *Size // limits the size of the documents; nil means no limit. Use a new Size for each Query
}

// CountAll is the Query.MaxCount that counts all documents.
const CountAll = math.MaxInt64

// Size limits the total size of the documents that one List or Page reads. Sizes are in bytes of the stored form.
type Size struct {
	Max      int
	used     int
	exceeded bool
}

// Add adds the size of a document and reports whether the document fits. The first document always fits. A nil Size has no
// limit.
func (s *Size) Add(size int) bool {
	if s == nil {
		return true
	}
	s.exceeded = s.used > 0 && s.used+size > s.Max
	s.used += size
	return !s.exceeded
}

// Used returns the total size of the documents, including the document that did not fit.
func (s *Size) Used() int { return s.used }

// Exceeded reports whether the list ended before a document that did not fit.
func (s *Size) Exceeded() bool { return s.exceeded }

// Order is one field of a sort.
type Order struct {
	Field string
	Desc  bool
}

// Document is a document of a collection: a struct that embeds Meta, or a pointer to the struct.
type Document interface {
	meta() Meta
}

// IDOf returns the id of a document.
func IDOf(d Document) ID { return d.meta().ID }

// VersionOf returns the version of a document.
func VersionOf(d Document) int64 { return d.meta().Version }

// Meta has the fields that every document has. Embed it with the tag `bson:",inline"`.
type Meta struct {
	ID        ID    `json:"id" bson:"_id"`
	Version   int64 `json:"version"` // incremented by each Update that modifies the document; the source of ETag
	CreatedAt Time  `json:"createdAt"`
	UpdatedAt Time  `json:"updatedAt"` // set by each Update that modifies the document
}

func (m Meta) meta() Meta { return m }

// NewMeta returns the Meta of a document created now. UpdatedAt equals CreatedAt.
func NewMeta(id ID, now Time) Meta {
	return Meta{ID: id, Version: 1, CreatedAt: now, UpdatedAt: now}
}

// WithClock wraps db. Collections that are opened on the result call the now function to set updatedAt. The default function is
// time.Now.
func WithClock(db DB, now func() time.Time) DB { return clockDB{db, now} }

type clockDB struct {
	DB
	now func() time.Time
}

// ErrNotFound is returned if a filter selects no document.
var ErrNotFound = apperr.New(apperr.NotFound, "There is no such record.")

// Duplicate returns the Conflict for a duplicate in a unique index with these fields. The error does not name userId and
// organizationId, to which a record belongs: another value of them is no remedy.
func Duplicate(fields ...string) *apperr.Error {
	err := apperr.New(apperr.Conflict, "A record with the same value already exists.")
	for _, f := range fields {
		if f == "userId" || f == "organizationId" {
			continue
		}
		err = err.WithFields(apperr.Field{In: "body", Param: f, Code: apperr.FieldConflict, Message: "Another record already has this value."})
	}
	return err
}

// Unavailable returns the error for a database that cannot be used. The cause is logged, but not sent to clients.
func Unavailable(cause error) *apperr.Error {
	return apperr.New(apperr.Unavailable, "The database is unavailable. Try again in a few seconds.").WithCause(cause)
}

// ErrSearches is returned by a search that has waited too long for other searches to end.
var ErrSearches = apperr.New(apperr.Unavailable, "Too many searches are running. Try again in a few seconds.").AsOverload()

// IsNil reports whether v is nil or a nil pointer. In a filter or a change, both mean null.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// ID identifies a document. It has 12 bytes, written as 24 hexadecimal characters.
type ID = bson.ObjectID

// NewID returns a unique ID. The IDs of one process are ascending.
func NewID() ID { return bson.NewObjectID() }

// ParseID parses 24 hexadecimal characters. ok is false if s has another form.
func ParseID(s string) (id ID, ok bool) {
	id, err := bson.ObjectIDFromHex(s)
	return id, err == nil
}
