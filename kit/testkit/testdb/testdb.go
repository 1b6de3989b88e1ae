// Package testdb provides databases for tests.
package testdb

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
)

// Open opens a new database: on the server at TEST_MONGODB_URI or, if that is not set, of the embedded engine. It is removed
// at the end of the test.
func Open(t testing.TB) store.DB {
	t.Helper()
	address := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	if uri := os.Getenv("TEST_MONGODB_URI"); uri != "" {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatalf("TEST_MONGODB_URI: %v", err)
		}
		u.Path = "/test_" + store.NewID().Hex()
		// Tests on a busy machine wait longer for the server than a service should.
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&timeoutMS=120000&serverSelectionTimeoutMS=60000&connectTimeoutMS=60000", "&")
		address = u.String()
	}
	db, err := engines.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = db.Close() // a test may have closed it
		if strings.HasPrefix(address, "mongodb") {
			drop(t, address)
		}
	})
	return db
}

// drop drops all collections of the database at the address.
func drop(t testing.TB, address string) {
	db, err := engines.Open(context.Background(), address)
	if err != nil {
		t.Error(err)
		return
	}
	names, err := db.Names(context.Background())
	for _, name := range names {
		err = errors.Join(err, db.Drop(context.Background(), name))
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Errorf("drop the test's database: %v", err)
	}
}
