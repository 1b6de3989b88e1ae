package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// openAtomic opens a database and creates a collection of docs. If the database has no transactions, openAtomic checks that
// Atomic fails, and skips the test.
func openAtomic(t *testing.T, open Opener, indexes ...store.Index) (store.DB, *store.Collection[doc]) {
	t.Helper()
	db := open(t)
	c := prepare(t, db, docSpec(indexes...))
	err := db.Atomic(t.Context(), func(ctx context.Context) error { return c.Insert(ctx, newDoc("probe")) })
	if errors.Is(err, store.ErrNoTransactions) {
		wantCode(t, err, apperr.NotSupported)
		wantTitles(t, c, nil)
		t.Skip("the server has no transactions")
	}
	must(t, err)
	_, err = c.Delete(t.Context(), nil)
	must(t, err)
	return db, c
}

// tenWrites makes ten writes: inserts, updates and a deletion. c must have the documents "kept" and "old".
func tenWrites(ctx context.Context, c, other *store.Collection[doc]) error {
	for i := range 3 {
		d := newDoc(fmt.Sprint("new", i))
		_, updateErr := c.Update(ctx, store.Eq("title", "kept"), store.Inc("count", 1), store.Set("body", "changed"))
		if err := errors.Join(c.Insert(ctx, d), other.Insert(ctx, d), updateErr); err != nil {
			return err
		}
	}
	n, err := c.Delete(ctx, store.Eq("title", "old"))
	if err == nil && n != 1 {
		err = fmt.Errorf("deleted %d documents, want 1", n)
	}
	return err
}

// wantSearch checks which documents a search for a word finds.
func wantSearch(t *testing.T, c *store.Collection[doc], word string, want ...string) {
	t.Helper()
	wantTitles(t, c, store.Search(word), want...)
}

func testAtomic(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	other := prepare(t, db, docSpec())
	kept := newDoc("kept")
	insert(t, c, kept, newDoc("old"))
	must(t, db.Atomic(t.Context(), func(ctx context.Context) error { return tenWrites(ctx, c, other) }))
	wantTitles(t, c, nil, "kept", "new0", "new1", "new2")
	wantTitles(t, other, nil, "new0", "new1", "new2")
	wantSearch(t, c, "changed", "kept")
	wantSearch(t, other, "new1", "new1")
	wantSearch(t, c, "old")
	got, err := c.Get(t.Context(), kept.ID)
	must(t, err)
	if got.Count != 3 || got.Version != 4 {
		t.Errorf("%+v", got)
	}
}

func testAtomicRollback(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	other := prepare(t, db, docSpec())
	kept := newDoc("kept")
	insert(t, c, kept, newDoc("old"))
	want, failure := []string{"kept", "old"}, errors.New("failure")
	for range 2 {
		_, err := c.Get(t.Context(), kept.ID) // the document is now in the cache
		must(t, err)
		err = db.Atomic(t.Context(), func(ctx context.Context) error {
			if err := tenWrites(ctx, c, other); err != nil {
				return err
			}
			if _, err := c.Get(ctx, kept.ID); err != nil {
				return err
			}
			return failure
		})
		if !errors.Is(err, failure) {
			t.Fatalf("Atomic returns %v", err)
		}
		wantTitles(t, c, nil, want...)
		wantTitles(t, other, nil)
		wantSearch(t, c, "old", "old")
		wantSearch(t, c, "changed")
		wantSearch(t, c, "new1")
		got, err := c.Get(t.Context(), kept.ID)
		must(t, err)
		wantDoc(t, got, kept)
		next := newDoc("next")
		insert(t, c, next) // may get the row number of a document that was rolled back
		wantSearch(t, c, "next", "next")
		_, err = c.Delete(t.Context(), store.Eq("id", next.ID))
		must(t, err)
	}
}

