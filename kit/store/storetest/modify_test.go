package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func testModify(t *testing.T, open Opener) {
	c := openDocs(t, open, unique("name"))
	owner := store.NewID()
	old := newDoc("old", func(d *doc) {
		d.Tags, d.Body, d.Labels = []string{"a", "b", "c"}, new("text"), map[string]string{"k": "v"}
		d.Profile.City = "Rome"
	})
	insert(t, c, old, newDoc("other", func(d *doc) { d.Name = new("taken") }))
	got, err := c.Modify(t.Context(), old.ID, func(d *doc) error {
		d.ID, d.Version = owner, 7 // Modify ignores these changes
		d.Title, d.Body, d.Owner, d.Profile.City, d.Labels = "new", nil, owner, "Oslo", nil
		d.Tags = append(d.Tags[:1], d.Tags[2:]...) // changes the array of the slice
		return nil
	})
	must(t, err)
	want := old
	want.Version, want.Title, want.Body, want.Owner, want.Profile.City, want.Labels = 2, "new", nil, owner, "Oslo", nil
	want.Tags = []string{"a", "c"}
	wantDoc(t, got, want)
	got, err = c.Get(t.Context(), old.ID)
	must(t, err)
	wantDoc(t, got, want)
	wantTitles(t, c, store.Search("oslo"), "new")

	failure := errors.New("failure")
	for _, change := range []func(*doc) error{
		func(d *doc) error { d.Title = "rejected"; return failure },
		func(*doc) error { return nil },
	} {
		got, err := c.Modify(t.Context(), old.ID, change)
		if err == nil {
			wantDoc(t, got, want)
		} else if !errors.Is(err, failure) || got.Title != "" {
			t.Errorf("Modify returns %q and %v", got.Title, err)
		}
	}
	_, err = c.Modify(t.Context(), old.ID, func(d *doc) error { d.Name = new("taken"); return nil })
	wantConflict(t, err, "name")
	_, err = c.Modify(t.Context(), store.NewID(), func(*doc) error { return nil })
	wantCode(t, err, apperr.NotFound)
	got, err = c.Get(t.Context(), old.ID)
	must(t, err)
	wantDoc(t, got, want)
}

// testUpdatedAt checks that each update sets updatedAt by the clock of the database, except an update that sets updatedAt
// itself, and an update that changes nothing.
func testUpdatedAt(t *testing.T, open Opener) {
	now := noon.Add(time.Hour)
	db := open(t)
	c := store.Open[doc](store.WithClock(db, func() time.Time { return now }), docSpec())
	must(t, db.Prepare(t.Context()))
	d := newDoc("old")
	insert(t, c, d)
	imported := store.At(noon.Add(-time.Hour))
	for _, test := range []struct {
		name   string
		update func() (doc, error)
		want   store.Time // the zero value stands for now
	}{
		{"Update", func() (doc, error) { return c.Update(t.Context(), store.Eq("id", d.ID), store.Set("title", "a")) }, store.Time{}},
		{"UpdateByID", func() (doc, error) { return c.UpdateByID(t.Context(), d.ID, nil, store.Inc("count", 1)) }, store.Time{}},
		{"Modify", func() (doc, error) {
			return c.Modify(t.Context(), d.ID, func(d *doc) error { d.Title = "b"; return nil })
		}, store.Time{}},
		{"Update with updatedAt", func() (doc, error) {
			return c.Update(t.Context(), store.Eq("id", d.ID), store.Set("updatedAt", imported), store.Set("title", "c"))
		}, imported},
		{"UpdateByID without changes", func() (doc, error) { return c.UpdateByID(t.Context(), d.ID, nil) }, imported},
		{"Modify without changes", func() (doc, error) { return c.Modify(t.Context(), d.ID, func(*doc) error { return nil }) }, imported},
		{"Update, same values", func() (doc, error) { return c.Update(t.Context(), store.Eq("id", d.ID), store.Set("title", "c")) }, imported},
		{"Modify with updatedAt", func() (doc, error) {
			return c.Modify(t.Context(), d.ID, func(d *doc) error { d.Title, d.UpdatedAt = "d", noon; return nil })
		}, noon},
		{"Update of updatedAt alone", func() (doc, error) {
			return c.Update(t.Context(), store.Eq("id", d.ID), store.Set("updatedAt", imported))
		}, imported},
	} {
		now = now.Add(time.Minute)
		want := test.want
		if want.IsZero() {
			want = store.At(now)
		}
		got, err := test.update()
		must(t, err)
		stored, err := c.Get(t.Context(), d.ID)
		must(t, err)
		if got.UpdatedAt != want || stored.UpdatedAt != want || stored.CreatedAt != noon {
			t.Errorf("%s: updatedAt is %v, stored %v, want %v", test.name, got.UpdatedAt, stored.UpdatedAt, want)
		}
	}
}

