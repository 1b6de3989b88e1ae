package storetest

import (
	"strings"
	"sync"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func unique(fields ...string) store.Index { return store.Index{Fields: fields, Unique: true} }

func testUnique(t *testing.T, open Opener) {
	c := openDocs(t, open,
		unique("name"), unique("profile.email"), unique("count", "rank"), store.Index{Fields: []string{"kind"}})
	n := int64(0)
	named := func(edit func(*doc)) doc {
		n++
		return newDoc("", func(d *doc) { d.Count = 1000 + n }, edit)
	}
	name := func(s string) func(*doc) { return func(d *doc) { d.Name = &s } }
	email := func(s string) func(*doc) { return func(d *doc) { d.Profile.Email = &s } }
	pair := func(count int64, rank *int) func(*doc) { return func(d *doc) { d.Count, d.Rank = count, rank } }

	insert(t, c, named(name("ada")), named(email("ada@example.com")), named(pair(1, new(1))))
	for _, test := range []struct {
		name     string
		edit     func(*doc)
		conflict []string // nil: no conflict
	}{
		{"text", name("ada"), []string{"name"}},
		{"another text", name("Ada"), nil},
		{"text, the longer", name("ada "), nil},
		{"nested", email("ada@example.com"), []string{"profile.email"}},
		{"another nested", email("bob@example.com"), nil},
		{"compound", pair(1, new(1)), []string{"count", "rank"}},
		{"compound, another first", pair(2, new(1)), nil},
		{"compound, another second", pair(1, new(2)), nil},
		{"compound, second absent", pair(1, nil), nil},
		{"compound, second absent, again", pair(1, nil), nil},
		{"all absent", func(*doc) {}, nil},
		{"all absent, again", func(*doc) {}, nil},
		{"not unique", func(d *doc) { d.Kind = "k" }, nil},
		{"not unique, again", func(d *doc) { d.Kind = "k" }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := c.Insert(t.Context(), named(test.edit))
			if test.conflict == nil {
				must(t, err)
				return
			}
			wantConflict(t, err, test.conflict...)
		})
	}

	t.Run("free again", func(t *testing.T) {
		_, err := c.Delete(t.Context(), store.Eq("name", "ada"))
		must(t, err)
		insert(t, c, named(name("ada")))
		_, err = c.Update(t.Context(), store.Eq("name", "ada"), store.Unset("name"))
		must(t, err)
		insert(t, c, named(name("ada")))
	})
}

func testUniqueUpdate(t *testing.T, open Opener) {
	c := openDocs(t, open, unique("name"), unique("count", "rank"), unique("home.email"))
	a := newDoc("a", func(d *doc) {
		d.Name, d.Count, d.Rank, d.Home = new("a"), 1, new(1), &profile{Email: new("a@example.com")}
	})
	b := newDoc("b", func(d *doc) {
		d.Name, d.Count, d.Rank, d.Home = new("b"), 1, new(2), &profile{Email: new("b@example.com")}
	})
	insert(t, c, a, b)
	for _, test := range []struct {
		change store.Change
		fields []string
	}{
		{store.Set("name", "a"), []string{"name"}},
		{store.Set("rank", 1), []string{"count", "rank"}},
		{store.Inc("rank", -1), []string{"count", "rank"}},
		{store.Set("home.email", "a@example.com"), []string{"home.email"}},
		{store.Set("home", profile{Email: new("a@example.com")}), []string{"home.email"}},
	} {
		_, err := c.Update(t.Context(), store.Eq("id", b.ID), store.Set("title", "spoiled"), test.change)
		wantConflict(t, err, test.fields...)
		got, err := c.Get(t.Context(), b.ID)
		must(t, err)
		wantDoc(t, got, b)
	}
	_, err := c.Update(t.Context(), store.Eq("id", b.ID), store.Set("name", "b"), store.Set("rank", 2))
	must(t, err)
	wantTitles(t, c, store.Search("spoiled"))
}

