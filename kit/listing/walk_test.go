package listing

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

type thing struct {
	store.Meta `bson:",inline"`
	Title      string `json:"title"`
	Size       *int64 `json:"size,omitempty"`
	Stays      bool   `json:"stays"`
}

type thingView struct {
	ID    store.ID `json:"id"`
	Stays bool     `json:"stays"`
}

func (d thing) view() thingView { return thingView{d.ID, d.Stays} }

// TestWalk reads lists page by page while rows are created and deleted. Each row that is not deleted must be returned exactly
// once and in order, in both directions, also with equal and missing values.
func TestWalk(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	spec := Spec{Name: "things", Search: []string{"title"}, Sort: []string{"title", "size", "createdAt"}, View: thingView{}}
	things := store.Open[thing](db, spec.Store())
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	source := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	random := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return source.IntN(n)
	}
	now := store.At(time.Now())
	insert := func(stays bool) store.ID {
		d := thing{Meta: store.NewMeta(store.NewID(), now), Title: fmt.Sprintf("word %c", 'a'+rune(random(3))), Stays: stays}
		if random(3) > 0 {
			size := int64(random(4) - 2)
			d.Size = &size
		}
		if err := things.Insert(t.Context(), d); err != nil {
			t.Error(err)
		}
		return d.ID
	}
	for range 120 {
		insert(true)
	}
	lister := NewLister(spec, NewCursors("secret"))
	stop := make(chan struct{})
	var churn sync.WaitGroup
	churn.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			ids := []store.ID{insert(false), insert(false), insert(false)}
			for _, id := range ids {
				if err := things.DeleteByID(t.Context(), id, nil); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for _, sort := range []string{"", "title", "-title", "size", "-size", "title,-size", "-size,title", "size,createdAt,-title"} {
		for _, q := range []string{"", "wor"} {
			params := url.Values{"sort": {sort}, "q": {q}, "count": {"false"}}
			order, err := lister.Parse(params)
			if err != nil {
				t.Fatal(err)
			}
			all, err := things.List(t.Context(), store.Query{Filter: store.Eq("stays", true), Sort: order.Sort})
			if err != nil {
				t.Fatal(err)
			}
			var want, got []store.ID
			for _, d := range all {
				want = append(want, d.ID)
			}
			for {
				params.Set("limit", fmt.Sprint(1+random(20)))
				query, err := lister.Parse(params)
				if err != nil {
					t.Fatal(err)
				}
				page, err := Run(t.Context(), things, query, thing.view)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range page.Rows {
					if row.Stays {
						got = append(got, row.ID)
					}
				}
				if page.Next == "" {
					break
				}
				params.Set("after", page.Next)
			}
			if !slices.Equal(got, want) {
				t.Errorf("sort=%s q=%s: %d rows, want %d in this order", sort, q, len(got), len(want))
			}
		}
	}
	close(stop)
	churn.Wait()
}
