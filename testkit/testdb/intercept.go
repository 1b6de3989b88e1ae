package testdb

import (
	"context"

	"example.com/ginseng/kit/store"
)

// Call is a call of a database.
type Call struct {
	// Name has the method and the collection, for example "Insert users", or is "Atomic" or "Together". The methods are Insert,
	// First, List, Update and Delete. A List that only counts has the name "Count".
	Name string
	// Counts reports whether a List also counts.
	Counts bool
}

// Intercept returns db with a function through which the calls of Call go. The function must call do, which makes the call, at
// most once, and returns the error of the call. Other methods are not intercepted. In an Atomic, the function must not wait for
// other writes. Goroutines can call the function at the same time.
func Intercept(db store.DB, through func(ctx context.Context, c Call, do func() error) error) store.DB {
	return intercepted{db, through}
}

// Before returns db with a function that runs before each call with the name.
func Before(db store.DB, name string, f func()) store.DB {
	return Intercept(db, func(_ context.Context, c Call, do func() error) error {
		if c.Name == name {
			f()
		}
		return do()
	})
}

type intercepted struct {
	store.DB
	through func(context.Context, Call, func() error) error
}

func (i intercepted) Open(spec store.Spec) store.Engine {
	return interceptedEngine{i.DB.Open(spec), i, spec.Name}
}

func (i intercepted) Atomic(ctx context.Context, f func(context.Context) error) error {
	return i.through(ctx, Call{Name: "Atomic"}, func() error { return i.DB.Atomic(ctx, f) })
}

func (i intercepted) Together(ctx context.Context, f func(context.Context) error) error {
	return i.through(ctx, Call{Name: "Together"}, func() error { return i.DB.Together(ctx, f) })
}

type interceptedEngine struct {
	store.Engine
	db         intercepted
	collection string
}

func (e interceptedEngine) call(ctx context.Context, method string, do func() error) error {
	return e.db.through(ctx, Call{Name: method + " " + e.collection}, do)
}

func (e interceptedEngine) Insert(ctx context.Context, id store.ID, doc any) error {
	return e.call(ctx, "Insert", func() error { return e.Engine.Insert(ctx, id, doc) })
}

func (e interceptedEngine) First(ctx context.Context, f store.Filter, into any) error {
	return e.call(ctx, "First", func() error { return e.Engine.First(ctx, f, into) })
}

func (e interceptedEngine) List(ctx context.Context, q store.Query, next func() any) (n int64, err error) {
	c := Call{Name: "List " + e.collection, Counts: q.MaxCount > 0}
	if next == nil {
		c.Name = "Count " + e.collection
	}
	err = e.db.through(ctx, c, func() error {
		n, err = e.Engine.List(ctx, q, next)
		return err
	})
	return n, err
}

func (e interceptedEngine) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	return e.call(ctx, "Update", func() error { return e.Engine.Update(ctx, f, changes, into) })
}

func (e interceptedEngine) Delete(ctx context.Context, f store.Filter) (n int64, err error) {
	err = e.call(ctx, "Delete", func() error {
		n, err = e.Engine.Delete(ctx, f)
		return err
	})
	return n, err
}