// testUniqueIntegers checks that equal integers of any Go type are duplicates. Some servers distinguish integers of 32 and of 64
// bits.
func testUniqueIntegers(t *testing.T, open Opener) {
	c := openDocs(t, open, unique("rank"), unique("profile.visits"))
	one := newDoc("one", func(d *doc) { d.Rank, d.Profile.Visits = new(1), 1 })
	other := newDoc("other", func(d *doc) { d.Rank, d.Profile.Visits = new(0), 2 })
	insert(t, c, one, other)
	wantConflict(t, c.Insert(t.Context(), newDoc("again", func(d *doc) { d.Rank = new(1) })), "rank")
	for _, test := range []struct {
		change store.Change
		field  string
	}{
		{store.Inc("rank", 1), "rank"},
		{store.Set("rank", 1), "rank"},
		{store.Set("rank", int32(1)), "rank"},
		{store.Set("rank", int64(1)), "rank"},
		{store.Inc("profile.visits", -1), "profile.visits"},
		{store.Set("profile.visits", 1), "profile.visits"},
		{store.Set("profile", map[string]any{"visits": 1}), "profile.visits"},
	} {
		_, err := c.Update(t.Context(), store.Eq("id", other.ID), test.change)
		wantConflict(t, err, test.field)
	}
	for _, f := range []store.Filter{
		store.Eq("rank", 1), store.Eq("rank", int64(1)), store.In("rank", 1, 7), store.In("rank", int32(1)), store.Gt("rank", 0),
	} {
		wantTitles(t, c, f, "one")
	}
}

// testPrepare prepares one collection repeatedly, on two handles concurrently.
func testPrepare(t *testing.T, open Opener) {
	spec := docSpec(unique("name"), unique("count", "rank"),
		store.Index{Fields: []string{"title"}}, store.Index{Fields: []string{"profile.city", "at"}})
	handles := []store.DB{open(t), open(t)}
	var group sync.WaitGroup
	for _, db := range handles {
		store.Open[doc](db, spec)
		for range 4 {
			group.Go(func() {
				if err := db.Prepare(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	for _, db := range handles {
		c := prepare(t, db, spec)
		_, err := c.Delete(t.Context(), nil) // a document that the other handle has inserted
		must(t, err)
		insert(t, c, newDoc("a", func(d *doc) { d.Name = new("a") }))
		must(t, db.Prepare(t.Context()))
		wantConflict(t, c.Insert(t.Context(), newDoc("b", func(d *doc) { d.Name = new("a") })), "name")
		wantTitles(t, c, store.Search("a"), "a")
	}
}

// testPrepareLater declares indexes and searched fields for a collection that already has documents.
func testPrepareLater(t *testing.T, open Opener) {
	db := open(t)
	spec := docSpec()
	spec.Search = nil
	c := prepare(t, db, spec)
	insert(t, c, newDoc("first", func(d *doc) { d.Name = new("a") }), newDoc("second"))

	spec.Search = []string{"title"}
	spec.Indexes = []store.Index{unique("name"), {Fields: []string{"title"}}}
	c = prepare(t, db, spec)
	wantConflict(t, c.Insert(t.Context(), newDoc("third", func(d *doc) { d.Name = new("a") })), "name")
	wantTitles(t, c, store.Search("first"), "first")
	wantTitles(t, c, nil, "first", "second")

	spec.Search = []string{"name"}
	c = prepare(t, db, spec)
	insert(t, c, newDoc("fourth", func(d *doc) { d.Name = new("abc") }))
	wantTitles(t, c, store.Search("first"))
	wantTitles(t, c, store.Search("a"), "first", "fourth")
}

func testPrepareDuplicates(t *testing.T, open Opener) {
	db := open(t)
	spec := docSpec()
	c := prepare(t, db, spec)
	a := newDoc("a", func(d *doc) { d.Name = new("same") })
	insert(t, c, a, newDoc("b", func(d *doc) { d.Name = new("same") }))

	spec.Indexes = []store.Index{unique("name")}
	c = store.Open[doc](db, spec)
	err := db.Prepare(t.Context())
	if err == nil {
		t.Fatal("Prepare makes a unique index over duplicates")
	}
	for _, word := range []string{spec.Name, "name"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("Prepare says %q, which does not name %q", err, word)
		}
	}
	if apperr.Is(err, apperr.Unavailable) {
		t.Errorf("Prepare says %v, though the database is there", err)
	}

	wantTitles(t, c, nil, "a", "b")
	_, err = c.Update(t.Context(), store.Eq("id", a.ID), store.Unset("name"))
	must(t, err)
	must(t, db.Prepare(t.Context()))
	wantConflict(t, c.Insert(t.Context(), newDoc("c", func(d *doc) { d.Name = new("same") })), "name")
}