func testAtomicReads(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	old := newDoc("old")
	insert(t, c, old)
	check := func(ctx context.Context, want ...string) {
		t.Helper()
		docs, n, err := c.Page(ctx, store.Query{})
		must(t, err)
		some, err := c.Count(ctx, store.Ne("title", "none"))
		must(t, err)
		all, err := c.Count(ctx, nil)
		must(t, err)
		var got []string
		for _, d := range docs {
			got = append(got, d.Title)
			one, err := c.Get(ctx, d.ID)
			must(t, err)
			if one.Title != d.Title {
				t.Errorf("Get returns %q, and List %q", one.Title, d.Title)
			}
		}
		if !slices.Equal(got, want) || n != int64(len(want)) || some != n || all != n {
			t.Errorf("List has %q of %d, Count %d and %d, want %q", got, n, some, all, want)
		}
	}
	must(t, db.Atomic(t.Context(), func(ctx context.Context) error {
		check(t.Context(), "old") // the document is now in the cache
		_, err := c.Update(ctx, store.Eq("id", old.ID), store.Set("title", "changed"))
		must(t, errors.Join(err, c.Insert(ctx, newDoc("new"))))
		check(ctx, "changed", "new")
		check(t.Context(), "old")
		_, err = c.Delete(ctx, store.Eq("title", "new"))
		must(t, err)
		check(ctx, "changed")
		return nil
	}))
	check(t.Context(), "changed")
}

func testAtomicFailure(t *testing.T, open Opener) {
	db, c := openAtomic(t, open, unique("name"))
	insert(t, c, newDoc("taken", func(d *doc) { d.Name = new("taken") }))
	err := db.Atomic(t.Context(), func(ctx context.Context) error {
		must(t, c.Insert(ctx, newDoc("before")))
		wantConflict(t, c.Insert(ctx, newDoc("duplicate", func(d *doc) { d.Name = new("taken") })), "name")
		wantConflict(t, c.Insert(ctx, newDoc("after")), "name")
		_, err := c.Get(ctx, store.NewID())
		wantConflict(t, err, "name")
		return nil
	})
	wantConflict(t, err, "name")
	wantTitles(t, c, nil, "taken")

	for name, search := range map[string]func(context.Context) error{
		"List": func(ctx context.Context) error {
			_, err := c.List(ctx, store.Query{Filter: store.And(store.Search("taken"))})
			return err
		},
		"First": func(ctx context.Context) error { _, err := c.First(ctx, store.Search("taken")); return err },
		"Update": func(ctx context.Context) error {
			_, err := c.Update(ctx, store.Search("taken"), store.Inc("count", 1))
			return err
		},
		"Delete": func(ctx context.Context) error { _, err := c.Delete(ctx, store.Search("taken")); return err },
	} {
		if err := db.Atomic(t.Context(), search); !errors.Is(err, store.ErrSearchInAtomic) {
			t.Errorf("%s returns %v", name, err)
		}
	}

	must(t, db.Atomic(t.Context(), func(ctx context.Context) error { // NotFound does not end the Atomic
		_, err := c.Get(ctx, store.NewID())
		wantCode(t, err, apperr.NotFound)
		_, err = c.Update(ctx, store.Eq("title", "none"), store.Inc("count", 1))
		wantCode(t, err, apperr.NotFound)
		return c.Insert(ctx, newDoc("after"))
	}))
	wantTitles(t, c, nil, "taken", "after")
}

// testAtomicConflict runs concurrent functions that each read a number and write the next number.
func testAtomicConflict(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	d := newDoc("counter")
	insert(t, c, d)
	won := together(t, "", func(int) error {
		return db.Atomic(t.Context(), func(ctx context.Context) error {
			got, err := c.Get(ctx, d.ID)
			if err != nil {
				return err
			}
			runtime.Gosched()
			_, err = c.Update(ctx, store.Eq("id", d.ID), store.Set("count", got.Count+1))
			return err
		})
	})
	got, err := c.Get(t.Context(), d.ID)
	must(t, err)
	if won != crowd || got.Count != crowd {
		t.Errorf("%d functions ended, and have counted to %d", won, got.Count)
	}
}

