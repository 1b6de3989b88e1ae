package storetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// load stores documents with Load, in order.
func load(t *testing.T, db store.DB, spec store.Spec, docs ...doc) error {
	t.Helper()
	var pointers []store.Document
	for i := range docs {
		pointers = append(pointers, &docs[i])
	}
	return db.Open(spec).Load(t.Context(), pointers)
}

// variety returns documents with values that an engine could change by mistake.
func variety() []doc {
	return []doc{
		newDoc("bare"),
		newDoc("numbers", func(d *doc) {
			d.Count, d.Rank, d.Score, d.Ratio = 1<<53+1, new(math.MinInt64), 0.1+0.2, new(5e-324)
		}),
		newDoc("more numbers", func(d *doc) { d.Count, d.Score, d.Ratio = math.MaxInt64, math.MaxFloat64, new(3.0) }),
		newDoc("empty", func(d *doc) {
			d.Body, d.Name, d.Rank, d.Flag, d.Due, d.Editor = new(""), new(""), new(0), new(false), new(store.Time{}), new(store.ID{})
			d.Home, d.Tags, d.Parts, d.Labels = &profile{}, []string{}, []part{}, map[string]string{}
		}),
		newDoc("keys and times", func(d *doc) {
			d.Labels = map[string]string{"app.kubernetes.io/name": "1", "$where": "$gt", "a%2Eb": ".", "ключ": "日本語 👩‍💻", "": "null"}
			d.At, d.Due = store.At(time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)), new(store.At(time.Date(1, 1, 1, 0, 0, 0, 1e6, time.UTC)))
			d.Owner, d.Home = store.NewID(), &profile{Deep: &deep{Value: new("null")}}
			d.Tags, d.Parts = []string{"b", "", "a", "b"}, []part{{"one", 1, noon}, {}}
		}),
	}
}

// testLoad checks that Load stores documents as Insert does.
func testLoad(t *testing.T, open Opener) {
	db := open(t)
	spec := docSpec(store.Index{Fields: []string{"title"}, Unique: true}, store.Index{Fields: []string{"count"}})
	docs := variety()
	must(t, load(t, db, spec, docs[:2]...))
	must(t, load(t, db, spec, docs[2:]...))
	must(t, load(t, db, spec))
	c := prepare(t, db, spec)
	for _, d := range docs {
		got, err := c.Get(t.Context(), d.ID)
		must(t, err)
		wantDoc(t, got, d)
	}
	wantTitles(t, c, store.Search("num"), "numbers", "more numbers")
	wantTitles(t, c, store.Gt("count", 1<<53), "numbers", "more numbers")
	wantConflict(t, c.Insert(t.Context(), newDoc("bare")), "title")
	if n, err := c.Count(t.Context(), nil); err != nil || n != int64(len(docs)) {
		t.Errorf("Count is %d, %v", n, err)
	}
	_, err := c.Delete(t.Context(), store.Eq("title", "numbers"))
	must(t, err)
	wantTitles(t, c, store.Search("num"), "more numbers")
}

// testLoadMore loads into a collection that is in use.
func testLoadMore(t *testing.T, open Opener) {
	db := open(t)
	spec := docSpec(store.Index{Fields: []string{"title"}, Unique: true})
	c := prepare(t, db, spec)
	insert(t, c, newDoc("first"))
	more := []doc{newDoc("second"), newDoc("third"), newDoc("first"), newDoc("fourth")}
	must(t, load(t, db, spec, more[0]))
	must(t, db.Prepare(t.Context()))
	wantTitles(t, c, store.Search("second"), "second")
	wantTitles(t, c, store.Search("first"), "first")
	if err := load(t, db, spec, more[1:]...); !apperr.Is(err, apperr.Conflict) {
		t.Errorf("a second document with the title: %v", err)
	}
	must(t, db.Prepare(t.Context()))
	got := titles(t, c, store.Query{})
	if all := []string{"first", "second", "third"}; !slices.Equal(got, all) && !slices.Equal(got, all[:2]) {
		t.Errorf("after a Load that failed there are %q", got)
	}
	wantTitles(t, c, nil, got...)
}

