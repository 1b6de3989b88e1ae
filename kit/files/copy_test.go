package files_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/files/filestest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

func TestCopy(t *testing.T) {
	t.Parallel()
	filestest.RunCopy(t, filestest.Local(t))
	same := filestest.Local(t)
	if err := same().Enter(store.NewID().Hex(), true); err != nil {
		t.Fatal(err)
	}
	_, err := files.Copy(t.Context(), func() (files.Partitioned, files.Partitioned, error) { return same(), same(), nil }, filestest.CopyOptions(t))
	if err == nil || !strings.Contains(err.Error(), "name another directory") {
		t.Errorf("to itself: %v", err)
	}
}

// TestBackup copies the files that records name, beside files that are missing, damaged, or of a collection that the service no longer
// has.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := newService(t, testdb.Open(t), 0)
	if err := s.files.Claim(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	ids, fileOf := map[string]store.ID{}, map[string]store.ID{}
	for _, name := range []string{"kept", "missing", "damaged", "replaced"} {
		ids[name] = store.NewID()
		s.must(s.set(t.Context(), ids[name], nil, name))
		p, err := s.pages.Get(t.Context(), ids[name])
		s.must(err)
		fileOf[name] = p.Cover.ID
	}
	s.must(s.set(t.Context(), ids["replaced"], nil, "new"))
	s.must(s.local.Delete(t.Context(), fileOf["missing"]))
	s.must(s.local.Put(t.Context(), fileOf["damaged"], filestest.Spool(t, []byte("DAMAGED")), 7))
	other := store.NewID()
	s.must(s.local.Put(t.Context(), other, filestest.Spool(t, []byte("other")), 5))
	s.must(store.Open[fileRow](s.db, store.Spec{Name: "files"}).Insert(t.Context(), fileRow{Meta: store.NewMeta(other, store.At(s.clock.Now())), Collection: "former"}))

	target := t.TempDir()
	backup := func(want files.Copied) {
		t.Helper()
		to, err := files.NewLocal(target)
		s.must(err)
		var reported []string
		o := filestest.CopyOptions(t)
		o.Report = func(found files.Finding) error {
			switch {
			case found.Missing && found.ID == fileOf["missing"] && found.Collection == "pages" && found.Record == ids["missing"]:
				reported = append(reported, "missing")
			case found.Damaged && found.ID == fileOf["damaged"]:
				reported = append(reported, "damaged")
			default:
				t.Errorf("reported %+v", found)
			}
			return nil
		}
		got, err := s.files.Backup(t.Context(), to, o)
		if slices.Sort(reported); err != nil || got != want || !slices.Equal(reported, []string{"damaged", "missing"}) {
			t.Errorf("%+v, %v, want %+v; reported %v", got, err, want, reported)
		}
	}
	backup(files.Copied{Copied: 3, Missing: 1, Damaged: 1})
	backup(files.Copied{Present: 3, Missing: 1, Damaged: 1})
	kept := fileOf["kept"].Hex()
	paths, err := filepath.Glob(filepath.Join(target, "*", kept[22:], kept))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	s.must(os.Truncate(paths[0], 2)) // a file of an earlier backup that the disk has damaged is copied again
	backup(files.Copied{Copied: 1, Present: 2, Missing: 1, Damaged: 1})
	if data, err := os.ReadFile(paths[0]); err != nil || string(data) != "kept" {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{fileOf["replaced"].Hex(), fileOf["damaged"].Hex()} {
		if found, err := filepath.Glob(filepath.Join(target, "*", "*", name)); err != nil || len(found) > 0 {
			t.Errorf("copied %v, %v", found, err)
		}
	}
}
