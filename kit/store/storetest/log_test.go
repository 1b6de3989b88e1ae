package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
	"example.com/ginseng/testkit/testdb"
)

// logWait is how long a test waits for entries in the log.
const logWait = 2 * time.Minute

func loggedSpec(indexes ...store.Index) store.Spec {
	spec := docSpec(indexes...)
	spec.Changes, spec.Scope = true, []string{"owner", "editor"}
	return spec
}

// openLogged creates a collection with a log of changes, and returns the collection and the newest position of the log.
func openLogged(t *testing.T, db store.DB, spec store.Spec) (*store.Collection[doc], store.Position) {
	t.Helper()
	c := prepare(t, db, spec)
	last, err := db.Log().Last(t.Context())
	must(t, err)
	if last.Number == 0 || last.ChangeID.IsZero() {
		t.Fatalf("the newest position is %v", last)
	}
	return c, last
}

// readEntries waits until the collection has n entries after a position, and returns all entries after the position.
func readEntries(t *testing.T, db store.DB, collection string, after store.Position, n int) (entries []store.Entry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), logWait)
	defer cancel()
	for {
		more, next, err := db.Log().Read(ctx, store.LogQuery{Collection: collection, After: after, Limit: 7})
		must(t, err)
		entries, after = append(entries, more...), next
		if len(more) == 7 {
			continue
		}
		if len(entries) >= n {
			return entries
		}
		if err := db.Log().Wait(ctx, collection, after); err != nil {
			t.Fatalf("%d entries, want %d: %v", len(entries), n, err)
		}
	}
}

// checkNumbers fails unless the numbers of the entries of all collections have no gaps, and no change ID occurs twice.
func checkNumbers(t *testing.T, entries []store.Entry) {
	t.Helper()
	seen := make(map[store.ID]bool)
	for i, e := range entries {
		if i > 0 && e.Number != entries[i-1].Number+1 {
			t.Fatalf("entry %d follows %d", e.Number, entries[i-1].Number)
		}
		if seen[e.ChangeID] {
			t.Fatalf("two entries have the change ID %s", e.ChangeID.Hex())
		}
		seen[e.ChangeID] = true
	}
}

// describe returns the type of each entry, and the title of its document.
func describe(entries []store.Entry, titles map[store.ID]string) (out []string) {
	for _, e := range entries {
		out = append(out, fmt.Sprint(e.Type, " ", titles[e.RecordID]))
	}
	return out
}

