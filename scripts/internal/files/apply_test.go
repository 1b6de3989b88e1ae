package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// changes create, change, empty and remove files. One fills an empty file.
var changes = []Change{
	{"docs/api.json", []byte(`{"paths": {}}`), []byte(`{"paths": {"/notes": {}}}`)},
	{"modules/note/model.go", nil, []byte("package note\n")},
	{"modules/note/emails/a.txt", nil, []byte{}},
	{"modules/page/model.go", []byte("package page\n"), nil},
	{"modules/page/model_test.go", []byte("package page\n"), nil},
	{"modules/full", []byte{}, []byte("full\n")},
	{"modules/empty", []byte("full\n"), []byte{}},
	{"modules/modules.go", []byte("package modules\n\nvar all = page\n"), []byte("package modules\n\nvar all = note\n")},
}

// newTree writes the files of before the changes, and one that they leave unchanged.
func newTree(t *testing.T) (dir string, before, after Tree) {
	t.Helper()
	dir, before, after = t.TempDir(), Tree{"main.go": []byte("package main\n")}, Tree{"main.go": []byte("package main\n")}
	for _, c := range changes {
		if c.Before != nil {
			before[c.Path] = c.Before
		}
		if c.After != nil {
			after[c.Path] = c.After
		}
	}
	if err := before.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir, before, after
}

// check compares the files and directories in dir with those of a tree.
func check(t *testing.T, what, dir string, want Tree) {
	t.Helper()
	got, err := Read(dir, func(string) bool { return true })
	if err != nil || !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%s: %v, the files are %q, want %q", what, err, got, want)
	}
	for _, name := range []string{"modules/note/emails", "modules/page"} {
		_, err := os.Stat(filepath.Join(dir, name))
		wanted := slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(file string) bool { return strings.HasPrefix(file, name) })
		if wanted != (err == nil) {
			t.Errorf("%s: %s: %v", what, name, err)
		}
	}
}

// TestRestore stops Apply in the middle of every write, and restores the files; and the same while Restore writes.
func TestRestore(t *testing.T) {
	t.Parallel()
	record, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	// stop writes what next returns of the first n changes, and a part of that of the next one.
	stop := func(dir string, n, part int, next func(Change) []byte) {
		for i, c := range changes[:min(n+1, len(changes))] {
			data := next(c)
			if i == n && data != nil {
				data = data[:len(data)*part/2]
			} else if i == n {
				break
			}
			if err := write(dir, c.Path, data); err != nil {
				t.Fatal(err)
			}
		}
	}
	after, before := func(c Change) []byte { return c.After }, func(c Change) []byte { return c.Before }
	for n := range len(changes) + 1 {
		for part := range 2 {
			for _, undone := range []int{-1, n / 2, n} {
				dir, old, whole := newTree(t)
				if err := os.WriteFile(filepath.Join(dir, undoFile), record, 0o600); err != nil {
					t.Fatal(err)
				}
				stop(dir, n, part, after)
				if n == len(changes) {
					old = whole // the change was complete
				} else if undone >= 0 {
					stop(dir, undone, part, before)
				}
				if err := Restore(dir); err != nil {
					t.Errorf("stopped at %d: %v", n, err)
				}
				check(t, "restored", dir, old)
			}
		}
	}
	for _, part := range []int{0, 1, len(record) / 2, len(record) - 1} {
		dir, old, _ := newTree(t)
		if err := os.WriteFile(filepath.Join(dir, undoFile), record[:part], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Restore(dir); err != nil {
			t.Error(err)
		}
		check(t, "an incomplete record", dir, old)
	}
}

// TestApply makes the changes, and none after an error.
func TestApply(t *testing.T) {
	t.Parallel()
	dir, _, after := newTree(t)
	if err := Apply(dir, changes); err != nil {
		t.Fatal(err)
	}
	check(t, "applied", dir, after)
	if err := Apply(dir, changes); err == nil || !strings.Contains(err.Error(), "docs/api.json has changed meanwhile") {
		t.Errorf("applied twice: %v", err)
	}
	check(t, "applied twice", dir, after)

	dir, before, _ := newTree(t)
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	blocked := append(slices.Clone(changes), Change{"link/a", nil, []byte("a")})
	if err := Apply(dir, blocked); err == nil || strings.Contains(err.Error(), "meanwhile") {
		t.Errorf("a file that cannot be written: %v", err)
	}
	check(t, "a file that cannot be written", dir, before)
}

// TestRestoreEdited edits a file after a process was killed: the edit is kept.
func TestRestoreEdited(t *testing.T) {
	t.Parallel()
	dir, before, _ := newTree(t)
	record, err := json.Marshal(changes)
	edited := []byte("package modules\n\n// mine\n")
	before["modules/modules.go"], before[undoFile] = edited, record
	if err := errors.Join(err, before.Write(dir)); err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{func() error { return Restore(dir) }, func() error { return Apply(dir, nil) }} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "modules/modules.go was edited since: undo that edit, or delete .ginseng-undo.json to keep all files") {
			t.Errorf("error %v", err)
		}
		check(t, "edited", dir, before)
	}
}

// TestRestoreWaits restores while another process writes: it waits until that is done.
func TestRestoreWaits(t *testing.T) {
	t.Parallel()
	dir, _, after := newTree(t)
	record, err := json.Marshal(changes)
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, undoFile), record, 0o600)); err != nil {
		t.Fatal(err)
	}
	unlock := Lock(dir)
	done := make(chan error, 1)
	go func() { done <- Restore(dir) }()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	for _, c := range changes {
		if err := write(dir, c.Path, c.After); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, undoFile)); err != nil {
		t.Fatal(err)
	}
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
	check(t, "restored", dir, after)
}

// TestRead leaves out data only at the top, because a resource can have this name, and reads a directory through a link.
func TestRead(t *testing.T) {
	t.Parallel()
	dir, kept := t.TempDir(), Tree{"modules/data/model.go": []byte("package data\n")}
	all := Tree{"data/a.go": {}, ".git/a.go": {}, "web/node_modules/a.go": {}, "a.txt": {}}
	if err := errors.Join(kept.Write(dir), all.Write(dir)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, link} {
		got, err := Read(dir, func(name string) bool { return strings.HasSuffix(name, ".go") })
		if err != nil || !maps.EqualFunc(got, kept, bytes.Equal) {
			t.Errorf("%s: %v, %q", dir, err, got)
		}
	}
}

// TestRestoreDirectories restores after a kill between the creation of two directories of a file.
func TestRestoreDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record, err := json.Marshal([]Change{{".github/workflows/ci.yml", nil, []byte("on: push\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, undoFile), record, 0o600), os.Mkdir(filepath.Join(dir, ".github"), 0o755), Restore(dir)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
