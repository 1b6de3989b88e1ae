package mongo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"

	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"example.com/ginseng/kit/store"
)

// Codes of MongoDB's errors (error_codes.yml in MongoDB's source).
const (
	codeNamespaceNotFound     = 26
	codeIndexNotFound         = 27
	codeIndexOptionsConflict  = 85
	codeIndexKeySpecsConflict = 86
	codeNotImplemented        = 238
)

// unavailableCodes are the codes of errors that a server returns while it cannot serve requests.
var unavailableCodes = []int{
	6,     // HostUnreachable
	7,     // HostNotFound
	50,    // MaxTimeMSExpired
	64,    // WriteConcernTimeout
	89,    // NetworkTimeout
	91,    // ShutdownInProgress
	100,   // UnsatisfiableWriteConcern
	133,   // FailedToSatisfyReadPreference
	134,   // ReadConcernMajorityNotAvailableYet
	189,   // PrimarySteppedDown
	202,   // NetworkInterfaceExceededTimeLimit
	262,   // ExceededTimeLimit
	462,   // IngressRequestRateLimitExceeded
	8000,  // AtlasError: for example, over the quota
	9001,  // SocketException
	10058, // LegacyNotPrimary
	10107, // NotWritablePrimary
	11600, // InterruptedAtShutdown
	11602, // InterruptedDueToReplStateChange
	13435, // NotPrimaryNoSecondaryOk
	13436, // NotPrimaryOrSecondary
	14031, // OutOfDiskSpace
}

// translate converts a driver error to the corresponding error of package store. If there is none, it adds the prefix "mongo:".
// indexes are the indexes of the collection; nil if the command cannot cause a duplicate.
func translate(err error, indexes []index) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, driver.ErrNoDocuments):
		return store.ErrNotFound
	case isDuplicate(err):
		return store.Duplicate(duplicateFields(err, indexes)...).WithCause(err)
	case isUnavailable(err):
		return store.Unavailable(err)
	}
	return fmt.Errorf("mongo: %w", err)
}

// isUnavailable reports whether the database could not serve the request, or the context ended.
func isUnavailable(err error) bool {
	for _, cause := range []error{
		context.Canceled, context.DeadlineExceeded, driver.ErrClientDisconnected, io.EOF, io.ErrUnexpectedEOF,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	if network := net.Error(nil); errors.As(err, &network) || driver.IsTimeout(err) || isDeadlock(err) || hasCode(err, unavailableCodes...) {
		return true
	}
	// If another operation has just found the server unreachable, the driver returns an error with the method Retryable.
	var pool interface{ Retryable() bool }
	if errors.As(err, &pool) && pool.Retryable() {
		return true
	}
	// The driver adds these labels to errors after which a retry can succeed, such as a lost connection.
	return hasLabel(err, "NetworkError", "RetryableWriteError", "TransientTransactionError")
}

// hasLabel reports whether the driver has given err one of the labels.
func hasLabel(err error, labels ...string) bool {
	var labeled driver.LabeledError
	return errors.As(err, &labeled) && slices.ContainsFunc(labels, labeled.HasErrorLabel)
}

// isDuplicate reports whether a unique index rejected a write, or could not be created because of duplicates. FerretDB 1 and
// DocumentDB return MongoDB's code only for an insert. For other writes, they return the message of SQLite or PostgreSQL.
func isDuplicate(err error) bool {
	return driver.IsDuplicateKeyError(err) ||
		hasMessage(err, "UNIQUE constraint failed: index", "violates exclusion constraint", "violates unique constraint",
			"could not create exclusion constraint")
}

// duplicateIndex finds the name of the index in the message of a duplicate error. MongoDB writes "index: NAME dup key",
// FerretDB 1 "index 'TABLE_NAME'" or no name, DocumentDB "Index 'NAME'" or no name.
var duplicateIndex = regexp.MustCompile(`index: (\S+) dup key|[iI]ndex '[^']*?(` + idIndex + `|` + uniquePrefix + `[^']+)'`)

// duplicateFields returns the fields of the index that rejected a write, or nil if the message names none of the indexes.
func duplicateFields(err error, indexes []index) []string {
	found := duplicateIndex.FindStringSubmatch(err.Error())
	if found == nil {
		return nil
	}
	name := found[1] + found[2]
	if name == idIndex {
		return []string{"id"}
	}
	for _, idx := range indexes {
		if idx.name == name {
			return idx.fields
		}
	}
	return nil
}

// hasMessage reports whether err is a server error with one of the strings in its message.
func hasMessage(err error, parts ...string) bool {
	var server driver.ServerError
	return errors.As(err, &server) && slices.ContainsFunc(parts, server.HasErrorMessage)
}

// hasCode reports whether err is a server error with one of the codes.
func hasCode(err error, codes ...int) bool {
	var server driver.ServerError
	return errors.As(err, &server) && slices.ContainsFunc(codes, server.HasErrorCode)
}
