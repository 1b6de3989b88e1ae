package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// queue starts a call that queues a write, waits until the write is in the queue, and returns a function that waits for the
// error of the call.
func queue(t *testing.T, db *DB, call func() error) (wait func() error) {
	t.Helper()
	before, result := len(db.writer.queue), make(chan error, 1)
	go func() { result <- call() }()
	for len(db.writer.queue) == before {
		runtime.Gosched()
	}
	return func() error { return <-result }
}

// TestAtomicLimit runs functions that take longer than the limit. The writes that wait in the meantime succeed.
func TestAtomicLimit(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	db.writer.limit = 200 * time.Millisecond
	for name, block := range map[string]func(ctx context.Context){
		"waits":                     func(ctx context.Context) { <-ctx.Done() },
		"waits for another context": func(context.Context) { must(t, c.Insert(t.Context(), newItem("item"))) },
	} {
		err := db.Atomic(t.Context(), func(ctx context.Context) error {
			must(t, c.Insert(ctx, newItem("item of the function")))
			wait := func() error { return nil }
			if name == "waits" {
				wait = queue(t, db, func() error { return c.Insert(t.Context(), newItem("item queued")) })
			}
			block(ctx)
			must(t, wait())
			for _, ctx := range []context.Context{ctx, context.WithoutCancel(ctx)} {
				if err := c.Insert(ctx, newItem("item late")); !errors.Is(err, store.ErrTooLong) {
					t.Errorf("%s: Insert after the limit returns %v", name, err)
				}
				if _, err := c.First(ctx, nil); !errors.Is(err, store.ErrTooLong) {
					t.Errorf("%s: First after the limit returns %v", name, err)
				}
			}
			return nil
		})
		if !errors.Is(err, store.ErrTooLong) {
			t.Errorf("%s: Atomic returns %v", name, err)
		}
	}
	wantCount(t, c, 2)
}

// TestAtomicInBatch rolls an Atomic back between other writes of its transaction. The words of these writes are not indexed
// yet.
func TestAtomicInBatch(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	old, before := newItem("item old"), newItem("item before")
	must(t, c.Insert(t.Context(), old))
	release := hold(t, db)
	insert := queue(t, db, func() error { return c.Insert(t.Context(), before) })
	update := queue(t, db, func() error {
		_, err := c.Update(t.Context(), store.Eq("id", old.ID), store.Set("name", "item changed"))
		return err
	})
	failure, after := errors.New("failure"), func() error { return nil }
	rejected := queue(t, db, func() error {
		return db.Atomic(t.Context(), func(ctx context.Context) error {
			must(t, c.Insert(ctx, newItem("item inside")))
			n, err := c.Delete(ctx, store.In("id", before.ID, old.ID)) // indexes the words of all writes of the transaction
			must(t, err)
			if n != 2 {
				t.Errorf("deleted %d items, want 2", n)
			}
			after = queue(t, db, func() error { return c.Insert(t.Context(), newItem("item after")) })
			return failure
		})
	})
	release()
	must(t, errors.Join(insert(), update()))
	if err := rejected(); !errors.Is(err, failure) {
		t.Errorf("Atomic returns %v", err)
	}
	must(t, after())
	wantCount(t, c, 3)
	for word, want := range map[string]int64{"changed": 1, "before": 1, "after": 1, "old": 0, "inside": 0} {
		n, err := c.Count(t.Context(), store.Search(word))
		must(t, err)
		if n != want {
			t.Errorf("%d items have %q, want %d", n, word, want)
		}
	}
}

