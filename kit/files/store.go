package files

import (
	"context"
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

// errNotFound is returned if the Store has no file with the ID.
var errNotFound = apperr.New(apperr.NotFound, "There is no such file.")

// unavailable returns the error for storage that cannot be used. The cause is logged, but not sent to clients.
func unavailable(cause error) error {
	return apperr.New(apperr.Unavailable, "The storage of files is unavailable. Try again in a few seconds.").WithCause(cause)
}
