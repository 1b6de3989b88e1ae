package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func testInsert(t *testing.T, open Opener) {
	c := openDocs(t, open)
	first := newDoc("first")
	insert(t, c, first)

	second := newDoc("second")
	second.ID = first.ID
	wantConflict(t, c.Insert(t.Context(), second), "id")

	got, err := c.Get(t.Context(), first.ID)
	must(t, err)
	if got.Title != "first" {
		t.Errorf("a rejected Insert left %q", got.Title)
	}
	wantTitles(t, c, nil, "first")
}

func testFirst(t *testing.T, open Opener) {
	c := openDocs(t, open)
	_, err := c.First(t.Context(), nil)
	wantCode(t, err, apperr.NotFound)

	older, newer := newDoc("older"), newDoc("newer")
	insert(t, c, newer, older)

	got, err := c.First(t.Context(), store.Eq("count", 0))
	must(t, err)
	if got.Title != "older" {
		t.Errorf("First has %q, want the oldest", got.Title)
	}
	got, err = c.Get(t.Context(), newer.ID)
	must(t, err)
	if got.Title != "newer" {
		t.Errorf("Get has %q", got.Title)
	}
	_, err = c.Get(t.Context(), store.NewID())
	wantCode(t, err, apperr.NotFound)
	_, err = c.First(t.Context(), store.Eq("title", "none"))
	wantCode(t, err, apperr.NotFound)
}

func testList(t *testing.T, open Opener) {
	c := openDocs(t, open)
	if docs, err := c.List(t.Context(), store.Query{}); err != nil || docs == nil || len(docs) != 0 {
		t.Errorf("List of nothing is %v, %v; want an empty list", docs, err)
	}
	a, b, d, e := newDoc("a"), newDoc("b"), newDoc("d"), newDoc("e")
	insert(t, c, d, a, e, b)
	for _, test := range []struct {
		name string
		q    store.Query
		want []string
	}{
		{"all, by id", store.Query{}, []string{"a", "b", "d", "e"}},
		{"by id, downwards", store.Query{Sort: []store.Order{{Field: "id", Desc: true}}}, []string{"e", "d", "b", "a"}},
		{"limit", store.Query{Limit: 2}, []string{"a", "b"}},
		{"limit beyond the end", store.Query{Limit: 9}, []string{"a", "b", "d", "e"}},
		{"skip", store.Query{Skip: 1}, []string{"b", "d", "e"}},
		{"skip and limit", store.Query{Skip: 1, Limit: 2}, []string{"b", "d"}},
		{"skip beyond the end", store.Query{Skip: 4, Limit: 2}, []string{}},
		{"filter and limit", store.Query{Filter: store.Gt("title", "a"), Limit: 2}, []string{"b", "d"}},
		{"after", store.Query{After: []any{b.ID}}, []string{"d", "e"}},
		{"after the last", store.Query{After: []any{e.ID}}, []string{}},
	} {
		if got := titles(t, c, test.q); !slices.Equal(got, test.want) {
			t.Errorf("%s: List has %q, want %q", test.name, got, test.want)
		}
	}
}

