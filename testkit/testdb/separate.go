package testdb

import (
	"context"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// Separate returns db as a database without transactions: Together stores each write immediately, and Atomic returns
// store.ErrNoTransactions.
func Separate(db store.DB) store.DB { return separate{db} }

type separate struct{ store.DB }

func (separate) Atomic(context.Context, func(context.Context) error) error {
	return store.ErrNoTransactions
}

func (separate) Together(ctx context.Context, f func(context.Context) error) error {
	return store.Separately(ctx, f)
}

func (separate) Serializable() bool { return false }

// Each runs a test with a new database of Open and, on the embedded engine, also with a database without transactions.
func Each(t *testing.T, test func(t *testing.T, db store.DB)) {
	t.Run("as opened", func(t *testing.T) {
		t.Parallel()
		test(t, Open(t))
	})
	if mongotest.Available() {
		return
	}
	t.Run("without transactions", func(t *testing.T) {
		t.Parallel()
		test(t, Separate(Open(t)))
	})
}
