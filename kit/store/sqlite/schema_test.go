package sqlite

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// TestNames checks that only valid names become part of a statement.
func TestNames(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	for _, name := range []string{
		"", ".", "a.", ".a", "a..b", "1a", "a b", "a-b", "a'b", `a"b`, "a;b", "a)", "$a", "a[0]", "ä", "a\x00", "name'),'$.x",
	} {
		_, list := c.List(t.Context(), store.Query{Sort: []store.Order{{Field: name}}})
		_, after := c.List(t.Context(), store.Query{Sort: []store.Order{{Field: name}}, After: []any{1, store.NewID()}})
		_, first := c.First(t.Context(), store.Eq(name, 1))
		_, count := c.Count(t.Context(), store.Or(store.In(name, 1), store.Gt(name, 1)))
		_, deleted := c.Delete(t.Context(), store.Ne(name, 1))
		_, set := c.Update(t.Context(), nil, store.Set(name, 1))
		_, unset := c.Update(t.Context(), nil, store.Unset(name))
		_, inc := c.Update(t.Context(), nil, store.Inc(name, 1))
		for verb, err := range map[string]error{
			"sort": list, "after": after, "first": first, "count": count, "delete": deleted,
			"set": set, "unset": unset, "inc": inc,
		} {
			if !apperr.Is(err, apperr.Internal) || !strings.Contains(err.Error(), "field") {
				t.Errorf("%s by %q returns %v, want an error that says it is no field", verb, name, err)
			}
		}
		for _, spec := range []store.Spec{
			{Name: "x", Search: []string{name}},
			{Name: "x", Indexes: []store.Index{{Fields: []string{"a", name}}}},
			{Name: strings.ReplaceAll(name, "-", " ")},
		} {
			if db.Open(spec); db.Prepare(t.Context()) == nil {
				t.Errorf("Prepare takes %+v", spec)
			}
		}
	}
	for _, spec := range []store.Spec{{Name: "_collections"}, {Name: "x", Indexes: []store.Index{{}}}} {
		if db.Open(spec); db.Prepare(t.Context()) == nil {
			t.Errorf("Prepare takes %+v", spec)
		}
	}
	if _, err := c.Update(t.Context(), nil, store.Set("id", "x")); !apperr.Is(err, apperr.Internal) {
		t.Errorf("Update of the id returns %v", err)
	}
	if _, err := c.Count(t.Context(), store.Contains("id", "x")); !apperr.Is(err, apperr.Internal) || !strings.Contains(err.Error(), `"id" is not a list`) {
		t.Errorf("Contains of the id returns %v", err)
	}
}

// TestMistakes checks that invalid values, filters and changes are rejected.
func TestMistakes(t *testing.T) {
	t.Parallel()
	_, c := openItems(t, Options{})
	must(t, c.Insert(t.Context(), newItem("item")))
	filters := []store.Filter{
		store.Eq("name", []string{"a"}), store.Eq("name", struct{}{}), store.In("name", map[string]any{}),
		store.Comparison{Op: "like", Field: "name", Value: "a"}, store.And(store.Eq("name", make(chan int))),
	}
	for _, f := range filters {
		if _, err := c.Count(t.Context(), f); !apperr.Is(err, apperr.Internal) {
			t.Errorf("Count(%v) returns %v", f, err)
		}
	}
	changes := []store.Change{store.Set("name", make(chan int)), {Op: "push", Field: "name", Value: 1}}
	for _, change := range changes {
		if _, err := c.Update(t.Context(), nil, change); !apperr.Is(err, apperr.Internal) {
			t.Errorf("Update by %v returns %v", change, err)
		}
	}
	queries := []store.Query{
		{After: []any{}}, {After: []any{store.NewID()}, Skip: 1},
		{Sort: []store.Order{{Field: "name"}}, After: []any{store.NewID()}},
	}
	for _, q := range queries {
		if _, err := c.List(t.Context(), q); !apperr.Is(err, apperr.Internal) {
			t.Errorf("List(%+v) returns %v", q, err)
		}
	}
	wantCount(t, c, 1)
}

// TestPrepareChanges checks what Prepare does to the indexes of a collection whose declaration has changed.
func TestPrepareChanges(t *testing.T) {
	t.Parallel()
	db, _ := openItems(t, Options{})
	indexes := func() (names []string) {
		must(t, db.readers.use(t.Context(), func(c *conn) error {
			const text = "SELECT name FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL"
			return c.query(t.Context(), text, nil, func(row []driver.Value) error {
				names = append(names, row[0].(string))
				return nil
			})
		}))
		slices.Sort(names)
		return names
	}
	want := func(names ...string) {
		t.Helper()
		if got := indexes(); !slices.Equal(got, names) {
			t.Errorf("the indexes are %q, want %q", got, names)
		}
	}
	want("items:name", "items:name:unique")

	run(t, db, "CREATE INDEX by_hand ON items(doc)")
	db.Open(store.Spec{Name: "items", Indexes: []store.Index{{Fields: []string{"name"}}, {Fields: []string{"a.b", "c"}}}})
	must(t, db.Prepare(t.Context()))
	want("by_hand", "items:a.b,c", "items:name")

	db.Open(store.Spec{Name: "items"})
	must(t, db.Prepare(t.Context()))
	want("by_hand")
}

// TestMergeInSteps checks that a table of words from an older version gets the options for merges in steps, and that these
// options keep the number of its segments small.
func TestMergeInSteps(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	number := func(query string) (n int64) {
		t.Helper()
		must(t, db.readers.use(t.Context(), func(conn *conn) (err error) {
			n, err = conn.integer(t.Context(), db.collections[0].build(query))
			return err
		}))
		return n
	}
	must(t, db.writer.doAlone(t.Context(), true, func(tx *transaction) error {
		return tx.conn.run(tx.ctx, `INSERT INTO "items:words"("items:words",rank) VALUES('automerge',4)`)
	}))
	must(t, db.Prepare(t.Context()))
	if n := number(`SELECT v FROM "items:words_config" WHERE k='automerge'`); n != 0 {
		t.Errorf("automerge is %d", n)
	}
	for n := range 200 { // each in a transaction
		must(t, c.Insert(t.Context(), newItem(fmt.Sprint("item ", n))))
	}
	if n := number(`SELECT count(DISTINCT segid) FROM "items:words_idx"`); n == 0 || n > 24 {
		t.Errorf("there are %d segments, want at most 24: 8 of each of 3 levels", n)
	}
	if n, err := c.Count(t.Context(), store.Search("item")); n != 200 || err != nil {
		t.Errorf("%d documents are found, %v", n, err)
	}
}

// TestFillWords checks that Prepare stores the words of more documents than a batch has, also after a failed Load.
func TestFillWords(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	var docs []store.Document
	for n := range 1000 {
		docs = append(docs, newItem(fmt.Sprint("item ", n)))
	}
	engine := db.Open(itemSpec)
	must(t, engine.Load(t.Context(), docs[:999]))
	invalid := struct {
		store.Meta
		C chan int
	}{Meta: store.NewMeta(store.NewID(), store.Time{})}
	if err := engine.Load(t.Context(), []store.Document{newItem("item"), invalid}); err == nil {
		t.Error("Load takes a value that cannot be encoded")
	}
	if err := engine.Load(t.Context(), docs[998:]); !apperr.Is(err, apperr.Conflict) {
		t.Errorf("Load of an ID that exists returns %v", err)
	}
	must(t, db.Prepare(t.Context()))
	wantCount(t, c, 999)
}
