package mongo

import (
	"context"

	"example.com/ginseng/kit/store"
)

// Atomic implements store.DB. It is not supported yet.
func (db *DB) Atomic(context.Context, func(context.Context) error) error {
	return store.ErrNoTransactions
}

// Together implements store.DB. It calls f.
func (db *DB) Together(ctx context.Context, f func(context.Context) error) error { return f(ctx) }

// Serializable implements store.DB: transactions of MongoDB allow write skew.
func (db *DB) Serializable() bool { return false }

// Lock implements store.Engine.
func (c *collection) Lock(context.Context, ...store.ID) error { return store.ErrNoAtomic }
