package store

import (
	"context"

	"example.com/ginseng/kit/apperr"
)

// Log is the log of changes of a database. Each insert, update and delete of a document in a collection with Spec.Changes has
// exactly one entry, except the changes that a migration or Load makes, see Reset, and the updates that Spec.LogFields excludes.
// The entries have consecutive numbers. The entries for one document are in the order of its changes. After DB.Prepare has prepared
// a collection with Spec.Changes, the log has at least one entry.
type Log interface {
	// Last returns the position of the newest entry.
	Last(context.Context) (Position, error)
	// Read returns the entries that q selects, in order. next is the position at which to continue reading. If Read returns
	// q.Limit entries, next is the position of the last of them. Otherwise next is the position of the newest entry of all
	// collections. Errors: ErrPosition if the log does not have the position q.After.
	Read(ctx context.Context, q LogQuery) (entries []Entry, next Position, err error)
	// Newest returns the entries that the filter selects, newest first.
	Newest(context.Context, LogFilter) ([]Entry, error)
	// Wait returns nil when the collection may have an entry after the position; "" stands for any collection. Wait returns
	// Unavailable if ctx ends first. An entry that another instance writes ends the wait about 100 ms later.
	Wait(ctx context.Context, collection string, after Position) error
	// Sweep deletes up to 500 of the oldest entries that were created before the time, and returns their number. It never deletes
	// the newest entry. On MongoDB, Sweep keeps entries for one hour longer.
	Sweep(ctx context.Context, before Time) (int64, error)
}

// LogQuery selects entries of a Log.
type LogQuery struct {
	Collection string   // "" selects all collections
	After      Position // selects the entries after this position
	Limit      int      // at least 1
}

// LogFilter selects entries of a Log. Fields with the zero value, except Limit, do not restrict the selection.
type LogFilter struct {
	Collection   string
	RecordID, By ID
	Since, Until *Time // Since is inclusive, Until exclusive
	Before       int64 // selects entries with lower numbers
	Limit        int   // at least 1
}

// Position identifies an entry. ChangeID is unique across databases. Therefore a position is not valid in another database, or
// in a backup that was made before the change.
type Position struct {
	Number   int64 // consecutive, in the order of the entries
	ChangeID ID
}

// ErrPosition is returned by Log.Read if the position belongs to another database, or if Sweep has deleted the entry.
var ErrPosition = apperr.New(apperr.NotFound, "The log of changes does not have this position.")

// ChangeType is the effect of a change on a document.
type ChangeType string

// The types of changes. Reset stands for all changes to a collection that a migration or a Load has made. These changes have no
// separate entries.
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
	RecordID   ID // zero if Type is Reset
	Type       ChangeType
	Author
	Fields []string      // names of the changed fields, without updatedAt; nil unless Type is Updated
	Scope  map[string]ID // values of the fields in Spec.Scope that the document has
	At     Time          // time of the change, by the clock of the instance that made it
}

// Author identifies who makes a change.
type Author struct {
	By        *ID // the user; nil if the change was not made by a user
	Key       *ID // the user's API key; nil if the user did not use an API key
	RequestID string
}

type authorKey struct{}

// WithAuthor returns a context for changes by the author. The log records the author with each change.
func WithAuthor(ctx context.Context, a Author) context.Context {
	return context.WithValue(ctx, authorKey{}, a)
}

// AuthorOf returns the author of changes that are made with ctx.
func AuthorOf(ctx context.Context) Author {
	a, _ := ctx.Value(authorKey{}).(Author)
	return a
}

type withoutLogKey struct{}

// WithoutLog returns a context for changes that the log does not record. After the changes, the caller must call Engine.Reset,
// unless the collection has no feed.
func WithoutLog(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutLogKey{}, true)
}

// IsLogged reports whether the log records changes to the collection that are made with ctx.
func (s Spec) IsLogged(ctx context.Context) bool {
	return s.Changes && ctx.Value(withoutLogKey{}) == nil
}