// testLog checks the entries of each kind of write, and that writes that fail have no entries.
func testLog(t *testing.T, open Opener) {
	db := open(t)
	spec := loggedSpec(store.Index{Fields: []string{"name"}, Unique: true})
	c, start := openLogged(t, db, spec)
	owner, editor, key := store.NewID(), store.NewID(), store.NewID()
	a, b, d := newDoc("a"), newDoc("b"), newDoc("d")
	a.Name, a.Owner, a.Editor = new("taken"), owner, &editor
	titles := map[store.ID]string{a.ID: "a", b.ID: "b", d.ID: "d"}
	ctx := store.WithAuthor(t.Context(), store.Author{By: &owner, Key: &key, RequestID: "request 1"})
	must(t, c.Insert(ctx, a))
	insert(t, c, b, d)
	_, err := c.Update(ctx, store.Eq("id", a.ID), store.Set("profile.city", "Oslo"), store.Inc("count", 1), store.Unset("body"), store.Set("updatedAt", noon))
	must(t, err)
	for range 2 { // the second update modifies nothing, so it has no entry
		_, err = c.Update(t.Context(), store.Eq("id", b.ID), store.Set("name", "free"))
		must(t, err)
	}

	wantCode(t, c.Insert(t.Context(), a), apperr.Conflict)
	twin := newDoc("twin")
	twin.Name = a.Name
	wantCode(t, c.Insert(t.Context(), twin), apperr.Conflict)
	_, err = c.Update(t.Context(), store.Eq("id", b.ID), store.Set("name", "taken"))
	wantCode(t, err, apperr.Conflict)
	_, err = c.Update(t.Context(), store.Eq("id", store.NewID()), store.Set("title", "x"))
	wantCode(t, err, apperr.NotFound)
	if n, err := c.Delete(t.Context(), store.Eq("title", "none")); n != 0 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}

	if n, err := c.Delete(ctx, store.Eq("id", a.ID)); n != 1 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	wantTitles(t, c, nil, "b", "d")
	if n, err := c.Delete(t.Context(), nil); n != 2 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	entries := readEntries(t, db, spec.Name, start, 8)
	checkNumbers(t, entries)
	of := func(id store.ID) (own []store.Entry) {
		for _, e := range entries {
			if e.RecordID == id {
				own = append(own, e)
			}
		}
		return own
	}
	if len(entries) != 8 {
		t.Fatalf("%q", describe(entries, titles))
	}
	for id, want := range map[store.ID][]string{
		a.ID: {"created a", "updated a", "deleted a"}, b.ID: {"created b", "updated b", "deleted b"}, d.ID: {"created d", "deleted d"},
	} {
		if got := describe(of(id), titles); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	scope := map[string]store.ID{"owner": owner, "editor": editor}
	for i, e := range of(a.ID) {
		if e.Collection != spec.Name || e.By == nil || *e.By != owner || e.Key == nil || *e.Key != key || e.RequestID != "request 1" ||
			!maps.Equal(e.Scope, scope) || time.Since(e.At.Time).Abs() > time.Hour {
			t.Errorf("%+v", e)
		}
		if want := [][]string{nil, {"body", "count", "profile"}, nil}[i]; !slices.Equal(e.Fields, want) {
			t.Errorf("%s has the fields %q, want %q", e.Type, e.Fields, want)
		}
	}
	if e := of(b.ID)[1]; e.By != nil || e.Key != nil || e.RequestID != "" || !slices.Equal(e.Fields, []string{"name"}) || !reflect.DeepEqual(e.Scope["editor"], store.ID{}) {
		t.Errorf("%+v", e)
	}
	for name, test := range map[string]struct {
		filter store.LogFilter
		want   int
	}{
		"collection": {store.LogFilter{Collection: spec.Name}, 8}, "another": {store.LogFilter{Collection: "x"}, 0},
		"record": {store.LogFilter{RecordID: b.ID}, 3}, "author": {store.LogFilter{By: owner}, 3},
		"before": {store.LogFilter{Collection: spec.Name, Before: entries[2].Number}, 2},
		"since":  {store.LogFilter{Collection: spec.Name, Since: &entries[0].At}, 8}, "until": {store.LogFilter{Until: &entries[0].At, Collection: spec.Name}, 0},
	} {
		test.filter.Limit = 10
		got, err := db.Log().Newest(t.Context(), test.filter)
		must(t, err)
		if newestFirst := slices.IsSortedFunc(got, func(x, y store.Entry) int { return int(y.Number - x.Number) }); len(got) != test.want || !newestFirst {
			t.Errorf("%s: %d entries, want %d: %v", name, len(got), test.want, got)
		}
	}
	last := entries[7].Position
	_, next, err := db.Log().Read(t.Context(), store.LogQuery{After: last, Limit: 1})
	if err != nil || next != last {
		t.Errorf("after %v: %v, %v", last, next, err)
	}
	for _, p := range []store.Position{{}, {Number: last.Number, ChangeID: store.NewID()}, {Number: last.Number + 1, ChangeID: last.ChangeID}} {
		_, _, err := db.Log().Read(t.Context(), store.LogQuery{After: p, Limit: 1})
		if !errors.Is(err, store.ErrPosition) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// testLogFields checks that Spec.LogFields excludes updates of other fields, but no inserts and deletes.
func testLogFields(t *testing.T, open Opener) {
	db := open(t)
	spec := loggedSpec()
	spec.LogFields = []string{"title", "profile"}
	c, start := openLogged(t, db, spec)
	d := newDoc("d")
	insert(t, c, d)
	for _, changes := range [][]store.Change{
		nil,
		{store.Inc("count", 1)},
		{store.Set("title", "e"), store.Inc("count", 1), store.Set("profile.city", "Oslo")},
		{store.Unset("body")},
	} {
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), changes...)
		must(t, err)
	}
	must(t, c.DeleteByID(t.Context(), d.ID, nil))
	entries := readEntries(t, db, spec.Name, start, 3)
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Type, e.Fields))
	}
	if want := []string{"created[]", "updated[profile title]", "deleted[]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// testLogAtomic checks that an Atomic that fails adds no entries, and that an Atomic that succeeds adds the entries of its
// writes.
func testLogAtomic(t *testing.T, open Opener) {
	db, _ := openAtomic(t, open)
	spec, otherSpec := loggedSpec(), loggedSpec()
	other := prepare(t, db, otherSpec)
	c, start := openLogged(t, db, spec)
	kept := newDoc("kept")
	insert(t, c, kept, newDoc("old"))
	failure := errors.New("failure")
	for range 2 {
		err := db.Atomic(t.Context(), func(ctx context.Context) error {
			return errors.Join(tenWrites(ctx, c, other), failure)
		})
		if !errors.Is(err, failure) {
			t.Fatal(err)
		}
	}
	must(t, db.Atomic(t.Context(), func(ctx context.Context) error { return tenWrites(ctx, c, other) }))
	insert(t, c, newDoc("last"))
	entries := readEntries(t, db, "", start, 2+10+1)
	checkNumbers(t, entries)
	counts := make(map[string]int)
	for _, e := range entries {
		counts[fmt.Sprint(e.Type, " ", e.Collection == spec.Name)]++
	}
	if want := map[string]int{"created true": 6, "updated true": 3, "deleted true": 1, "created false": 3}; !maps.Equal(counts, want) {
		t.Errorf("%v, want %v", counts, want)
	}
}

// testLogRecreated deletes documents and inserts others with their IDs: in one Atomic, and in an Atomic after the deletion.
func testLogRecreated(t *testing.T, open Opener) {
	db, _ := openAtomic(t, open)
	spec := loggedSpec()
	c, start := openLogged(t, db, spec)
	id, owners := store.NewID(), [3]store.ID{store.NewID(), store.NewID(), store.NewID()}
	life := func(i int) doc {
		return newDoc(fmt.Sprint("life", i), func(d *doc) { d.ID, d.Owner, d.Name = id, owners[i], new(fmt.Sprint("name", i)) })
	}
	remove := func(ctx context.Context) error { _, err := c.Delete(ctx, store.Eq("id", id)); return err }
	insert(t, c, life(0))
	must(t, db.Atomic(t.Context(), func(ctx context.Context) error { return errors.Join(remove(ctx), c.Insert(ctx, life(1))) }))
	must(t, remove(t.Context()))
	must(t, db.Atomic(t.Context(), func(ctx context.Context) error { return c.Insert(ctx, life(2)) }))
	got, err := c.Get(t.Context(), id)
	must(t, err)
	wantDoc(t, got, life(2))
	wantCode(t, db.Atomic(t.Context(), func(ctx context.Context) error { return c.Insert(ctx, life(0)) }), apperr.Conflict)
	var lives []string
	for _, e := range readEntries(t, db, spec.Name, start, 5) {
		lives = append(lives, fmt.Sprint(e.Type, slices.Index(owners[:], e.Scope["owner"])))
	}
	if want := []string{"created0", "deleted0", "created1", "deleted1", "created2"}; !slices.Equal(lives, want) {
		t.Errorf("the log has %v, want %v", lives, want)
	}
}

// testLogConcurrent runs concurrent writers. Each document must have one entry for each of its versions, in order, and one
// entry for its deletion.
func testLogConcurrent(t *testing.T, open Opener) {
	db := open(t)
	spec := loggedSpec(store.Index{Fields: []string{"name"}, Unique: true})
	c, start := openLogged(t, db, spec)
	var mu sync.Mutex
	want := make(map[store.ID][]store.ChangeType)
	total := 0
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for range 12 {
				name := fmt.Sprint("name", rand.IntN(4)) // may be the name of a tombstone, or of another document
				d := newDoc("x", func(d *doc) { d.Name = &name })
				if err := c.Insert(t.Context(), d); err != nil {
					if !apperr.Is(err, apperr.Conflict) {
						t.Error(err)
					}
					continue
				}
				types := []store.ChangeType{store.Created}
				var both sync.WaitGroup
				deleted := int64(0)
				both.Go(func() {
					for range worker % 3 {
						if _, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Inc("count", 1)); err == nil {
							types = append(types, store.Updated)
						} else if !apperr.Is(err, apperr.NotFound) {
							t.Error(err)
						}
					}
				})
				both.Go(func() {
					var err error
					if deleted, err = c.Delete(t.Context(), store.Eq("name", name)); err != nil {
						t.Error(err)
					}
				})
				both.Wait()
				mu.Lock()
				total += len(types) + int(deleted)
				want[d.ID] = types
				mu.Unlock()
			}
		})
	}
	group.Wait()
	entries := readEntries(t, db, spec.Name, start, total)
	checkNumbers(t, entries)
	if len(entries) != total {
		t.Errorf("%d entries, want %d", len(entries), total)
	}
	got := make(map[store.ID][]store.ChangeType)
	for _, e := range entries {
		got[e.RecordID] = append(got[e.RecordID], e.Type)
	}
	left, err := c.List(t.Context(), store.Query{})
	must(t, err)
	for _, d := range left {
		got[d.ID] = append(got[d.ID], store.Deleted)
	}
	for id, types := range want {
		if types = append(types, store.Deleted); !slices.Equal(got[id], types) {
			t.Errorf("%v, want %v", got[id], types)
		}
	}
	if n, err := c.Count(t.Context(), nil); err != nil || n != int64(len(left)) {
		t.Errorf("%d documents, want %d: %v", n, len(left), err)
	}
}

