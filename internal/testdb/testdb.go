// Package testdb gives tests a database of their own.
package testdb

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"example.com/ginseng/internal/store"
	"example.com/ginseng/internal/store/engines"
)

// Open opens a new, empty database: on the server that TEST_MONGODB_URI names, else on the embedded engine. The test's clean-up removes it.
func Open(t testing.TB) store.DB {
	t.Helper()
	address := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	if uri := os.Getenv("TEST_MONGODB_URI"); uri != "" {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatalf("TEST_MONGODB_URI: %v", err)
		}
		u.Path = "/test_" + store.NewID().Hex()
		address = u.String()
	}
	db, err := engines.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d, ok := db.(interface{ Drop(context.Context) error }); ok {
			if err := d.Drop(context.Background()); err != nil {
				t.Errorf("drop the test's database: %v", err)
			}
		}
		_ = db.Close() // a test may have closed it
	})
	return db
}
