package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// crowd is the number of concurrent callers.
const crowd = 20

// together calls f concurrently and returns the number of successes. The other calls must fail with the code.
func together(t *testing.T, otherwise apperr.Code, f func(i int) error) int64 {
	t.Helper()
	var group sync.WaitGroup
	var won atomic.Int64
	start := make(chan struct{})
	for i := range crowd {
		group.Go(func() {
			<-start
			if err := f(i); err == nil {
				won.Add(1)
			} else if !apperr.Is(err, otherwise) {
				t.Errorf("error %v, want %s", err, otherwise)
			}
		})
	}
	close(start)
	group.Wait()
	return won.Load()
}

func testOneUpdateWins(t *testing.T, open Opener) {
	c := openDocs(t, open)
	d := newDoc("token")
	insert(t, c, d)
	unused := store.And(store.Eq("id", d.ID), store.Eq("name", nil))
	won := together(t, apperr.NotFound, func(i int) error {
		_, err := c.Update(t.Context(), unused, store.Set("name", fmt.Sprint(i)))
		return err
	})
	if won != 1 {
		t.Errorf("%d callers used the token, want one", won)
	}
	got, err := c.Get(t.Context(), d.ID)
	must(t, err)
	if got.Version != 2 {
		t.Errorf("the version is %d, want 2", got.Version)
	}
}

func testOneDeleteWins(t *testing.T, open Opener) {
	c := openDocs(t, open)
	d := newDoc("token")
	insert(t, c, d, newDoc("other"))
	var deleted atomic.Int64
	together(t, "", func(int) error {
		n, err := c.Delete(t.Context(), store.Eq("id", d.ID))
		deleted.Add(n)
		return err
	})
	if deleted.Load() != 1 {
		t.Errorf("the callers deleted %d documents, want one", deleted.Load())
	}
	wantTitles(t, c, nil, "other")
}

func testOneInsertWins(t *testing.T, open Opener) {
	c := openDocs(t, open, unique("name"))
	won := together(t, apperr.Conflict, func(i int) error {
		return c.Insert(t.Context(), newDoc("same name", func(d *doc) { d.Name = new("a") }))
	})
	if won != 1 {
		t.Errorf("%d callers took the name, want one", won)
	}
	d := newDoc("same id")
	won = together(t, apperr.Conflict, func(int) error { return c.Insert(t.Context(), d) })
	if won != 1 {
		t.Errorf("%d callers took the id, want one", won)
	}
	wantTitles(t, c, nil, "same name", "same id")
}

func testIncLosesNothing(t *testing.T, open Opener) {
	c := openDocs(t, open)
	d := newDoc("counter")
	insert(t, c, d)
	won := together(t, "", func(i int) error {
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Inc("count", int64(i)), store.Inc("profile.visits", 1))
		return err
	})
	got, err := c.Get(t.Context(), d.ID)
	must(t, err)
	if won != crowd || got.Count != crowd*(crowd-1)/2 || got.Profile.Visits != crowd || got.Version != crowd+1 {
		t.Errorf("count %d, visits %d, version %d", got.Count, got.Profile.Visits, got.Version)
	}
}

// testMixedWrites checks that concurrent writes do not affect each other, even if some fail. Each write must be visible when it
// returns.
func testMixedWrites(t *testing.T, open Opener) {
	c := openDocs(t, open, unique("name"))
	taken := newDoc("taken", func(d *doc) { d.Name = new("taken") })
	insert(t, c, taken)
	won := together(t, apperr.Conflict, func(i int) error {
		if i%2 == 0 {
			return c.Insert(t.Context(), newDoc("rejected", func(d *doc) { d.Name = new("taken") }))
		}
		d := newDoc("own", func(d *doc) { d.Name = new(fmt.Sprint("own", i)) })
		if err := c.Insert(t.Context(), d); err != nil {
			return err
		}
		got, err := c.Get(t.Context(), d.ID)
		if err != nil {
			return err
		}
		wantDoc(t, got, d)
		_, err = c.Update(t.Context(), store.Eq("id", d.ID), store.Set("name", "taken"))
		if !apperr.Is(err, apperr.Conflict) {
			return fmt.Errorf("an Update into a duplicate returns %w", err)
		}
		if _, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Set("title", "changed")); err != nil {
			return err
		}
		if i%4 == 1 {
			_, err = c.Delete(t.Context(), store.Search("changed nothing"))
			return err
		}
		n, err := c.Delete(t.Context(), store.Eq("id", d.ID))
		if n != 1 {
			return fmt.Errorf("deleted %d documents, want one", n)
		}
		return err
	})
	if won != crowd/2 {
		t.Errorf("%d callers succeeded, want %d", won, crowd/2)
	}
	const kept = (crowd + 2) / 4 // the callers whose i%4 is 1 do not delete their document
	for f, want := range map[store.Filter]int64{
		nil: 1 + kept, store.Eq("title", "changed"): kept, store.Eq("title", "rejected"): 0,
	} {
		n, err := c.Count(t.Context(), f)
		must(t, err)
		if n != want {
			t.Errorf("Count(%v) = %d, want %d", f, n, want)
		}
	}
}