// testLogReplaced inserts documents with the ID and the unique value of documents that were deleted just before.
func testLogReplaced(t *testing.T, open Opener) {
	db := open(t)
	spec := loggedSpec(store.Index{Fields: []string{"name"}, Unique: true})
	c, start := openLogged(t, db, spec)
	d := newDoc("d", func(d *doc) { d.Name = new("unique") })
	for range 3 {
		insert(t, c, d)
		if n, err := c.Delete(t.Context(), store.Eq("id", d.ID)); n != 1 || err != nil {
			t.Fatalf("%d deleted, %v", n, err)
		}
		twin := newDoc("twin", func(d *doc) { d.Name = new("unique") })
		insert(t, c, twin)
		if n, err := c.Delete(t.Context(), store.Ne("title", "none")); n != 1 || err != nil {
			t.Fatalf("%d deleted, %v", n, err)
		}
	}
	entries := readEntries(t, db, spec.Name, start, 12)
	checkNumbers(t, entries)
	titles := map[store.ID]string{d.ID: "d"}
	want := []string{"created d", "deleted d", "created d", "deleted d", "created d", "deleted d"}
	own := slices.DeleteFunc(slices.Clone(entries), func(e store.Entry) bool { return e.RecordID != d.ID })
	if got := describe(own, titles); len(entries) != 12 || !slices.Equal(got, want) {
		t.Errorf("%d entries, and %q", len(entries), got)
	}
}

