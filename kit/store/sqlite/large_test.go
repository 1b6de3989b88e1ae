package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// manyWords returns a text of n words, which begins with first.
func manyWords(first string, n int) string {
	var text strings.Builder
	text.WriteString(first)
	random := uint32(1)
	for range n {
		random = random*1664525 + 1013904223
		text.WriteRune('一' + rune((random>>8)%20_000))
	}
	return text.String()
}

// TestLongestText finds the last of 100,000 words.
func TestLongestText(t *testing.T) {
	t.Parallel()
	_, c := openItems(t, Options{})
	must(t, c.Insert(t.Context(), newItem(manyWords("item", 99_998)+"龍龍")))
	for query, want := range map[string]int64{"item 龍龍": 1, "龍龍龍": 0} {
		if n, err := c.Count(t.Context(), store.Search(query)); n != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", query, n, err, want)
		}
	}
}

// TestLargeTextsTakeTurns makes a write with many words wait for its turn while other writes run.
func TestLargeTextsTakeTurns(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	large := newItem(manyWords("large", 3*maxWords))
	must(t, c.Insert(t.Context(), large))
	must(t, db.large.Acquire(t.Context(), 1))
	for name, write := range map[string]func(context.Context) error{
		"insert": func(ctx context.Context) error { return c.Insert(ctx, newItem(manyWords("other", 3*maxWords))) },
		"insert of a text whose words are not known": func(ctx context.Context) error {
			return c.Insert(ctx, newItem(strings.Repeat("other ", largeText)))
		},
		"short change of a large text": func(ctx context.Context) error {
			_, err := c.Update(ctx, store.Eq("id", large.ID), store.Set("name", large.Name+" other"))
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := write(ctx); !errors.Is(err, store.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	must(t, c.Insert(t.Context(), newItem("small")))
	must(t, c.Insert(t.Context(), newItem("fewer "+manyWords("words", maxWords-10))))
	_, err := c.Update(t.Context(), store.Eq("id", large.ID), store.Inc("version", 0)) // indexes nothing
	must(t, err)
	db.large.Release(1)
	for query, want := range map[string]int64{"other": 0, "large": 1, "small": 1, "fewer": 1} {
		if n, err := c.Count(t.Context(), store.Search(query)); n != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", query, n, err, want)
		}
	}
}

// TestLargeTextAlone checks that a write with many words does not share a transaction with other writes, because the other
// writes would wait.
func TestLargeTextAlone(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	var together []int
	db.ObserveCommits(func(writes int, _ time.Duration) { together = append(together, writes) })
	wantBatch(t, db, "", func() error { return c.Insert(t.Context(), newItem("before")) }, func() error {
		var large sync.WaitGroup
		for _, name := range []string{"one", "two"} {
			large.Go(func() { must(t, c.Insert(t.Context(), newItem(manyWords(name, 2*maxWords)))) })
		}
		defer large.Wait()
		return c.Insert(t.Context(), newItem("after"))
	})
	if len(together) != 1 || together[0] != 3 { // with the write of hold
		t.Errorf("transactions of %v writes, want one of 3", together)
	}
	if n, err := c.Count(t.Context(), nil); n != 4 || err != nil {
		t.Errorf("%d items, %v", n, err)
	}
}

// TestLargeTextOnFullDisk checks that a failed write with many words stores nothing.
func TestLargeTextOnFullDisk(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	must(t, c.Insert(t.Context(), newItem("item")))
	run(t, db, "PRAGMA max_page_count=30")
	large := newItem(manyWords("item", 10*maxWords))
	if err := c.Insert(t.Context(), large); !apperr.Is(err, apperr.Unavailable) {
		t.Error(err)
	}
	wantCount(t, c, 1)
	run(t, db, "PRAGMA max_page_count=1000000")
	must(t, c.Insert(t.Context(), large))
	wantCount(t, c, 2)
}

// TestLargeTextsMerge checks that segments are merged in small steps: with 16 segments of a level, FTS5 would merge all of them
// in the transaction of a write.
func TestLargeTextsMerge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("indexes 360,000 words")
	}
	db, c := openItems(t, Options{})
	most := int64(0)
	for range 18 {
		must(t, c.Insert(t.Context(), newItem(store.NewID().Hex()+manyWords("", 10*maxWords))))
		must(t, db.readers.use(t.Context(), func(conn *conn) error {
			n, err := conn.integer(t.Context(), db.collections[0].build(`SELECT count(DISTINCT segid) FROM "items:words_idx"`))
			most = max(most, n)
			return err
		}))
	}
	if most > 12 {
		t.Errorf("%d segments", most)
	}
}

// TestPreparedWords checks that the words of the stored text are indexed if a change stores another text than the text that was
// split before.
func TestPreparedWords(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	d := newItem("item")
	must(t, c.Insert(t.Context(), d))
	e := db.collections[0]
	b := e.build("UPDATE ", e.table, " SET doc=").changedDoc([]store.Change{store.Set("name", "item new")}).write(" RETURNING n").textColumn()
	must(t, db.writer.do(t.Context(), withWords("item old", []string{"item", "old"}, func(tx *transaction) error {
		return tx.query(b, func(values []driver.Value) error {
			tx.addText(e, values[0], values[1])
			return nil
		})
	})))
	for query, want := range map[string]int64{"new": 1, "old": 0} {
		if n, err := c.Count(t.Context(), store.Search(query)); n != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", query, n, err, want)
		}
	}
}

// TestRebuildLongTexts rebuilds the words of texts that are too long for one batch.
func TestRebuildLongTexts(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		must(t, c.Insert(t.Context(), newItem(name+" item "+strings.Repeat("x", 150_000))))
	}
	run(t, db, "UPDATE _collections SET searched=''")
	must(t, db.Prepare(t.Context()))
	for query, want := range map[string]int64{"item": 5, "one": 1, "five": 1} {
		if n, err := c.Count(t.Context(), store.Search(query)); n != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", query, n, err, want)
		}
	}
}
