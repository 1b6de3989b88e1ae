package files_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/files/filestest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// TestCheck finds missing and unreferenced files, beside files of uploads in progress.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	ids := map[string]store.ID{}
	fileOf := map[string]store.ID{}
	for _, name := range []string{"kept", "missing", "replaced", "recent", "without rules", "lost row"} {
		id := store.NewID()
		ids[name] = id
		s.must(s.set(t.Context(), id, nil, name))
		p, err := s.pages.Get(t.Context(), id)
		s.must(err)
		fileOf[name] = p.Cover.ID
	}
	rows := store.Open[fileRow](s.db, store.Spec{Name: "files"})
	s.must(s.local.Delete(t.Context(), fileOf["missing"]))
	s.must(s.set(t.Context(), ids["replaced"], nil, "new"))
	_, err := s.pages.Delete(t.Context(), store.Eq("id", ids["without rules"]))
	s.must(err)
	_, err = rows.Delete(t.Context(), store.Eq("id", fileOf["lost row"]))
	s.must(err)
	fileOf["unknown"] = store.NewID()
	s.must(s.local.Put(t.Context(), fileOf["unknown"], filestest.Spool(t, []byte("x")), 1))
	s.clock.Advance(2 * time.Hour)
	s.must(s.set(t.Context(), ids["recent"], nil, "new"))
	s.clock.Advance(2 * time.Minute)
	r, err := s.files.Reserve(t.Context(), nil, 1)
	s.must(err)
	inProgress, err := r.Receive(t.Context(), filestest.Spool(t, []byte("x")), cover, "", "")
	s.must(err)
	s.must(s.files.Put(t.Context(), files.Owner{Collection: "pages", Field: "cover", Record: store.NewID()}, inProgress))

	nameOf := func(id store.ID) string {
		for name, file := range fileOf {
			if file == id {
				return name
			}
		}
		return id.Hex()
	}
	check := func(snapshot time.Time, remove bool, want ...string) {
		t.Helper()
		var got []string
		result, err := s.files.Check(t.Context(), snapshot, func(found files.Finding) error {
			deleted := false
			if remove {
				deleted, err = s.files.Delete(t.Context(), found)
				s.must(err)
			}
			got = append(got, fmt.Sprintf("%s: missing %t, deleted %t, with row %t", nameOf(found.ID), found.Missing, deleted, found.Collection == "pages"))
			return nil
		})
		s.must(err)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if n := result.Missing + result.Unreferenced; n != len(want) {
			t.Errorf("%+v", result)
		}
	}
	all := []string{
		"missing: missing true, deleted false, with row true",
		"recent: missing false, deleted false, with row true",
		"replaced: missing false, deleted false, with row true",
		"unknown: missing false, deleted false, with row false",
		"without rules: missing false, deleted false, with row true",
	}
	check(time.Time{}, false, all...)
	check(time.Now(), false, slices.Delete(slices.Clone(all), 3, 4)...) // a file that is newer than the snapshot can have a row
	check(time.Time{}, true, all[0], all[1],
		"replaced: missing false, deleted true, with row true",
		"unknown: missing false, deleted true, with row false",
		"without rules: missing false, deleted true, with row true")
	check(time.Time{}, false, all[0], all[1])
	if s.content(ids["lost row"]) != "lost row" || s.content(ids["kept"]) != "kept" {
		t.Error("a file to which a record refers was deleted")
	}
	s.sweep(time.Hour, 24*time.Hour, 24*time.Hour)
	check(time.Time{}, false, all[0])
	if s.content(ids["lost row"]) != "lost row" {
		t.Error("the sweep has deleted a file to which a record refers")
	}
}