// testLogReset checks that the log has an entry of type Reset for Load and for changes without entries.
func testLogReset(t *testing.T, open Opener) {
	db := open(t)
	spec := loggedSpec()
	c, start := openLogged(t, db, spec)
	must(t, c.Engine().Load(t.Context(), []store.Document{newDoc("a"), newDoc("b")}))
	must(t, db.Prepare(t.Context()))
	ctx := store.WithoutLog(t.Context())
	_, err := c.Update(ctx, store.Eq("title", "a"), store.Set("title", "c"))
	must(t, err)
	must(t, c.Engine().Reset(t.Context()))
	insert(t, c, newDoc("e"))
	var types []store.ChangeType
	for _, e := range readEntries(t, db, spec.Name, start, 3) {
		types = append(types, e.Type)
	}
	if want := []store.ChangeType{store.Reset, store.Reset, store.Created}; !slices.Equal(types, want) {
		t.Errorf("%q, want %q", types, want)
	}
	wantTitles(t, c, nil, "c", "b", "e")
	plain := prepare(t, db, docSpec())
	must(t, plain.Engine().Reset(t.Context()))
	insert(t, plain, newDoc("a"))
	if last, err := db.Log().Last(t.Context()); err != nil || last.Number != start.Number+3 {
		t.Errorf("the newest entry is %v, %v", last, err)
	}
}

// testLogSweep sweeps more than one batch of entries. The newest entry must remain.
func testLogSweep(t *testing.T, open Opener) {
	db := open(t)
	spec := loggedSpec()
	c, start := openLogged(t, db, spec)
	n := testdb.Size(engine.SweepBatch+20, 20)
	d := newDoc("d")
	insert(t, c, d)
	for range 5 {
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Inc("count", 1))
		must(t, err)
	}
	for range n {
		must(t, c.Engine().Reset(t.Context()))
	}
	entries := readEntries(t, db, "", start, 6+n)
	sweep := func(before time.Time) (deleted int64) {
		t.Helper()
		for {
			n, err := db.Log().Sweep(t.Context(), store.At(before))
			must(t, err)
			if n > engine.SweepBatch {
				t.Errorf("one portion has %d entries", n)
			}
			if deleted += n; n == 0 {
				return deleted
			}
		}
	}
	if n := sweep(entries[0].At.Add(-time.Hour)); n != 0 {
		t.Errorf("%d entries were swept too early", n)
	}
	later := entries[len(entries)-1].At.Add(24 * time.Hour)
	if got := sweep(later); got < int64(len(entries)-1) { // the log also has entries from before the test
		t.Errorf("%d entries of %d were swept", got, len(entries))
	}
	_, _, err := db.Log().Read(t.Context(), store.LogQuery{After: entries[3].Position, Limit: 1})
	if !errors.Is(err, store.ErrPosition) {
		t.Errorf("a swept position: %v", err)
	}
	newest := entries[len(entries)-1].Position
	insert(t, c, newDoc("next"))
	if next := readEntries(t, db, spec.Name, newest, 1); next[0].Number != newest.Number+1 {
		t.Errorf("the next entry is %d, want %d", next[0].Number, newest.Number+1)
	}
}
