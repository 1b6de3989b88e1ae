package mongo

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// lockKey is the field that Lock increments. Decoded documents do not have this field.
const lockKey = "_lock"

// probes is the collection into which hasTransactions inserts documents. Names omits it.
const probes = "_transactions"

// transaction is the state of one attempt to run the function passed to Atomic.
type transaction struct {
	engine.Transaction
	failed error // the error of the last operation; may wrap an error of the driver
}

type transactionKey struct{ client *driver.Client }

// transactionOf returns the transaction of ctx, even if Atomic has returned; nil if ctx does not belong to an Atomic.
func transactionOf(ctx context.Context, client *driver.Client) *transaction {
	t, _ := ctx.Value(transactionKey{client}).(*transaction)
	return t
}

// Atomic implements store.DB with a transaction that reads a majority-committed snapshot. The driver repeats f after a conflict
// or an election, until the timeout for operations expires.
func (db *DB) Atomic(ctx context.Context, f func(context.Context) error) error {
	if t := transactionOf(ctx, db.client); t != nil {
		return t.Join(ctx, f)
	}
	if !db.transactions.Load() {
		return store.ErrNoTransactions
	}
	if ctx.Err() != nil {
		return store.Busy(ctx.Err()).AsOverload()
	}
	session, err := db.client.StartSession()
	if err != nil {
		return translate(err, nil)
	}
	defer session.EndSession(context.WithoutCancel(ctx)) // aborts the transaction if f panics
	var result error
	var commit *store.Commit // the Commit of the last attempt
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		ctx, commit = store.WithCommit(ctx)
		t := new(transaction)
		result = t.Run(context.WithValue(ctx, transactionKey{db.client}, t), f)
		if hasLabel(t.failed, "TransientTransactionError") { // the driver repeats f, even if f has returned another error
			return nil, t.failed
		}
		return nil, result
	}, options.Transaction().SetReadConcern(readconcern.Snapshot())) // writes use the client's write concern
	if err != nil && result == nil {
		return translate(err, nil) // an error of the commit
	}
	if result == nil {
		commit.Run()
	}
	db.log.wake()
	return result
}

// Together implements store.DB.
func (db *DB) Together(ctx context.Context, f func(context.Context) error) error {
	if db.transactions.Load() {
		return db.Atomic(ctx, f)
	}
	return store.Separately(ctx, f)
}

// Serializable implements store.DB. It returns false, because snapshots allow write skew.
func (db *DB) Serializable() bool { return false }

// hasTransactions reports whether the server supports transactions. It inserts a document in a transaction, checks that only
// the transaction finds the document, and aborts. The features that a server announces are not reliable: FerretDB announces
// sessions, but ignores transactions. After an error, hasTransactions returns false.
func (db *DB) hasTransactions(ctx context.Context) bool {
	coll, id := db.db.Collection(probes), bson.D{{Key: idKey, Value: store.NewID()}}
	found := func(ctx context.Context) (bool, error) {
		err := coll.FindOne(ctx, id).Err()
		return err == nil, ignoreMissing(err)
	}
	errAbort := errors.New("mongo: abort")
	defer func() { _, _ = coll.DeleteOne(ctx, id) }()
	s, err := db.client.StartSession()
	if err != nil {
		return false
	}
	defer s.EndSession(ctx)
	_, err = s.WithTransaction(ctx, func(inside context.Context) (any, error) {
		if _, err := coll.InsertOne(inside, id); err != nil {
			return nil, err
		}
		own, err := found(inside)
		others, otherErr := found(ctx)
		if err := errors.Join(err, otherErr); err != nil || !own || others {
			return nil, errors.Join(err, errors.New("mongo: no isolation"))
		}
		return nil, errAbort
	})
	left, findErr := found(ctx)
	return errors.Is(err, errAbort) && findErr == nil && !left
}

// ignoreMissing returns nil if err means that FindOne has found no document, and err otherwise.
func ignoreMissing(err error) error {
	if errors.Is(err, driver.ErrNoDocuments) {
		return nil
	}
	return err
}

// atomicCollection runs each operation of a collection as part of the Atomic to which its context belongs.
type atomicCollection struct{ *collection }

// do calls operation, whose filter is f. If ctx belongs to an Atomic, the operation is part of this Atomic.
func (e atomicCollection) do(ctx context.Context, f store.Filter, operation func() error) error {
	t := transactionOf(ctx, e.client)
	if t == nil {
		return operation()
	}
	return t.Do(ctx, func() error {
		if engine.HasSearch(f) {
			return store.ErrSearchInAtomic
		}
		t.failed = operation()
		return t.failed
	})
}

// Insert implements store.Engine.
func (e atomicCollection) Insert(ctx context.Context, id store.ID, doc any) error {
	return e.do(ctx, nil, func() error { return e.collection.Insert(ctx, id, doc) })
}

// First implements store.Engine.
func (e atomicCollection) First(ctx context.Context, f store.Filter, into any) error {
	return e.do(ctx, f, func() error { return e.collection.First(ctx, f, into) })
}

// List implements store.Engine.
func (e atomicCollection) List(ctx context.Context, q store.Query, next func() any) (n int64, err error) {
	err = e.do(ctx, q.Filter, func() (err error) {
		n, err = e.collection.List(ctx, q, next)
		return err
	})
	return n, err
}

// Update implements store.Engine.
func (e atomicCollection) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	return e.do(ctx, f, func() error { return e.collection.Update(ctx, f, changes, into) })
}

// Delete implements store.Engine.
func (e atomicCollection) Delete(ctx context.Context, f store.Filter) (n int64, err error) {
	err = e.do(ctx, f, func() (err error) {
		n, err = e.collection.Delete(ctx, f)
		return err
	})
	return n, err
}

// Reset implements store.Engine.
func (e atomicCollection) Reset(ctx context.Context) error {
	if !e.spec.Changes {
		return nil
	}
	return e.log.reset(ctx, e.spec.Name)
}

// Lock implements store.Engine. It changes the documents. If several concurrent transactions lock the same document, only one
// of them can commit.
func (e atomicCollection) Lock(ctx context.Context, ids ...store.ID) error {
	if transactionOf(ctx, e.client) == nil {
		return store.ErrNoAtomic
	}
	ids = slices.Compact(slices.SortedFunc(slices.Values(ids), func(a, b store.ID) int { return slices.Compare(a[:], b[:]) }))
	return e.do(ctx, nil, func() error {
		filter, err := e.existing(store.In("id", store.Values(ids)...))
		if err != nil {
			return err
		}
		result, err := e.coll.UpdateMany(ctx, filter, bson.D{{Key: "$inc", Value: bson.D{{Key: lockKey, Value: int64(1)}}}})
		if err == nil && result.MatchedCount < int64(len(ids)) {
			return store.ErrNotFound
		}
		return translate(err, nil)
	})
}
