// Package testdb provides databases for tests.
package testdb

import (
	"path/filepath"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// Open opens a new database. It uses the server at TEST_MONGODB_URI or, if that variable is not set, the embedded engine. The
// database is removed at the end of the test.
func Open(t testing.TB) store.DB {
	t.Helper()
	address := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	if mongotest.Available() {
		// On a busy machine, tests must wait longer for the server than a service should.
		address = mongotest.New(t, "timeoutMS=120000", "serverSelectionTimeoutMS=60000", "connectTimeoutMS=60000").String()
	}
	db, err := engines.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it
	return db
}

// SQLiteOnly skips a test that does not depend on the engine, or is about the embedded engine, if Open uses MongoDB.
func SQLiteOnly(t testing.TB) {
	t.Helper()
	if mongotest.Available() {
		t.Skip("runs only on the embedded engine")
	}
}

// Size returns n or, if Open uses MongoDB, few: the server of scripts/mongod runs one command at a time. Use Size for a number of
// records that does not depend on the engine.
func Size(n, few int) int {
	if mongotest.Available() {
		return few
	}
	return n
}