func testListMany(t *testing.T, open Opener) {
	c := openDocs(t, open)
	const n = 300 // more than a driver reads at once
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if err := c.Insert(t.Context(), newDoc(fmt.Sprintf("%03d", i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := titles(t, c, store.Query{Sort: []store.Order{{Field: "title"}}})
	if len(got) != n {
		t.Fatalf("List has %d documents, want %d", len(got), n)
	}
	for i, title := range got {
		if want := fmt.Sprintf("%03d", i); title != want {
			t.Fatalf("document %d is %q", i, title)
		}
	}
}

func testCount(t *testing.T, open Opener) {
	c := openDocs(t, open)
	want := func(f store.Filter, want int64) {
		t.Helper()
		n, err := c.Count(t.Context(), f)
		must(t, err)
		if n != want {
			t.Errorf("Count(%v) = %d, want %d", f, n, want)
		}
	}
	want(nil, 0)
	a, b := newDoc("a"), newDoc("b")
	insert(t, c, a, b, newDoc("b"))
	want(nil, 3)
	want(store.Eq("title", "b"), 2)

	wantConflict(t, c.Insert(t.Context(), a), "id")
	want(nil, 3)
	_, err := c.Update(t.Context(), store.Eq("id", a.ID), store.Set("title", "b"))
	must(t, err)
	want(nil, 3)
	want(store.Eq("title", "b"), 3)

	_, err = c.Delete(t.Context(), store.Eq("id", b.ID))
	must(t, err)
	want(nil, 2)
	insert(t, c, b)
	want(nil, 3)
	_, err = c.Delete(t.Context(), store.Eq("title", "b"))
	must(t, err)
	want(nil, 0)
}

func testPage(t *testing.T, open Opener) {
	c := openDocs(t, open)
	wantPage(t, c, store.Query{}, 0)
	docs := []doc{newDoc("a"), newDoc("b", func(d *doc) { d.Count = 1 }), newDoc("c"), newDoc("d")}
	insert(t, c, docs...)
	zero := store.Eq("count", 0)
	wantPage(t, c, store.Query{Limit: 2}, 4, "a", "b")
	wantPage(t, c, store.Query{Skip: 3, Limit: 2}, 4, "d")
	wantPage(t, c, store.Query{Skip: 9, Limit: 2}, 4)
	wantPage(t, c, store.Query{After: []any{docs[2].ID}, Limit: 2}, 4, "d")
	wantPage(t, c, store.Query{Filter: zero, Limit: 2}, 3, "a", "c")
	wantPage(t, c, store.Query{Filter: zero, Sort: desc("title"), Limit: 1}, 3, "d")
	wantPage(t, c, store.Query{Filter: zero, Sort: desc("title"), After: []any{"c", docs[2].ID}, Limit: 2}, 3, "a")
	wantPage(t, c, store.Query{Filter: store.Search("none"), Limit: 2}, 0)
	wantPage(t, c, store.Query{Filter: zero, Limit: 2, MaxCount: 2}, 2, "a", "c")
	wantPage(t, c, store.Query{Filter: zero, Limit: 1, MaxCount: 4}, 3, "a")
}

// testBytes checks that a list ends before a document that is too large, but never before the first document.
func testBytes(t *testing.T, open Opener) {
	c := openDocs(t, open)
	large := strings.Repeat("long words ", 1000)
	for _, title := range []string{"a", "b", "c"} {
		insert(t, c, newDoc(title, func(d *doc) { d.Body = &large }))
	}
	for _, test := range []struct {
		q    store.Query
		max  int
		want string
	}{
		{store.Query{}, 5_000, "a"},
		{store.Query{}, 30_000, "ab"},
		{store.Query{}, 60_000, "abc"},
		{store.Query{Filter: store.Search("long"), Limit: 3}, 30_000, "ab"},
		{store.Query{Filter: store.Search("c"), Limit: 3}, 5_000, "c"},
		{store.Query{Fields: []string{"title"}}, 5_000, "abc"},
	} {
		test.q.Bytes = &store.Size{Max: test.max}
		got := strings.Join(titles(t, c, test.q), "")
		if exceeded := len(got) < 3 && got != "c"; got != test.want || test.q.Bytes.Exceeded() != exceeded {
			t.Errorf("%+v in %d bytes: %q (%t), want %q", test.q, test.max, got, test.q.Bytes.Exceeded(), test.want)
		}
	}
}

func testUpdate(t *testing.T, open Opener) {
	c := openDocs(t, open)
	older, newer := newDoc("older"), newDoc("newer")
	insert(t, c, newer, older)

	got, err := c.Update(t.Context(), store.Eq("count", 0), store.Set("title", "changed"), store.Inc("count", 1))
	must(t, err)
	if got.Title != "changed" || got.Count != 1 || got.Version != 2 {
		t.Errorf("Update returned %q, count %d, version %d", got.Title, got.Count, got.Version)
	}
	stored, err := c.Get(t.Context(), got.ID)
	must(t, err)
	if stored.Title != "changed" || stored.Count != 1 || stored.Version != 2 || stored.CreatedAt != noon {
		t.Errorf("Update stored %+v", stored)
	}
	if n, err := c.Count(t.Context(), store.Eq("title", "changed")); err != nil || n != 1 {
		t.Errorf("Update changed %d documents, %v; want one", n, err)
	}

	_, err = c.Update(t.Context(), store.Eq("id", store.NewID()), store.Set("title", "none"))
	wantCode(t, err, apperr.NotFound)
	_, err = c.Update(t.Context(), store.And(store.Eq("id", got.ID), store.Eq("version", 1)), store.Set("title", "stale"))
	wantCode(t, err, apperr.NotFound)
}

func testDelete(t *testing.T, open Opener) {
	c := openDocs(t, open)
	a := newDoc("a")
	insert(t, c, a, newDoc("b"), newDoc("b"), newDoc("c"))
	for _, test := range []struct {
		f    store.Filter
		want int64
	}{
		{store.Eq("title", "none"), 0},
		{store.Eq("id", a.ID), 1},
		{store.Eq("id", a.ID), 0},
		{store.Eq("title", "b"), 2},
	} {
		n, err := c.Delete(t.Context(), test.f)
		must(t, err)
		if n != test.want {
			t.Errorf("Delete(%v) = %d, want %d", test.f, n, test.want)
		}
	}
	wantTitles(t, c, nil, "c")
}

func testNilFilter(t *testing.T, open Opener) {
	c := openDocs(t, open)
	insert(t, c, newDoc("a"), newDoc("b"))
	got, err := c.Update(t.Context(), nil, store.Inc("count", 1))
	must(t, err)
	if got.Count != 1 {
		t.Errorf("Update of any document returned count %d", got.Count)
	}
	n, err := c.Delete(t.Context(), nil)
	must(t, err)
	if n != 2 {
		t.Errorf("Delete of all = %d, want 2", n)
	}
	wantTitles(t, c, nil)
}

// methods returns a call of each method of a collection, by name.
func methods(c *store.Collection[doc]) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Insert": func(ctx context.Context) error { return c.Insert(ctx, newDoc("new")) },
		"First":  func(ctx context.Context) error { _, err := c.First(ctx, nil); return err },
		"List":   func(ctx context.Context) error { _, err := c.List(ctx, store.Query{}); return err },
		"Count":  func(ctx context.Context) error { _, err := c.Count(ctx, nil); return err },
		"Page":   func(ctx context.Context) error { _, _, err := c.Page(ctx, store.Query{}); return err },
		"Update": func(ctx context.Context) error { _, err := c.Update(ctx, nil, store.Inc("count", 1)); return err },
		"Delete": func(ctx context.Context) error { _, err := c.Delete(ctx, nil); return err },
	}
}

func testContext(t *testing.T, open Opener) {
	db := open(t)
	c := prepare(t, db, docSpec())
	insert(t, c, newDoc("a"))

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()

	calls := methods(c)
	calls["Ping"] = db.Ping
	for name, call := range calls {
		for ctx, want := range map[context.Context]error{canceled: context.Canceled, late: context.DeadlineExceeded} {
			err := call(ctx)
			if wantCode(t, err, apperr.Unavailable); !errors.Is(err, want) {
				t.Errorf("%s fails with %v, want %v", name, err, want)
			}
		}
	}
	for range 100 { // repeated, because an error may occur only in a race
		wantCode(t, c.Insert(canceled, newDoc("late")), apperr.Unavailable)
	}
	wantTitles(t, c, store.Eq("count", 0), "a")
	must(t, db.Ping(t.Context()))
}

func testClose(t *testing.T, open Opener) {
	db := open(t)
	c := prepare(t, db, docSpec())
	d := newDoc("a")
	insert(t, c, d)
	_, err := c.Get(t.Context(), d.ID) // the document is now in the cache
	must(t, err)
	must(t, db.Close())
	calls := methods(c)
	calls["Get"] = func(ctx context.Context) error { _, err := c.Get(ctx, d.ID); return err }
	for name, call := range calls {
		if err := call(t.Context()); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("after Close, %s returns %v, want Unavailable", name, err)
		}
	}
	wantCode(t, db.Ping(t.Context()), apperr.Unavailable)
	must(t, db.Close())
}
