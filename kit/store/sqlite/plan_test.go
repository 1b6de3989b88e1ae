package sqlite

import (
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// TestPlans checks that a query that a declared index supports reads only this index: it visits no other rows and does not sort
// rows. A page after a row begins with an index lookup, so that the cost of the page does not depend on its position.
func TestPlans(t *testing.T) {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := db.Open(store.Spec{Name: "articles", Search: []string{"title"}, Indexes: []store.Index{
		{Fields: []string{"createdAt"}},
		{Fields: []string{"title"}},
		{Fields: []string{"email"}, Unique: true},
		{Fields: []string{"profile.city"}},
		{Fields: []string{"userId", "createdAt"}},
		{Fields: []string{"space", "name"}, Unique: true},
	}}).(*collection)
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}

	id, now := store.NewID(), store.At(time.Now())
	by := func(fields ...string) (sort []store.Order) {
		for _, field := range fields {
			name, desc := strings.CutPrefix(field, "-")
			sort = append(sort, store.Order{Field: name, Desc: desc})
		}
		return sort
	}
	for _, test := range []struct {
		q     store.Query
		index string
	}{
		{store.Query{}, "sqlite_autoindex_articles_1"},
		{store.Query{Sort: by("-id")}, "sqlite_autoindex_articles_1"},
		{store.Query{After: []any{id}}, "sqlite_autoindex_articles_1"},
		{store.Query{Filter: store.Eq("id", id)}, "sqlite_autoindex_articles_1"},
		{store.Query{Filter: store.In("id", id, id)}, "sqlite_autoindex_articles_1"},
		{store.Query{Sort: by("createdAt")}, "articles:createdAt"},
		{store.Query{Sort: by("-createdAt")}, "articles:createdAt"},
		{store.Query{Sort: by("-createdAt"), Fields: []string{"title"}}, "articles:createdAt"},
		{store.Query{Sort: by("createdAt"), After: []any{now, id}}, "articles:createdAt"},
		{store.Query{Sort: by("-createdAt"), After: []any{now, id}}, "articles:createdAt"},
		{store.Query{Sort: by("createdAt"), After: []any{nil, id}}, "articles:createdAt"},
		{store.Query{Sort: by("-createdAt"), After: []any{nil, id}}, "articles:createdAt"},
		{store.Query{Sort: by("-createdAt"), Filter: store.Lt("createdAt", now)}, "articles:createdAt"},
		{store.Query{Sort: by("title"), Filter: store.And(store.Gte("title", "a"), store.Lt("title", "b"))}, "articles:title"},
		{store.Query{Sort: by("-title"), Filter: store.Gt("title", "a"), After: []any{"b", id}}, "articles:title"},
		{store.Query{Filter: store.Eq("title", "a")}, "articles:title"},
		{store.Query{Filter: store.Eq("title", nil)}, "articles:title"},
		{store.Query{Filter: store.Eq("email", "a")}, "articles:email:unique"},
		{store.Query{Sort: by("email")}, "articles:email"},
		{store.Query{Sort: by("-email"), After: []any{"a", id}}, "articles:email"},
		{store.Query{Sort: by("email"), After: []any{nil, id}}, "articles:email"},
		{store.Query{Sort: by("profile.city"), After: []any{"Oslo", id}}, "articles:profile.city"},
		{store.Query{Sort: by("-createdAt"), Filter: store.Eq("userId", id)}, "articles:userId,createdAt"},
		{store.Query{Sort: by("createdAt"), Filter: store.Eq("userId", id), After: []any{now, id}}, "articles:userId,createdAt"},
		{store.Query{Sort: by("-createdAt"), Filter: store.Eq("userId", id), After: []any{now, id}}, "articles:userId,createdAt"},
		{store.Query{Sort: by("-createdAt"), Filter: store.In("userId", id, store.NewID())}, "articles:userId,createdAt"},
		{store.Query{Sort: by("createdAt"), Filter: store.And(store.Ne("title", "a"), store.In("userId", id, store.NewID(), id)), After: []any{now, id}}, "articles:userId,createdAt"},
		{store.Query{Sort: by("userId", "createdAt")}, "articles:userId,createdAt"},
		{store.Query{Sort: by("userId", "createdAt"), After: []any{id, now, id}}, "articles:userId,createdAt"},
		{store.Query{Sort: by("-userId", "-createdAt"), After: []any{id, nil, id}}, "articles:userId,createdAt"},
		{store.Query{Sort: by("name"), Filter: store.Eq("space", "a"), After: []any{"b", id}}, "articles:space,name"},
		{store.Query{Filter: store.And(store.Eq("space", "a"), store.Eq("name", "b"))}, "articles:space,name:unique"},
	} {
		t.Run(fmt.Sprint(test.q.Filter, test.q.Sort, test.q.After), func(t *testing.T) {
			test.q.Limit = 30
			parts, err := parts(test.q)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range parts {
				looksUp := test.q.Filter != nil || test.q.After != nil
				wantPlan(t, db, c.selectPart(test.q, part, nil, test.q.Limit), test.index, looksUp)
			}
		})
	}

	t.Run("a common word", func(t *testing.T) {
		q := store.Query{Filter: store.Search("a"), Sort: by("-createdAt"), Limit: 30}
		scan := &searchPlan{search: store.TextSearch{Text: "a"}, scan: []string{"a"}}
		wantPlan(t, db, c.selectPart(q, part{q.Filter, engine.TotalOrder(q.Sort), nil}, scan, q.Limit), "articles:createdAt", false)
	})
	t.Run("a rare word", func(t *testing.T) {
		plan := explain(t, db, c.selectPart(store.Query{}, part{filter: store.Search("a")}, nil, 0))
		if !strings.Contains(plan, "SEARCH articles USING INTEGER PRIMARY KEY") {
			t.Errorf("the plan does not begin with the words:\n%s", plan)
		}
	})
	t.Run("count", func(t *testing.T) {
		b := c.build("SELECT count(*) FROM ", c.table, " WHERE ").where(store.Eq("userId", id))
		wantPlan(t, db, b, "articles:userId,createdAt", true)
	})
}

// wantPlan checks that the statement reads articles only through the index, with a lookup if looksUp is true.
func wantPlan(t *testing.T, db *DB, b *builder, index string, looksUp bool) {
	t.Helper()
	plan := explain(t, db, b)
	verb := "SCAN"
	if looksUp {
		verb = "SEARCH"
	}
	// If all fields of the unique index are given, SQLite uses this index, because it finds at most one row.
	wanted := regexp.MustCompile(verb + ` articles USING (COVERING )?INDEX ` + regexp.QuoteMeta(index) + `(:unique)?( \(|\n)`)
	if !wanted.MatchString(plan) || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("%s\ndoes not read %s as it should:\n%s", b.String(), index, plan)
	}
}

func explain(t *testing.T, db *DB, b *builder) string {
	t.Helper()
	if b.err != nil {
		t.Fatal(b.err)
	}
	var plan strings.Builder
	err := db.readers.use(t.Context(), func(c *conn) error {
		return c.query(t.Context(), "EXPLAIN QUERY PLAN "+b.String(), b.args, func(row []driver.Value) error {
			fmt.Fprintln(&plan, row[3])
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