// testLossless reads documents into types that lack stored fields or values.
func testLossless(t *testing.T, open Opener) {
	db := open(t)
	spec := docSpec()
	c := prepare(t, db, spec)
	docs := variety()
	insert(t, c, docs...)
	for _, d := range docs { // an update makes the database write the document in its own form
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Set("active", true), store.Unset("name"), store.Set("kind", "k"))
		must(t, err)
	}
	n := 0
	_, err := db.Open(spec).List(t.Context(), store.Query{Lossless: true}, func() any { n++; return new(doc) })
	must(t, err)
	if n != len(docs) {
		t.Errorf("%d of %d documents", n, len(docs))
	}
	for _, test := range []struct {
		name   string
		stored other
		lost   string // the field that the error names, in part; "" if there is none
	}{
		{"nothing", other{}, ""},
		{"known", other{Home: map[string]any{"city": "Oslo", "email": ""}, Parts: []any{map[string]any{"name": "a", "size": 2}}, Count: 3}, ""},
		{"text", other{More: "x"}, "more"},
		{"empty text", other{More: ""}, "more"},
		{"zero", other{More: 0}, "more"},
		{"false", other{More: false}, "more"},
		{"empty object", other{More: map[string]any{}}, "more"},
		{"in an object", other{Home: map[string]any{"visits": 1, "more": 2}}, "home.more"},
		{"in a list", other{Parts: []any{map[string]any{"name": "a"}, map[string]any{"more": "c"}}}, "parts.1.more"},
		{"another case", other{Loud: "x"}, "TITLE"},
		{"another type", other{Count: "one"}, "count"},
		{"a fraction", other{Count: 1.5}, "count"},
		{"microseconds", other{At: "2024-05-17T12:00:00.000001Z"}, "at"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := store.Spec{Name: "test_" + store.NewID().Hex()}
			test.stored.Meta = store.NewMeta(store.NewID(), noon)
			must(t, db.Open(spec).Load(t.Context(), []store.Document{test.stored}))
			_, err := db.Open(spec).List(t.Context(), store.Query{Lossless: true}, func() any { return new(doc) })
			switch {
			case test.lost == "":
				must(t, err)
			case err == nil || !strings.Contains(err.Error(), test.stored.ID.Hex()) || !strings.Contains(err.Error(), test.lost):
				t.Errorf("the error %v does not name %q of %s", err, test.lost, test.stored.ID.Hex())
			}
		})
	}
}

// other is a document that has other fields than doc.
type other struct {
	store.Meta `bson:",inline"`
	More       any `json:"more"`
	Loud       any `json:"TITLE"`
	Home       any `json:"home"`
	Parts      any `json:"parts"`
	Count      any `json:"count"`
	At         any `json:"at"`
}

// testDrop checks Names and Drop.
func testDrop(t *testing.T, open Opener) {
	db := open(t)
	spec := docSpec(store.Index{Fields: []string{"title"}, Unique: true})
	has := func() bool {
		t.Helper()
		names, err := db.Names(t.Context())
		must(t, err)
		if !slices.IsSorted(names) || slices.ContainsFunc(names, func(n string) bool { return n == "" || strings.ContainsAny(n, ":_") && n[:5] != "test_" }) {
			t.Errorf("the names are %q", names)
		}
		return slices.Contains(names, spec.Name)
	}
	must(t, db.Drop(t.Context(), spec.Name))
	if has() {
		t.Error("it is there before it is made")
	}
	for range 2 {
		c := prepare(t, db, spec)
		if !has() {
			t.Error("it is not there")
		}
		wantTitles(t, c, nil)
		for i := range 3 {
			insert(t, c, newDoc(fmt.Sprintf("title %d", i)))
		}
		wantTitles(t, c, store.Search("title"), "title 0", "title 1", "title 2")
		wantConflict(t, c.Insert(t.Context(), newDoc("title 1")), "title")
		must(t, db.Drop(t.Context(), spec.Name))
		if has() {
			t.Error("it is there after Drop")
		}
	}
}