func testAtomicPanic(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	for name, stop := range map[string]func(){"panic": func() { panic("stop") }, "Goexit": runtime.Goexit} {
		var group sync.WaitGroup
		var recovered any
		group.Go(func() {
			defer func() { recovered = recover() }()
			_ = db.Atomic(t.Context(), func(ctx context.Context) error {
				must(t, c.Insert(ctx, newDoc("new")))
				stop()
				return nil
			})
		})
		group.Wait()
		if want := map[string]any{"panic": "stop"}[name]; recovered != want {
			t.Errorf("%s: recovered %v, want %v", name, recovered, want)
		}
		wantTitles(t, c, nil)
	}
	insert(t, c, newDoc("after"))
	wantTitles(t, c, nil, "after")
}

func testAtomicContext(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	for _, rest := range []func(context.Context){
		func(ctx context.Context) { wantCode(t, c.Insert(ctx, newDoc("after")), apperr.Unavailable) },
		func(context.Context) {},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Atomic(ctx, func(ctx context.Context) error {
			must(t, c.Insert(ctx, newDoc("before")))
			cancel()
			rest(ctx)
			return nil
		})
		if wantCode(t, err, apperr.Unavailable); !errors.Is(err, context.Canceled) || !errors.Is(err, store.ErrBusy) {
			t.Errorf("Atomic returns %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := db.Atomic(ctx, func(context.Context) error {
		t.Error("the function runs, though the context has ended")
		return nil
	})
	wantCode(t, err, apperr.Unavailable)
	wantTitles(t, c, nil)
}

// testAtomicEnded uses the context of an Atomic after its end.
func testAtomicEnded(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	insert(t, c, newDoc("old"))
	failure := errors.New("failure")
	for _, result := range []error{nil, failure} {
		ended, late := make(chan struct{}), make(chan error)
		err := db.Atomic(t.Context(), func(ctx context.Context) error {
			go func() {
				<-ended
				for _, ctx := range []context.Context{ctx, context.WithoutCancel(ctx)} {
					for name, call := range methods(c) {
						if err := call(ctx); err == nil || ctx.Err() == nil && apperr.CodeOf(err) != apperr.Internal {
							t.Errorf("%s after the end returns %v", name, err)
						}
					}
					late <- db.Atomic(ctx, func(context.Context) error { return nil })
				}
			}()
			return result
		})
		if err != result {
			t.Errorf("Atomic returns %v, want %v", err, result)
		}
		close(ended)
		for range 2 {
			if <-late == nil {
				t.Error("an Atomic with the context of one that has ended succeeds")
			}
		}
		wantTitles(t, c, nil, "old")
	}
}

func testAtomicNested(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	failure := errors.New("failure")
	nested := func(inner func(context.Context) error) error {
		return db.Atomic(t.Context(), func(ctx context.Context) error {
			must(t, c.Insert(ctx, newDoc("outer")))
			func() {
				defer func() { _ = recover() }()
				_ = db.Atomic(ctx, inner)
			}()
			return nil
		})
	}
	err := nested(func(ctx context.Context) error {
		must(t, c.Insert(ctx, newDoc("inner")))
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("an outer Atomic returns %v, want the error of the inner one", err)
	}
	if err := nested(func(context.Context) error { panic("stop") }); err == nil {
		t.Error("an outer Atomic succeeds, though the inner one has panicked")
	}
	wantTitles(t, c, nil)
	must(t, nested(func(ctx context.Context) error {
		_, err := c.First(ctx, store.Eq("title", "outer"))
		return errors.Join(err, c.Insert(ctx, newDoc("inner")))
	}))
	wantTitles(t, c, nil, "outer", "inner")
}

func testLock(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	a, b := newDoc("a"), newDoc("b")
	insert(t, c, a, b)
	lock := func(ids ...store.ID) error {
		return db.Atomic(t.Context(), func(ctx context.Context) error { return c.Lock(ctx, ids...) })
	}
	must(t, lock())
	must(t, lock(b.ID, a.ID, b.ID))
	wantCode(t, lock(a.ID, store.NewID()), apperr.NotFound)
	if err := c.Lock(t.Context(), a.ID); !errors.Is(err, store.ErrNoAtomic) {
		t.Errorf("Lock outside of an Atomic returns %v", err)
	}
	got, err := c.Get(t.Context(), a.ID)
	must(t, err)
	wantDoc(t, got, a)
}

// testLockSkew takes two doctors off duty at the same time, each only if the other doctor is on duty.
func testLockSkew(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	ward := newDoc("ward")
	insert(t, c, ward)
	for range 10 {
		doctors := []doc{newDoc("a", func(d *doc) { d.Active = true }), newDoc("b", func(d *doc) { d.Active = true })}
		insert(t, c, doctors...)
		var group sync.WaitGroup
		for i, d := range doctors {
			group.Go(func() {
				must(t, db.Atomic(t.Context(), func(ctx context.Context) error {
					if err := c.Lock(ctx, ward.ID); err != nil {
						return err
					}
					other, err := c.Get(ctx, doctors[1-i].ID)
					if err != nil || !other.Active {
						return err
					}
					runtime.Gosched() // lets the other function read too, if the engine allows it
					_, err = c.Update(ctx, store.Eq("id", d.ID), store.Set("active", false))
					return err
				}))
			})
		}
		group.Wait()
		n, err := c.Count(t.Context(), store.Eq("active", true))
		must(t, err)
		if n != 1 {
			t.Fatalf("%d doctors are on duty, want one", n)
		}
		_, err = c.Delete(t.Context(), store.Ne("title", "ward"))
		must(t, err)
	}
}

// testTogether checks Together on every server, also without transactions.
func testTogether(t *testing.T, open Opener) {
	db := open(t)
	c := prepare(t, db, docSpec())
	must(t, db.Together(t.Context(), func(ctx context.Context) error {
		return errors.Join(c.Insert(ctx, newDoc("a")), c.Insert(ctx, newDoc("b")))
	}))
	wantTitles(t, c, nil, "a", "b")
	failure := errors.New("failure")
	if err := db.Together(t.Context(), func(context.Context) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("Together returns %v", err)
	}
}

// testAfterTogether checks, on every server, that AfterCommit calls a function once, after the outermost Together. Outside of a
// Together, AfterCommit calls the function immediately.
func testAfterTogether(t *testing.T, open Opener) {
	db := open(t)
	c := prepare(t, db, docSpec())
	calls := 0
	store.AfterCommit(t.Context(), func() { calls++ })
	var late context.Context
	inner := func(ctx context.Context) error {
		store.AfterCommit(ctx, func() {
			if exists, err := c.Exists(t.Context(), store.Eq("title", "a")); !exists {
				t.Errorf("called before the end: %v", err)
			}
			calls++
		})
		return c.Insert(ctx, newDoc("a"))
	}
	must(t, db.Together(t.Context(), func(ctx context.Context) error {
		late = ctx
		err := db.Together(ctx, inner)
		if calls != 1 {
			t.Errorf("%d calls before the end", calls)
		}
		return err
	}))
	store.AfterCommit(late, func() { calls++ })
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
}

// testAfterCommit checks that AfterCommit does not call the function if nothing is stored.
func testAfterCommit(t *testing.T, open Opener) {
	db, c := openAtomic(t, open)
	existing := newDoc("existing")
	must(t, c.Insert(t.Context(), existing))
	never := func(ctx context.Context) {
		store.AfterCommit(ctx, func() { t.Error("called although nothing was stored") })
	}
	wantCode(t, db.Atomic(t.Context(), func(ctx context.Context) error {
		never(ctx)
		_ = c.Insert(ctx, existing) // the Conflict ends the Atomic
		return nil
	}), apperr.Conflict)
	failure := errors.New("failure")
	if err := db.Atomic(t.Context(), func(ctx context.Context) error { never(ctx); return failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Atomic(t.Context(), func(ctx context.Context) error { never(ctx); panic("a panic") })
	}()
}
