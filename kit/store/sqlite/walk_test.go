package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
)

// tree is a document with a field of many equal values and, with any number of documents, a sort by another field.
type tree struct {
	store.Meta
	State  string  `json:"state"`
	Owner  string  `json:"owner"`
	Height float64 `json:"height,omitempty"` // absent from some documents
}

// TestWalk compares pages that are read along the index of their order with the list without a limit, which is not read so.
func TestWalk(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "trees.db"), Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	c := db.Open(store.Spec{Name: "trees", Indexes: []store.Index{
		{Fields: []string{"createdAt"}}, {Fields: []string{"height"}}, {Fields: []string{"state", "createdAt"}}, {Fields: []string{"owner"}},
	}}).(*collection)
	random := rand.New(rand.NewPCG(1, 2))
	var docs []store.Document
	for n := range 3 * manyEqual {
		doc := tree{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), State: "live", Owner: fmt.Sprint("o", n%300), Height: float64(random.IntN(4000))}
		if n%3 == 0 {
			doc.State = "gone"
			doc.Height = max(doc.Height, 3000) // of a walk from below, no row is in the result
		}
		docs = append(docs, &doc)
	}
	must(t, c.Load(t.Context(), docs))
	must(t, db.Prepare(t.Context()))

	list := func(q store.Query) (trees []tree) {
		_, err := c.List(t.Context(), q, func() any { trees = append(trees, tree{}); return &trees[len(trees)-1] })
		must(t, err)
		return trees
	}
	for _, filter := range []store.Filter{
		store.Eq("state", "live"), store.In("state", "gone", "lost"), store.And(store.Eq("state", "gone"), store.Lt("height", 3001)),
		store.And(store.Eq("state", "live"), store.Or(store.Eq("owner", "o1"), store.Eq("owner", "o2"), store.Gt("height", 3990))),
	} {
		for _, desc := range []bool{false, true} {
			all := store.Query{Filter: filter, Sort: []store.Order{{Field: "height", Desc: desc}}}
			want := list(all)
			q := all
			q.Limit = 100
			must(t, db.readers.use(t.Context(), func(conn *conn) error {
				if walks, err := c.walks(conn, q); err != nil || !walks {
					t.Errorf("%v is not read along the index of its order: %v", filter, err)
				}
				return nil
			}))
			q.Skip = 70
			if got := list(q); !slices.Equal(got, want[70:min(170, len(want))]) {
				t.Errorf("%v, descending %v: the page after 70 rows differs", filter, desc)
			}
			q.Skip = 0
			for i := 0; i < min(len(want), 2000); i += q.Limit {
				if got := list(q); !slices.Equal(got, want[i:min(i+q.Limit, len(want))]) {
					t.Fatalf("%v, descending %v: the page at %d differs", filter, desc, i)
				}
				last := want[min(i+q.Limit, len(want))-1]
				q.After = []any{nil, last.ID}
				if last.Height != 0 {
					q.After[0] = last.Height
				}
			}
		}
	}

	byHeight := []store.Order{{Field: "height"}}
	for name, q := range map[string]store.Query{
		"few equal values":          {Filter: store.And(store.Eq("state", "live"), store.Eq("owner", "o1")), Sort: byHeight, Limit: 10},
		"an index has the order":    {Filter: store.Eq("state", "live"), Sort: []store.Order{{Field: "createdAt"}}, Limit: 10},
		"the order has no index":    {Filter: store.Eq("state", "live"), Sort: []store.Order{{Field: "state"}, {Field: "height"}}, Limit: 10},
		"the index ends with it":    {Filter: store.Eq("owner", "o1"), Sort: []store.Order{{Field: "id"}}, Limit: 10},
		"a search":                  {Filter: store.And(store.Eq("state", "live"), store.Search("a")), Sort: byHeight, Limit: 10},
		"one of several conditions": {Filter: store.Or(store.Eq("state", "live"), store.Eq("height", 1)), Sort: byHeight, Limit: 10},
	} {
		must(t, db.readers.use(t.Context(), func(conn *conn) error {
			if walks, err := c.walks(conn, q); err != nil || walks {
				t.Errorf("%s: read along the index of its order, %v", name, err)
			}
			return nil
		}))
	}
	if q := (store.Query{Filter: store.Eq("owner", "o1"), Sort: []store.Order{{Field: "state"}}, Limit: 10}); c.sorted(q) != nil {
		t.Error("a walk along an index of two fields would sort by the id")
	}
	q := store.Query{Filter: store.Eq("state", "live"), Sort: byHeight, Limit: 10}
	parts, err := parts(q)
	must(t, err)
	if plan := explain(t, db, c.selectWalk(q, parts[0], q.Limit)); !strings.Contains(plan, "USING INDEX trees:height") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("a walk sorts:\n%s", plan)
	}
}