// TestAtomicFirst makes the first Atomic of a transaction fail. The later writes are stored; the writes of the Atomic are not.
func TestAtomicFirst(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	old := newItem("item old")
	must(t, c.Insert(t.Context(), old))
	failure, between, accepted := errors.New("failure"), func() error { return nil }, func() error { return nil }
	err := db.Atomic(t.Context(), func(ctx context.Context) error {
		must(t, c.Insert(ctx, newItem("item inside")))
		n, err := c.Delete(ctx, store.Eq("id", old.ID)) // indexes the words
		if n != 1 {
			t.Errorf("deleted %d items, want 1", n)
		}
		must(t, err)
		between = queue(t, db, func() error { return c.Insert(t.Context(), newItem("item between")) })
		accepted = queue(t, db, func() error {
			return db.Atomic(t.Context(), func(ctx context.Context) error { return c.Insert(ctx, newItem("item accepted")) })
		})
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("Atomic returns %v", err)
	}
	must(t, errors.Join(accepted(), between()))
	wantCount(t, c, 3)
	for word, want := range map[string]int64{"old": 1, "inside": 0, "between": 1, "accepted": 1} {
		n, err := c.Count(t.Context(), store.Search(word))
		must(t, err)
		if n != want {
			t.Errorf("%d items have %q, want %d", n, word, want)
		}
	}
}

// TestAtomicOrder checks that all queued writes run between two Atomics. A long Atomic must not share a transaction with the
// next Atomic: the writes between them would wait for the end of both.
func TestAtomicOrder(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	for _, long := range []bool{false, true} {
		_, err := c.Delete(t.Context(), nil)
		must(t, err)
		between := func() error { return nil }
		release := hold(t, db)
		first := queue(t, db, func() error {
			return db.Atomic(t.Context(), func(context.Context) error {
				between = queue(t, db, func() error { return c.Insert(t.Context(), newItem("item between")) })
				for begun := time.Now(); long && time.Since(begun) <= maxHeld; {
					runtime.Gosched()
				}
				return nil
			})
		})
		second := queue(t, db, func() error {
			return db.Atomic(t.Context(), func(ctx context.Context) error {
				if long {
					must(t, between()) // committed
				}
				n, err := c.Count(ctx, nil)
				if n != 2 {
					t.Errorf("the second Atomic finds %d items, want 2", n)
				}
				return err
			})
		})
		queued := queue(t, db, func() error { return c.Insert(t.Context(), newItem("item queued")) })
		release()
		must(t, errors.Join(first(), second(), queued()))
		if !long {
			must(t, between())
		}
	}
}

// TestAtomicFaults makes the file unusable during an Atomic, and at its commit.
func TestAtomicFaults(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	must(t, c.Insert(t.Context(), newItem("item")))
	run(t, db, "PRAGMA max_page_count=30")
	wantBatch(t, db, apperr.Unavailable,
		func() error { return c.Insert(t.Context(), newItem("item before")) },
		func() error {
			return db.Atomic(t.Context(), func(ctx context.Context) error {
				if err := c.Insert(ctx, newItem("item "+strings.Repeat("x", 1e6))); !apperr.Is(err, apperr.Unavailable) {
					t.Errorf("Insert returns %v", err)
				}
				return nil
			})
		},
	)
	wantBatch(t, db, apperr.Unavailable,
		func() error { return c.Insert(t.Context(), newItem("item "+strings.Repeat("x", 60_000))) },
		func() error { // the function of this Atomic does not run
			return db.Atomic(t.Context(), func(ctx context.Context) error { return c.Insert(ctx, newItem("item after")) })
		},
	)
	wantCount(t, c, 1)
	run(t, db, "PRAGMA max_page_count=1000000")

	run(t, db, "PRAGMA foreign_keys=ON")
	run(t, db, "CREATE TABLE promise (n INTEGER REFERENCES items(n) DEFERRABLE INITIALLY DEFERRED)")
	err := db.Atomic(t.Context(), func(ctx context.Context) error {
		_, err := db.writer.atomicOf(ctx).tx.exec("INSERT INTO promise VALUES (?)", int64(-1))
		return errors.Join(err, c.Insert(ctx, newItem("item")))
	})
	if !apperr.Is(err, apperr.Conflict) { // the name is a duplicate
		t.Errorf("Atomic returns %v", err)
	}
	err = db.Atomic(t.Context(), func(ctx context.Context) error {
		_, err := db.writer.atomicOf(ctx).tx.exec("INSERT INTO promise VALUES (?)", int64(-1))
		return errors.Join(err, c.Insert(ctx, newItem("item after")))
	})
	if !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("Atomic returns %v, though the commit fails", err)
	}
	wantCount(t, c, 1)
	must(t, db.Atomic(t.Context(), func(ctx context.Context) error { return c.Insert(ctx, newItem("item after")) }))
	wantCount(t, c, 2)
}

// TestAtomicGivenUp checks that the function of an Atomic does not run if the context ends before its turn.
func TestAtomicGivenUp(t *testing.T) {
	t.Parallel()
	db, _ := openItems(t, Options{})
	release := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	wait := queue(t, db, func() error {
		return db.Atomic(ctx, func(context.Context) error {
			t.Error("the function runs")
			return nil
		})
	})
	cancel()
	var busy *apperr.Error
	if err := wait(); !errors.As(err, &busy) || !busy.Overload || !errors.Is(err, context.Canceled) || !errors.Is(err, store.ErrBusy) {
		t.Errorf("Atomic returns %v, want Busy by context.Canceled as overload", err)
	}
	release()
	must(t, db.Atomic(t.Context(), func(context.Context) error { return nil }))
}

// TestRollbackTime checks that the time of an Atomic is reported if the Atomic is rolled back, and only then.
func TestRollbackTime(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	for _, failure := range []error{nil, errors.New("failure")} {
		ctx, rolledBack := store.WithRollbacks(t.Context())
		err := db.Atomic(ctx, func(ctx context.Context) error {
			must(t, c.Insert(ctx, newItem(fmt.Sprint("item ", failure))))
			return failure
		})
		if !errors.Is(err, failure) || rolledBack() > 0 != (failure != nil) {
			t.Errorf("Atomic returns %v, %v were rolled back", err, rolledBack())
		}
	}
}

// TestAtomicAlone calls methods that cannot be part of an Atomic.
func TestAtomicAlone(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	must(t, db.Atomic(t.Context(), func(ctx context.Context) error {
		for _, err := range []error{db.Prepare(ctx), db.Drop(ctx, "items"), c.Engine().Load(ctx, nil)} {
			if err == nil || !strings.Contains(err.Error(), "Atomic") {
				t.Errorf("error %v, want one that names Atomic", err)
			}
		}
		return nil
	}))
}

// TestAtomicClose closes the database while one Atomic runs and another Atomic waits.
func TestAtomicClose(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	var group sync.WaitGroup
	begun, end := make(chan struct{}), make(chan struct{})
	group.Go(func() {
		must(t, db.Atomic(t.Context(), func(ctx context.Context) error {
			close(begun)
			<-end
			return c.Insert(ctx, newItem("item a"))
		}))
	})
	<-begun
	wait := queue(t, db, func() error {
		return db.Atomic(t.Context(), func(ctx context.Context) error { return c.Insert(ctx, newItem("item b")) })
	})
	group.Go(func() { must(t, db.Close()) })
	close(end)
	must(t, wait())
	group.Wait()
	if err := db.Atomic(t.Context(), func(context.Context) error { return nil }); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("after Close, Atomic returns %v", err)
	}
}
