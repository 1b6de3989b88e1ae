package sqlite

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
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
		db.writer.do(t.Context(), func(*transaction) error { // fails if its batch fails
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

// run executes statements on the writer's connection between two batches.
func run(t *testing.T, db *DB, text string) {
	t.Helper()
	db.writer.connMu.Lock()
	defer db.writer.connMu.Unlock()
	must(t, db.writer.conn.run(context.Background(), text))
}

// TestFaults makes the file unusable for the writer in several ways. Meanwhile every write is Unavailable and every read
// works; afterwards writes work again.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, fault, mended string }{
		{"full", "PRAGMA max_page_count=1", "PRAGMA max_page_count=1000000"},
		{"read-only", "PRAGMA query_only=ON", "PRAGMA query_only=OFF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, c := openItems(t, Options{})
			long := strings.Repeat("x", 100_000) // needs several pages
			before := newItem("item before")
			must(t, c.Insert(t.Context(), before))

			run(t, db, test.fault)
			for range 3 {
				if err := c.Insert(t.Context(), newItem("item "+long)); !apperr.Is(err, apperr.Unavailable) {
					t.Errorf("Insert returns %v, want Unavailable", err)
				}
			}
			_, err := c.Update(t.Context(), store.Eq("id", before.ID), store.Set("name", "item "+long))
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

// TestFailedCommit checks that all writes of a batch whose COMMIT fails return Unavailable, and that no write is stored.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	// A foreign key that is only checked at COMMIT simulates a disk that fails at COMMIT.
	run(t, db, "PRAGMA foreign_keys=ON")
	run(t, db, "CREATE TABLE promise (n INTEGER REFERENCES items(n) DEFERRABLE INITIALLY DEFERRED)")
	must(t, c.Insert(t.Context(), newItem("item taken")))

	wantBatch(t, db, apperr.Unavailable,
		func() error { return c.Insert(t.Context(), newItem("item")) },
		func() error { return c.Insert(t.Context(), newItem("item taken")) }, // the Conflict may be with a write that is rolled back
		func() error { _, err := c.Delete(t.Context(), nil); return err },
		func() error {
			return db.writer.do(t.Context(), func(tx *transaction) error {
				_, err := tx.exec("INSERT INTO promise VALUES (?)", int64(-1))
				return err
			})
		},
	)
	wantCount(t, c, 1)
	must(t, c.Insert(t.Context(), newItem("item")))
	wantCount(t, c, 2)
}

// TestBrokenBatch checks that all writes of a batch fail if the disk is full for one of them, because SQLite may have rolled
// back the earlier writes.
func TestBrokenBatch(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	must(t, c.Insert(t.Context(), newItem("item")))
	run(t, db, "PRAGMA max_page_count=30")
	wantBatch(t, db, apperr.Unavailable,
		func() error { return c.Insert(t.Context(), newItem("item before")) },
		func() error { return c.Insert(t.Context(), newItem("item "+strings.Repeat("x", 60_000))) },
		func() error { return c.Insert(t.Context(), newItem("item after")) },
	)
	wantCount(t, c, 1)
	run(t, db, "PRAGMA max_page_count=1000000")
	must(t, c.Insert(t.Context(), newItem("item after")))
	wantCount(t, c, 2)
}

// TestBatch checks that the writes of one batch see each other, including in a search.
func TestBatch(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	a, b := newItem("item a"), newItem("item b")
	wantBatch(t, db, "",
		func() error { return c.Insert(t.Context(), a) },
		func() error { return c.Insert(t.Context(), b) },
		func() error {
			_, err := c.Update(t.Context(), store.Search("item b"), store.Set("name", "item c"))
			return err
		},
		func() error {
			_, err := c.Update(t.Context(), store.Eq("id", a.ID), store.Set("name", "item d"))
			return err
		},
		func() error {
			if n, err := c.Delete(t.Context(), store.Eq("id", a.ID)); err != nil || n != 1 {
				return fmt.Errorf("Delete of a has %d, %w", n, err)
			}
			return nil
		},
		func() error {
			if n, err := c.Delete(t.Context(), store.Search("item b")); err != nil || n != 0 {
				return fmt.Errorf("Delete of b, which is c by now, has %d, %w", n, err)
			}
			return nil
		},
	)
	wantCount(t, c, 1)
	got, err := c.First(t.Context(), store.Search("c"))
	must(t, err)
	if got.ID != b.ID || got.Version != 2 {
		t.Errorf("the remaining item is %v", got)
	}
}

// wantBatch makes the writes in one batch, in this order, and checks the error code of each write.
func wantBatch(t *testing.T, db *DB, want apperr.Code, writes ...func() error) {
	t.Helper()
	release := hold(t, db)
	var group sync.WaitGroup
	for i, write := range writes {
		group.Go(func() {
			if err := write(); !apperr.Is(err, want) {
				t.Errorf("write %d returns %v, want %q", i, err, want)
			}
		})
		for len(db.writer.queue) <= i {
			runtime.Gosched()
		}
	}
	release()
	group.Wait()
}

// TestGivenUp checks that a write is not made if its context ends before the write begins, and is made otherwise.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	release := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	response := make(chan error)
	go func() { response <- c.Insert(ctx, newItem("item given up")) }()
	for len(db.writer.queue) == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-response; !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) || !errors.Is(err, store.ErrBusy) {
		t.Errorf("Insert returns %v before its turn, want Busy by context.Canceled", err)
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

// TestReaders checks that reads wait for a free connection, but not for a write.
func TestReaders(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	db.byID = newReaders(1, db.byID.dsn)
	d := newItem("item")
	must(t, c.Insert(t.Context(), d))
	release := hold(t, db)
	_, err := c.Get(t.Context(), d.ID)
	must(t, err)
	release()

	ctx, cancel := context.WithCancel(t.Context())
	err = db.byID.use(t.Context(), func(*conn) error {
		response := make(chan error)
		go func() {
			_, err := c.First(ctx, nil) // not from the cache
			response <- err
		}()
		cancel()
		return <-response
	})
	if !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("First without a reader returns %v, want Unavailable by context.Canceled", err)
	}
	_, err = c.Get(t.Context(), d.ID)
	must(t, err)
}

// TestStatements checks that a connection keeps the most recently used statements, up to its limit.
func TestStatements(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("prepares hundreds of statements")
	}
	db, c := openItems(t, Options{})
	db.byID = newReaders(1, db.byID.dsn)
	must(t, c.Insert(t.Context(), newItem("item")))
	first := func() (kept *list.Element) {
		_, err := c.First(t.Context(), nil)
		must(t, err)
		must(t, db.byID.use(t.Context(), func(conn *conn) error {
			kept = conn.lastUsed.Front()
			if n := len(conn.prepared); n > maxStatements || conn.lastUsed.Len() != n {
				t.Errorf("the connection keeps %d statements, and may %d", n, maxStatements)
			}
			return nil
		}))
		return kept
	}
	inUse := first()
	var filters []store.Filter
	for range 2 * maxStatements {
		filters = append(filters, store.Ne("name", "none"))
		_, err := c.First(t.Context(), store.And(filters...))
		must(t, err)
		if first() != inUse {
			t.Fatal("a statement in use was dropped")
		}
	}
}

