package resource

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

var steps = flag.Int("steps", 150, "how many writes each writer of TestStress makes")

// TestStress creates, changes and deletes referring records concurrently, with every OnDelete and under a parent. At the end,
// each reference must refer to a record.
func TestStress(t *testing.T) {
	w := newWorld(t)
	targets := w.open("targets", Public, Public)
	if err := w.deps.DB.Atomic(t.Context(), func(context.Context) error { return nil }); errors.Is(err, store.ErrNoTransactions) {
		t.Skip("without transactions, a reference can refer to a record that does not exist")
	}
	collections := []*Collection[node]{
		w.open("restricted", Public, Public, To("maybe", targets, Restrict)),
		w.open("cascaded", Public, Public, To("maybe", targets, Cascade)),
		w.open("cleared", Public, Public, To("maybe", targets, Clear), To("many", targets, Clear)),
		w.open("items", nil, nil, Under("to", targets)),
	}
	var known [4]store.ID // deleted and replaced at random
	var mu sync.Mutex
	target := func(replace bool) (id store.ID) {
		mu.Lock()
		defer mu.Unlock()
		p := &known[rand.N(len(known))]
		if id = *p; replace || id.IsZero() {
			*p = store.NewID()
			w.want(targets.all.Insert(t.Context(), node{Meta: store.NewMeta(*p, store.At(time.Unix(1, 0)))}), "")
		}
		return id
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range *steps {
				c, id := collections[rand.N(len(collections))], target(false)
				n := node{Meta: store.NewMeta(store.NewID(), store.At(time.Unix(1, 0))), To: id, Maybe: &id, Many: []store.ID{id, target(false)}}
				err := c.Create(t.Context(), nobody, n)
				if err == nil && rand.N(2) == 0 {
					_, err = c.Update(t.Context(), nobody, n.ID, nil, store.Set("maybe", target(false)))
				}
				if rand.N(4) == 0 {
					err = targets.Delete(t.Context(), nobody, target(true), nil)
				}
				switch apperr.CodeOf(err) {
				case "", apperr.ValidationFailed, apperr.NotFound, apperr.Conflict:
				default:
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, c := range collections {
		nodes, err := c.all.List(t.Context(), store.Query{})
		w.want(err, "")
		dangling := 0
		for _, n := range nodes {
			for _, r := range c.references {
				for _, id := range idsOf(r.value(n)) {
					if exists, err := targets.all.Exists(t.Context(), store.Eq("id", id)); err != nil || !exists {
						dangling++
					}
				}
			}
		}
		t.Logf("%s has %d records", c.name, len(nodes))
		if len(nodes) == 0 || dangling > 0 {
			t.Errorf("%s has %d records, with %d references to records that do not exist", c.name, len(nodes), dangling)
		}
	}
}
