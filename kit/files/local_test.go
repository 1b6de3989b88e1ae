package files_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/files/filestest"
	"example.com/ginseng/kit/store"
)

func newLocal(t testing.TB) (*files.Local, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data", "files")
	local, err := files.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	return local, dir
}

func TestLocal(t *testing.T) {
	t.Parallel()
	filestest.Run(t, func(t *testing.T) files.Store {
		local, _ := newLocal(t)
		return local
	})
}

// TestLocalCopies stores a file from another disk, if the machine has one, or from a file that has no name.
func TestLocalCopies(t *testing.T) {
	t.Parallel()
	local, dir := newLocal(t)
	from := filestest.Spool(t, []byte("bytes"))
	if err := os.Remove(from.Name()); err != nil { // a file without a name cannot be moved
		t.Fatal(err)
	}
	id := store.NewID()
	if err := local.Put(t.Context(), id, from, 5); err != nil {
		t.Fatal(err)
	}
	hex := id.Hex()
	path := filepath.Join(dir, hex[22:], hex)
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "bytes" {
		t.Fatalf("%s: %q, %v", path, data, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
}

// TestLocalLeftovers lists no file of a Put that was interrupted, and Clean removes it a day later.
func TestLocalLeftovers(t *testing.T) {
	t.Parallel()
	local, dir := newLocal(t)
	old, recent := filepath.Join(dir, "incoming", store.NewID().Hex()), filepath.Join(dir, "incoming", store.NewID().Hex())
	before := time.Now().Add(-24 * time.Hour)
	if err := os.Mkdir(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, recent, filepath.Join(dir, "notes.txt")} {
		if err := os.WriteFile(path, []byte("part"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, before.Add(-time.Minute), before.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	for id, err := range local.List(t.Context()) {
		t.Errorf("listed %v, %v", id, err)
	}
	if err := local.Clean(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old file: %v", err)
	}
	if _, err := os.Stat(recent); err != nil {
		t.Error(err)
	}
}

// TestLocalSymlink follows no link out of the directory, such as one that another program has made.
func TestLocalSymlink(t *testing.T) {
	t.Parallel()
	local, dir := newLocal(t)
	secret := filepath.Join(t.TempDir(), "secret")
	id := store.NewID()
	sub := filepath.Join(dir, id.Hex()[22:])
	for _, err := range []error{os.WriteFile(secret, []byte("secret"), 0o600), os.Mkdir(sub, 0o700), os.Symlink(secret, filepath.Join(sub, id.Hex()))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := local.Open(t.Context(), id); err == nil {
		t.Error("Open has followed a link out of the directory")
	}
}
