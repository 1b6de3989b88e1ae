package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	_, err := files.Copy(t.Context(), filestest.Opener(same), filestest.Opener(same), filestest.CopyOptions(t))
	if err == nil || !strings.Contains(err.Error(), "name another directory") {
		t.Errorf("to itself: %v", err)
	}
}

// TestCopyNothing copies from a directory that is not that of a service, such as a parent. The target is not opened.
func TestCopyNothing(t *testing.T) {
	t.Parallel()
	target := func() (files.Partitioned, error) {
		t.Error("the target was opened")
		return nil, errors.ErrUnsupported
	}
	_, err := files.Copy(t.Context(), filestest.Opener(filestest.Local(t)), target, filestest.CopyOptions(t))
	if !errors.Is(err, files.ErrNoDatabases) {
		t.Errorf("%v, want ErrNoDatabases", err)
	}
}

// TestCopyLeftovers removes the temporary files of a copy that was killed, and not those of one in progress.
func TestCopyLeftovers(t *testing.T) {
	t.Parallel()
	source, o, dir, database := filestest.Local(t), filestest.CopyOptions(t), t.TempDir(), store.NewID().Hex()
	if err := source().Enter(database, true); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-12 * time.Hour)
	incoming := filepath.Join(dir, database, "incoming")
	left := []string{filepath.Join(o.TempDir, "ginseng-upload-old"), filepath.Join(incoming, "old")}
	kept := []string{filepath.Join(o.TempDir, "ginseng-upload-new"), filepath.Join(incoming, "new")}
	err := os.MkdirAll(incoming, 0o700)
	for _, path := range append(left, kept...) {
		err = errors.Join(err, os.WriteFile(path, nil, 0o600))
	}
	for _, path := range left {
		err = errors.Join(err, os.Chtimes(path, long, long))
	}
	if err != nil {
		t.Fatal(err)
	}
	target := func() (files.Partitioned, error) { return files.NewLocal(dir) }
	if _, err := files.Copy(t.Context(), filestest.Opener(source), target, o); err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want no file", path, err)
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
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