// testModifyTogether runs concurrent callers that change the same document. Each caller must see the changes of the previous
// callers.
func testModifyTogether(t *testing.T, open Opener) {
	c := openDocs(t, open)
	d := newDoc("counter")
	insert(t, c, d)
	won := together(t, "", func(int) error {
		_, err := c.Modify(t.Context(), d.ID, func(d *doc) error { d.Count++; return nil })
		return err
	})
	got, err := c.Get(t.Context(), d.ID)
	must(t, err)
	if won != crowd || got.Count != crowd || got.Version != crowd+1 {
		t.Errorf("%d callers have counted to %d, in version %d", won, got.Count, got.Version)
	}
}

// testMerge merges objects into a field, one after another and concurrently. No merge may undo another one.
func testMerge(t *testing.T, open Opener) {
	db := open(t)
	c := store.Open[typed](db, store.Spec{Name: "test_" + store.NewID().Hex()})
	must(t, db.Prepare(t.Context()))
	d := typed{Meta: newDoc("").Meta, Data: &store.Object{"a": map[string]any{"b": 1.0, "c": 2.0}, "d": []any{1.0}}}
	must(t, c.Insert(t.Context(), d))
	merge := func(versions store.Versions, patch store.Object, others ...store.Change) (typed, error) {
		return c.UpdateByID(t.Context(), d.ID, versions, append(others, store.Change{Op: store.OpMerge, Field: "data", Value: patch})...)
	}
	got, err := merge(nil, store.Object{"a": map[string]any{"b": nil, "e": map[string]any{"f": nil, "g": 3.0}}, "d": []any{nil, 2.0}}, store.Set("title", "t"))
	must(t, err)
	const want = "map[a:map[c:2 e:map[g:3]] d:[<nil> 2]]"
	if fmt.Sprint(*got.Data) != want || got.Title != "t" || got.Version != 2 {
		t.Errorf("merged: %v in %+v", *got.Data, got)
	}
	got, err = merge(store.Versions{2}, store.Object{"x": nil, "a": map[string]any{}})
	must(t, err)
	if fmt.Sprint(*got.Data) != want || got.Version != 2 {
		t.Errorf("merged nothing: %v in %+v", *got.Data, got)
	}
	_, err = merge(store.Versions{1}, store.Object{"x": 1.0})
	wantCode(t, err, apperr.PreconditionFailed)
	_, err = merge(nil, store.Object{"x": strings.Repeat("x", store.MaxObjectBytes-20)})
	wantCode(t, err, apperr.ValidationFailed)

	won := together(t, "", func(i int) error {
		_, err := merge(nil, store.Object{"n": map[string]any{strconv.Itoa(i): 1.0}})
		return err
	})
	got, err = c.Get(t.Context(), d.ID)
	must(t, err)
	if n := (*got.Data)["n"].(map[string]any); len(n) != crowd || won != crowd || fmt.Sprint((*got.Data)["a"]) != "map[c:2 e:map[g:3]]" {
		t.Errorf("%d of %d merges: %v", len(n), crowd, *got.Data)
	}
	if _, err := c.UpdateByID(t.Context(), d.ID, nil, store.Unset("data")); err != nil {
		t.Error(err)
	}
	got, err = merge(nil, store.Object{"a": 1.0, "b": nil})
	must(t, err)
	if fmt.Sprint(*got.Data) != "map[a:1]" {
		t.Errorf("merged into nothing: %v", *got.Data)
	}
}
