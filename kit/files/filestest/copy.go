package filestest

import (
	"bytes"
	"io"
	"testing"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// CopyOptions returns options for a copy that reports nothing.
func CopyOptions(t testing.TB) files.CopyOptions {
	return files.CopyOptions{TempDir: t.TempDir(), Progress: io.Discard, Report: func(found files.Finding) error {
		t.Errorf("reported %+v", found)
		return nil
	}}
}

// Local returns a function that opens the same new directory.
func Local(t testing.TB) func() files.Partitioned {
	dir := t.TempDir()
	return func() files.Partitioned {
		local, err := files.NewLocal(dir)
		if err != nil {
			t.Fatal(err)
		}
		return local
	}
}

// RunCopy copies the files of two databases from a directory to another Store, and back. A file of the target that differs is not
// replaced. open opens the same Store, which is empty.
func RunCopy(t *testing.T, open func() files.Partitioned) {
	source, back := Local(t), Local(t)
	of := map[store.ID][]byte{}
	var database string
	for _, n := range []int{1, 150} {
		database = store.NewID().Hex()
		s := enter(t, source, database)
		for i := range n {
			data := bytes.Repeat([]byte{byte(i)}, i*1000+1)
			of[put(t, s, data)] = data
		}
	}
	copyAll(t, source, open, files.Copied{Copied: 151})
	copyAll(t, source, open, files.Copied{Present: 151})

	target := enter(t, open, database)
	changed := list(t, target)
	if err := target.Delete(t.Context(), changed[0]); err != nil {
		t.Fatal(err)
	}
	if err := target.Put(t.Context(), changed[1], Spool(t, []byte("other")), 5); err != nil {
		t.Fatal(err)
	}
	o := CopyOptions(t)
	o.Report = func(found files.Finding) error {
		if want := (files.Finding{ID: changed[1], Differs: true, SourceSize: int64(len(of[changed[1]])), TargetSize: 5}); found != want {
			t.Errorf("reported %+v, want %+v", found, want)
		}
		return nil
	}
	got, err := files.Copy(t.Context(), Opener(source), Opener(open), o)
	if want := (files.Copied{Copied: 1, Present: 149, Different: 1}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if data := read(t, target, changed[1]); string(data) != "other" {
		t.Errorf("the file that differs was replaced: %.20q", data)
	}
	if err := target.Delete(t.Context(), changed[1]); err != nil {
		t.Fatal(err)
	}
	copyAll(t, source, open, files.Copied{Copied: 1, Present: 150})
	copyAll(t, open, back, files.Copied{Copied: 151})
	for _, id := range list(t, enter(t, back, database)) {
		if !bytes.Equal(read(t, enter(t, back, database), id), of[id]) {
			t.Errorf("the file %s differs", id.Hex())
		}
	}
}

// Opener returns open as an argument of files.Copy.
func Opener(open func() files.Partitioned) files.OpenStore {
	return func() (files.Partitioned, error) { return open(), nil }
}

func enter(t *testing.T, open func() files.Partitioned, database string) files.Store {
	t.Helper()
	s := open()
	if err := s.Enter(database, true); err != nil {
		t.Fatal(err)
	}
	return s
}

func copyAll(t *testing.T, from, to func() files.Partitioned, want files.Copied) {
	t.Helper()
	got, err := files.Copy(t.Context(), Opener(from), Opener(to), CopyOptions(t))
	if err != nil || got != want {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
}
