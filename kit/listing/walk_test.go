package listing

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

type thing struct {
	store.Meta `bson:",inline"`
	Title      string `json:"title"`
	Size       *int64 `json:"size,omitempty"`
}

type thingView struct {
	ID store.ID `json:"id"`
}

func (d thing) view() thingView { return thingView{d.ID} }

// TestWalk reads lists page by page, in both directions, with equal and missing values.
func TestWalk(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	spec := Spec{Name: "things", Search: []string{"title"}, Sort: []string{"title", "size"}, View: thingView{}}
	things := store.Open[thing](db, spec.Store())
	err := db.Prepare(t.Context())
	now := store.At(time.Now())
	for i := range 8 {
		d := thing{Meta: store.NewMeta(store.NewID(), now), Title: fmt.Sprint("word ", i%3)}
		if i%2 == 0 {
			d.Size = new(int64(i % 4))
		}
		err = errors.Join(err, things.Insert(t.Context(), d))
	}
	if err != nil {
		t.Fatal(err)
	}
	lister := NewLister(spec, NewCursors("secret"))
	for _, sort := range []string{"", "-title", "size", "-size,title"} {
		for limit := range 9 {
			params := url.Values{"sort": {sort}, "q": {"wor"}, "limit": {fmt.Sprint(1 + limit)}}
			var got, want []store.ID
			for {
				query, err := lister.Parse(params)
				if err != nil {
					t.Fatal(err)
				}
				page, err := Run(t.Context(), things, query, thing.view)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range page.Rows {
					got = append(got, row.ID)
				}
				if page.Next == "" {
					all, err := things.List(t.Context(), store.Query{Sort: query.Sort})
					if err != nil {
						t.Fatal(err)
					}
					for _, d := range all {
						want = append(want, d.ID)
					}
					break
				}
				params.Set("after", page.Next)
			}
			if !slices.Equal(got, want) {
				t.Errorf("sort=%s limit=%d: %d rows, want %d in this order", sort, 1+limit, len(got), len(want))
			}
		}
	}
}