// TestSnapshot checks that a page has a row only once if the row moves while the page is read. The row moves from the part that
// is being read to the next part.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	items := []item{newItem("item a"), newItem("item b"), newItem("item c")}
	for _, d := range items {
		must(t, c.Insert(t.Context(), d))
	}
	last := items[2]
	q := store.Query{Sort: []store.Order{{Field: "name", Desc: true}}, After: []any{last.Name, last.ID}}
	var got []*item
	_, err := db.Open(itemSpec).List(t.Context(), q, func() any {
		if len(got) == 0 {
			_, err := c.Update(t.Context(), store.Eq("id", items[1].ID), store.Unset("name"))
			must(t, err)
		}
		got = append(got, &item{})
		return got[len(got)-1]
	})
	must(t, err)
	if len(got) != 2 || got[0].Name != "item b" || got[1].Name != "item a" {
		t.Errorf("the page has %v", got)
	}
}

// TestPageSnapshot inserts a document while a page is read.
func TestPageSnapshot(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	must(t, c.Insert(t.Context(), newItem("item a")))
	var got item
	n, err := db.Open(itemSpec).List(t.Context(), store.Query{MaxCount: store.CountAll}, func() any {
		must(t, c.Insert(t.Context(), newItem("item b")))
		return &got
	})
	must(t, err)
	if n != 1 || got.Name != "item a" {
		t.Errorf("the page has %v of %d, want one item", got, n)
	}
}

// TestSettings checks settings whose effect tests cannot observe.
func TestSettings(t *testing.T) {
	t.Parallel()
	db, _ := openItems(t, Options{})
	want := func(c *conn, pragma string, value any) error {
		return c.query(t.Context(), "PRAGMA "+pragma, nil, func(row []driver.Value) error {
			if row[0] != value {
				t.Errorf("%s is %v, want %v", pragma, row[0], value)
			}
			return nil
		})
	}
	must(t, db.writer.doAlone(t.Context(), true, func(tx *transaction) error {
		return errors.Join(want(tx.conn, "synchronous", int64(2)), want(tx.conn, "busy_timeout", int64(5000)))
	}))
	must(t, db.readers.use(t.Context(), func(c *conn) error {
		return errors.Join(want(c, "query_only", int64(1)), want(c, "busy_timeout", int64(5000)))
	}))
}
