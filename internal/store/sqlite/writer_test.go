package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"example.com/ginseng/internal/apperr"
	"example.com/ginseng/internal/store"
)

type item struct {
	store.Meta `bson:",inline"`
	Name       string `json:"name"`
}

func newItem(name string) item {
	return item{Meta: store.NewMeta(store.NewID(), store.Time{}), Name: name}
}

var itemSpec = store.Spec{Name: "items", Search: []string{"name"}, Indexes: []store.Index{{Fields: []string{"name"}, Unique: true}}}

func openItems(t *testing.T, opts Options) (*DB, *store.Collection[item]) {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "items.db"), opts)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	c := store.Open[item](db, itemSpec)
	must(t, db.Prepare(t.Context()))
	return db, c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCount(t *testing.T, c *store.Collection[item], want int64) {
	t.Helper()
	for _, f := range []store.Filter{nil, store.Ne("name", "none"), store.Search("item")} {
		n, err := c.Count(t.Context(), f)
		must(t, err)
		if n != want {
			t.Errorf("Count(%v) is %d, want %d", f, n, want)
		}
	}
}

// hold keeps the writer busy until the returned function is called.
func hold(t *testing.T, db *DB) (release func()) {
	t.Helper()
	begun, end := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		db.writer.do(t.Context(), func(*transaction) error { // fails if its batch does
			close(begun)
			<-end
			return nil
		})
	})
	<-begun
	return func() {
		close(end)
		group.Wait()
	}
}

// run has the writer's connection do something between two batches.
func run(t *testing.T, db *DB, text string) {
	t.Helper()
	db.writer.using.Lock()
	defer db.writer.using.Unlock()
	must(t, db.writer.conn.run(context.Background(), text))
}

// TestFaults takes from the writer, in several ways, what it needs: every write is Unavailable, every read is answered,
// and as soon as the fault is over all is well.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, fault, mended string }{
		{"full", "PRAGMA max_page_count=1", "PRAGMA max_page_count=1000000"},
		{"read-only", "PRAGMA query_only=ON", "PRAGMA query_only=OFF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, c := openItems(t, Options{})
			long := make([]byte, 100_000) // needs pages of its own
			for i := range long {
				long[i] = 'x'
			}
			before := newItem("item before")
			must(t, c.Insert(t.Context(), before))

			run(t, db, test.fault)
			for range 3 {
				if err := c.Insert(t.Context(), newItem("item "+string(long))); !apperr.Is(err, apperr.Unavailable) {
					t.Errorf("Insert returns %v, want Unavailable", err)
				}
			}
			_, err := c.Update(t.Context(), store.Eq("id", before.ID), store.Set("name", "item "+string(long)))
			if !apperr.Is(err, apperr.Unavailable) {
				t.Errorf("Update returns %v, want Unavailable", err)
			}
			_, err = c.Get(t.Context(), before.ID)
			must(t, err)
			wantCount(t, c, 1)

			run(t, db, test.mended)
			must(t, c.Insert(t.Context(), newItem("item after")))
			wantCount(t, c, 2)
		})
	}

	t.Run("locked", func(t *testing.T) {
		t.Parallel()
		db, c := openItems(t, Options{})
		run(t, db, "PRAGMA busy_timeout=0")
		other, err := db.readers.open(t.Context())
		must(t, err)
		must(t, other.run(t.Context(), "PRAGMA query_only=OFF"))
		must(t, other.run(t.Context(), "BEGIN IMMEDIATE"))
		if err := c.Insert(t.Context(), newItem("item")); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("Insert returns %v, want Unavailable", err)
		}
		must(t, other.close())
		must(t, c.Insert(t.Context(), newItem("item")))
		wantCount(t, c, 1)
	})
}

// TestFailedCommit checks that a batch whose COMMIT fails is Unavailable as a whole, and leaves nothing.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	// A foreign key that is checked at COMMIT alone stands for a disk that fails there.
	run(t, db, "PRAGMA foreign_keys=ON")
	run(t, db, "CREATE TABLE promise (n INTEGER REFERENCES items(n) DEFERRABLE INITIALLY DEFERRED)")
	must(t, c.Insert(t.Context(), newItem("item taken")))

	release := hold(t, db)
	var group sync.WaitGroup
	writes := []func() error{
		func() error { return c.Insert(t.Context(), newItem("item")) },
		func() error { return c.Insert(t.Context(), newItem("item taken")) }, // its Conflict may be with what is undone
		func() error { _, err := c.Delete(t.Context(), nil); return err },
		func() error {
			return db.writer.do(t.Context(), func(tx *transaction) error {
				_, err := tx.exec("INSERT INTO promise VALUES (?)", int64(-1))
				return err
			})
		},
	}
	for i, write := range writes {
		group.Go(func() {
			if err := write(); !apperr.Is(err, apperr.Unavailable) {
				t.Errorf("write %d returns %v, want Unavailable", i, err)
			}
		})
	}
	for len(db.writer.queue) < len(writes) {
		runtime.Gosched()
	}
	release()
	group.Wait()
	wantCount(t, c, 1)
	must(t, c.Insert(t.Context(), newItem("item")))
	wantCount(t, c, 2)
}

// TestGivenUp checks that a write whose caller has gone before its turn is not made, and that one in its turn is.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	release := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() { answer <- c.Insert(ctx, newItem("item given up")) }()
	for len(db.writer.queue) == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-answer; !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("Insert returns %v before its turn, want Unavailable by context.Canceled", err)
	}
	release()
	must(t, c.Insert(t.Context(), newItem("item")))
	wantCount(t, c, 1)

	ctx, cancel = context.WithCancel(t.Context())
	must(t, db.writer.do(ctx, func(*transaction) error {
		cancel()
		return nil
	}))
}

// TestReaders checks that reads do not wait for a write, but for their turn.
func TestReaders(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{Readers: 1})
	d := newItem("item")
	must(t, c.Insert(t.Context(), d))
	release := hold(t, db)
	_, err := c.Get(t.Context(), d.ID)
	must(t, err)
	release()

	ctx, cancel := context.WithCancel(t.Context())
	err = db.readers.use(t.Context(), func(*conn) error {
		answer := make(chan error)
		go func() {
			_, err := c.Get(ctx, d.ID)
			answer <- err
		}()
		cancel()
		return <-answer
	})
	if !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("Get without a reader returns %v, want Unavailable by context.Canceled", err)
	}
	_, err = c.Get(t.Context(), d.ID)
	must(t, err)
}

// TestStatements checks that a connection keeps the statements used last, and no more than its share.
func TestStatements(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{Readers: 1})
	must(t, c.Insert(t.Context(), newItem("item")))
	var filters []store.Filter
	for range 2 * maxStatements {
		filters = append(filters, store.Ne("name", "none"))
		_, err := c.First(t.Context(), store.And(filters...))
		must(t, err)
		_, err = c.First(t.Context(), nil)
		must(t, err)
	}
	must(t, db.readers.use(t.Context(), func(conn *conn) error {
		if n := len(conn.prepared); n != maxStatements || conn.lastUsed.Len() != n {
			t.Errorf("the connection keeps %d statements, want %d", n, maxStatements)
		}
		if conn.prepared[`SELECT CAST(doc AS BLOB) FROM "items" WHERE 1 ORDER BY id LIMIT 1`] == nil {
			t.Error("a statement in use was dropped")
		}
		return nil
	}))
}
