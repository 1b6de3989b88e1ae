package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// TestBackup backs up a file that is open, between two writes that are not checkpointed, and a file that is closed.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "odd name? 100%#&.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	c, err := openNotes(t.Context(), db)
	must(t, err)
	add := func(text string) {
		t.Helper()
		must(t, c.Insert(t.Context(), note{Meta: store.NewMeta(store.NewID(), store.Time{}), Text: text}))
	}
	for range 100 {
		add("before " + strings.Repeat("x", 1000))
	}
	file := filepath.Join(dir, "odd backup? 100%#&.db")
	var seen []int64
	must(t, sqlite.Backup(t.Context(), path, file, func(done, total int64) {
		seen = append(seen, done, total)
		add("meanwhile")
	}))
	if len(seen) != 2 || seen[0] != seen[1] || seen[0] < 100_000 {
		t.Errorf("the progress was %v", seen)
	}
	wantNotes := func(file string, all int64) {
		t.Helper()
		copied := openAt(t, file)
		c, err := openNotes(t.Context(), copied)
		must(t, err)
		for f, want := range map[store.Filter]int64{nil: all, store.Search("before"): 100, store.Search("meanwhile"): all - 100} {
			if n, err := c.Count(t.Context(), f); err != nil || n != want {
				t.Errorf("%s has %d notes (%v), %v; want %d", file, n, f, err, want)
			}
		}
	}
	wantNotes(file, 100)
	must(t, db.Close())
	second := filepath.Join(dir, "second.db")
	must(t, sqlite.Backup(t.Context(), path, second, func(int64, int64) {}))
	wantNotes(second, 101)
}

// TestBackupRejects checks that an impossible backup fails with the reason and leaves no file.
func TestBackupRejects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, text := filepath.Join(dir, "db"), filepath.Join(dir, "text")
	db := openAt(t, path)
	_, err := openNotes(t.Context(), db)
	must(t, err)
	must(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	before, err := os.ReadDir(dir)
	must(t, err)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx        context.Context
		from, file string
		want       string
	}{
		{t.Context(), path, text, "already exists"},
		{t.Context(), path, filepath.Join(dir, "missing", "x"), "no such file"},
		{t.Context(), filepath.Join(dir, "missing"), filepath.Join(dir, "x"), "no such file"},
		{t.Context(), dir, filepath.Join(dir, "x"), "not a regular file"},
		{t.Context(), text, filepath.Join(dir, "x"), "not a database"},
		{canceled, path, filepath.Join(dir, "x"), context.Canceled.Error()},
	} {
		err := sqlite.Backup(test.ctx, test.from, test.file, func(int64, int64) {})
		wantError(t, err, test.want)
	}
	// Stop halfway.
	ctx, stop := context.WithCancel(t.Context())
	err = sqlite.Backup(ctx, path, filepath.Join(dir, "x"), func(int64, int64) { stop() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped half way: %v", err)
	}
	after, err := os.ReadDir(dir)
	must(t, err)
	if len(after) != len(before) {
		t.Errorf("there were %v, and are %v", before, after)
	}
}

// TestBackupDamaged checks that a backup of damaged pages fails.
func TestBackupDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	c, err := openNotes(t.Context(), db)
	must(t, err)
	for range 200 {
		must(t, c.Insert(t.Context(), note{Meta: store.NewMeta(store.NewID(), store.Time{}), Text: strings.Repeat("x", 1000)}))
	}
	must(t, db.Close())
	text, err := os.ReadFile(path)
	must(t, err)
	for i := 20 * 4096; i < 30*4096; i++ {
		text[i] = 0xff
	}
	must(t, os.WriteFile(path, text, 0o600))
	file := filepath.Join(dir, "backup")
	wantError(t, sqlite.Backup(t.Context(), path, file, func(int64, int64) {}), "damaged")
	if _, err := os.Stat(file); err == nil {
		t.Error("the damaged backup exists")
	}
}
