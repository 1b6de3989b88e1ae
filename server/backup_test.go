//go:build unix

package server

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"example.com/ginseng/kit/store/sqlite"
)

// watched is a standard output that calls look before each write.
type watched struct {
	text bytes.Buffer
	look func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.look()
	return w.text.Write(p)
}

// TestBackupToStdout checks that the temporary file is removed before the write, which ends the process if the pipe is closed.
func TestBackupToStdout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		err = errors.Join(db.Prepare(t.Context()), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	out := &watched{look: func() {
		if found, err := filepath.Glob(filepath.Join(dir, ".backup*")); err != nil || len(found) > 0 {
			t.Errorf("there is %v, %v", found, err)
		}
	}}
	if err := newProgram(testService).backupToStdout(t.Context(), path, out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out.text.Bytes(), []byte("SQLite format 3\x00")) {
		t.Errorf("%d bytes that are no database", out.text.Len())
	}
}
