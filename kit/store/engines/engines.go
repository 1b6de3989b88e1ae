// Package engines opens a database by its address.
package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo"
	"example.com/ginseng/kit/store/sqlite"
)

// ErrAddress is wrapped by the error that Open returns for an invalid address.
var ErrAddress = errors.New("not the address of a database")

// Open opens the database at an address of the form mongodb://…, mongodb+srv://… or sqlite:PATH. It does not wait for a
// connection to a server. Call Ping to check that the server is reachable. The error wraps ErrAddress if the address is invalid.
func Open(ctx context.Context, url string) (store.DB, error) {
	return open(ctx, url, sqlite.Options{})
}

// OpenExisting is like Open, but fails if the file of a sqlite address does not exist or is not a database of the service.
func OpenExisting(ctx context.Context, url string) (store.DB, error) {
	return open(ctx, url, sqlite.Options{Existing: true})
}

func open(ctx context.Context, url string, opts sqlite.Options) (store.DB, error) {
	scheme, _, _ := strings.Cut(url, ":")
	switch scheme {
	case "mongodb", "mongodb+srv":
		db, err := mongo.Open(url, nil)
		if err != nil { // Open has not connected yet, so the address must be invalid
			return nil, fmt.Errorf("%w: %w", ErrAddress, err)
		}
		return db, nil
	case "sqlite":
		return sqlite.Open(ctx, Path(url), opts)
	}
	return nil, fmt.Errorf("%w: no engine for addresses that begin with %q; write mongodb://HOST/NAME or sqlite:PATH", ErrAddress, scheme)
}

// Path returns the path of the file in a sqlite address; "" for other addresses.
func Path(url string) string {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return strings.TrimPrefix(path, "//")
	}
	return ""
}

// Redact returns an address without user, password and options, for logs and messages.
func Redact(url string) string {
	if Path(url) != "" {
		return url
	}
	scheme, rest, _ := strings.Cut(url, "://")
	credentials, server, found := strings.Cut(rest, "@")
	if !found {
		server = rest
	} else if strings.ContainsAny(credentials, "/?") || strings.Contains(server, "@") {
		return scheme + ":…" // the end of the password is ambiguous
	}
	server, _, _ = strings.Cut(server, "?")
	return scheme + "://" + server
}

// Same reports whether two addresses obviously name the same database. If Same returns false, the addresses may still name the
// same database, because a server can have several addresses.
func Same(a, b string) bool {
	if Path(a) == "" || Path(b) == "" {
		return Redact(a) == Redact(b)
	}
	one, err := os.Stat(Path(a))
	other, otherErr := os.Stat(Path(b))
	return err == nil && otherErr == nil && os.SameFile(one, other) || filepath.Clean(Path(a)) == filepath.Clean(Path(b))
}
