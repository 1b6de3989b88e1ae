package sqlite

import (
	"context"
	"errors"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// errClosed is the cause of the Unavailable after Close.
var errClosed = errors.New("sqlite: the database was closed")

// translate converts an error of the driver to one that package store documents.
func translate(err error) error {
	var translated *apperr.Error
	switch code := codeOf(err); {
	case errors.As(err, &translated):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), isUnavailable(err):
		return store.Unavailable(err)
	case code == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return store.Duplicate(uniqueFields(err)...).WithCause(err)
	}
	return err
}

// isUnavailable reports whether err means that the file cannot be used, for example a full or read-only disk, an I/O
// error or a lock of another program, rather than that a statement is wrong.
func isUnavailable(err error) bool {
	switch codeOf(err) & 0xff {
	case sqlite3.SQLITE_OK, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG,
		sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE:
		return false
	}
	return true
}

// codeOf returns SQLite's extended result code, 0 for other errors.
func codeOf(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return sqlite3.SQLITE_OK
	}
	return e.Code()
}

// uniqueFields parses the fields of a unique index from SQLite's message, which has the name of the index, or the
// column id.
func uniqueFields(err error) []string {
	_, after, ok := strings.Cut(err.Error(), "index '")
	if !ok {
		return []string{"id"}
	}
	name, _, _ := strings.Cut(after, "'")
	return fieldsOf(name)
}
