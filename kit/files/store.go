package files

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Store keeps the bytes of files under their IDs. The bytes of an ID never change. The tests of package filestest check that all
// implementations behave the same. Errors that a caller can handle are *apperr.Error: NotFound, and Unavailable if the storage is
// unreachable or full.
type Store interface {
	// Put stores size bytes of a file that is open at offset 0. The bytes are durable when Put returns. After an error, or a crash,
	// the Store has all bytes or none. Put may move the file on disk, so that its name no longer exists.
	Put(ctx context.Context, id store.ID, from *os.File, size int64) error
	// Open returns the bytes of a file. Errors: NotFound.
	Open(ctx context.Context, id store.ID) (io.ReadSeekCloser, error)
	// Delete deletes the bytes of a file. It returns nil if there are none.
	Delete(ctx context.Context, id store.ID) error
	// List returns the IDs of all files, in any order. A file that is stored or deleted meanwhile may be missing.
	List(ctx context.Context) iter.Seq2[store.ID, error]
	// Clean removes what calls of Put that were interrupted before the time have left.
	Clean(ctx context.Context, before time.Time) error
}

// Partitioned is a Store that several databases can use.
type Partitioned interface {
	Store
	// Enter makes a subdirectory the place of all files. If create is false, a Store with directories fails if the subdirectory does
	// not exist. Call Enter at most once, before all other methods.
	Enter(name string, create bool) error
	// Databases returns the names of the subdirectories. Do not call it after Enter.
	Databases(ctx context.Context) ([]string, error)
}

// ErrNotFound is the error of a Store that has no file with the ID.
var ErrNotFound = apperr.New(apperr.NotFound, "There is no such file.")

// ErrDamaged is the error of reading a file whose bytes are not those that were stored.
var ErrDamaged = errors.New("the file is damaged")

// Unavailable returns the error of a Store that cannot be used. The cause is logged, but not sent to clients.
func Unavailable(cause error) *apperr.Error {
	return apperr.New(apperr.Unavailable, "The storage of files is unavailable. Try again in a few seconds.").WithCause(cause)
}
