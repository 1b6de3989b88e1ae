package store

import (
	"context"

	"example.com/ginseng/kit/apperr"
)

// Log is the log of changes of a database: each insert, update and delete in a collection with Spec.Changes has exactly one
// entry, in an order without gaps, and the changes of a document are in their order. It has at least one entry once
// DB.Prepare has prepared such a collection.
type Log interface {
	// Last returns the position of the newest entry.
	Last(context.Context) (Position, error)
	// Read returns the entries that q selects, in order. next is the position at which to continue reading: that of the last
	// returned entry or, if fewer than q.Limit entries were returned, that of the newest entry of all collections. Errors:
	// ErrPosition.
	Read(ctx context.Context, q LogQuery) (entries []Entry, next Position, err error)
	// Newest returns the entries that the filter selects, newest first.
	Newest(context.Context, LogFilter) ([]Entry, error)
	// Wait returns nil once the collection may have an entry after the position, or Unavailable if ctx ends first. "" is any
	// collection. Entries of other instances are noticed after 100 ms.
	Wait(ctx context.Context, collection string, after Position) error
	// Sweep deletes the oldest entries, up to 500, that were created before the time, and returns their number. It keeps the
	// newest entry.
	Sweep(ctx context.Context, before Time) (int64, error)
}

// LogQuery selects entries of a Log.
type LogQuery struct {
	Collection string   // "" selects all
	After      Position // selects the entries after this position
	Limit      int      // at least 1
}

// LogFilter selects entries of a Log. A zero field selects all.
type LogFilter struct {
	Collection   string
	RecordID, By ID
	Since, Until *Time // Since is inclusive, Until exclusive
	Before       int64 // entries with lower numbers
	Limit        int   // at least 1
}

// Position identifies an entry. Its change ID is random, so that a position of one database does not exist in another database,
// or in an older state of the same database that was restored from a backup.
type Position struct {
	Number   int64 // the entries are numbered in their order
	ChangeID ID
}

// ErrPosition is returned by Log.Read for a position that the log does not have: it belongs to another database, or its entry
// was swept.
var ErrPosition = apperr.New(apperr.NotFound, "The log of changes does not have this position.")

// ChangeType is the effect of a change on a document.
type ChangeType string

// The types of changes. Reset stands for any number of changes of a collection that have no entries because a migration or Load
// made them.
const (
	Created ChangeType = "created"
	Updated ChangeType = "updated"
	Deleted ChangeType = "deleted"
	Reset   ChangeType = "reset"
)

// Entry is an entry of a Log.
type Entry struct {
	Position
	Collection string
	RecordID   ID // zero for Reset
	Type       ChangeType
	Author
	Fields []string      // for Updated: the names of the fields that were set, without updatedAt; otherwise nil
	Scope  map[string]ID // the values of Spec.Scope, without those that are absent
	At     Time          // when the change was made, by the clock of the machine
}

// Author identifies who makes a change.
type Author struct {
	By        *ID // the user; nil: none
	Key       *ID // the API key of the user; nil: none
	RequestID string
}

type authorKey struct{}

// WithAuthor returns a context for changes that the log records with the author.
func WithAuthor(ctx context.Context, a Author) context.Context {
	return context.WithValue(ctx, authorKey{}, a)
}

// AuthorOf returns the author of changes that are made with ctx.
func AuthorOf(ctx context.Context) Author {
	a, _ := ctx.Value(authorKey{}).(Author)
	return a
}

type withoutLogKey struct{}

// WithoutLog returns a context for changes that the log does not record. The caller must call Engine.Reset after them.
func WithoutLog(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutLogKey{}, true)
}

// IsLogged reports whether the log records changes that are made with ctx in a collection.
func (s Spec) IsLogged(ctx context.Context) bool {
	return s.Changes && ctx.Value(withoutLogKey{}) == nil
}
