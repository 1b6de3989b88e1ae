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

// translate makes an error of the driver what package store promises.
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

// isUnavailable reports whether err says that the file cannot be used, rather than that a statement is wrong: a full or
// read-only disk, a failed read or write, a lock that another program does not let go, and the like.
func isUnavailable(err error) bool {
	switch codeOf(err) & 0xff {
	case sqlite3.SQLITE_OK, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG,
		sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE:
		return false
	}
	return true
}

// codeOf is SQLite's extended result code; 0 for another error.
func codeOf(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return sqlite3.SQLITE_OK
	}
	return e.Code()
}

// uniqueFields reads the fields of a unique index from SQLite's message, which names the index, or the column id.
func uniqueFields(err error) []string {
	_, after, ok := strings.Cut(err.Error(), "index '")
	if !ok {
		return []string{"id"}
	}
	name, _, _ := strings.Cut(after, "'")
	return fieldsOf(name)
}
