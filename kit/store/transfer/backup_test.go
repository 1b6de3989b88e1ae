//go:build unix

package transfer

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"
)

// watched is a standard output that lists a directory while it is written to.
type watched struct {
	text bytes.Buffer
	look func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.look()
	return w.text.Write(p)
}

// TestBackupToStdout checks that no file exists during the write, when a closed pipe would end the process.
func TestBackupToStdout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := "sqlite:" + filepath.Join(dir, "db")
	fill(t, address, 1)
	out := &watched{look: func() {
		if found, err := filepath.Glob(filepath.Join(dir, ".backup*")); err != nil || len(found) > 0 {
			t.Errorf("there is %v, %v", found, err)
		}
	}}
	host := Host{Database: func() (string, error) { return address, nil }, Stdout: out, Stderr: io.Discard}
	must(t, BackupCommand(t.Context(), []string{"-"}, host))
	if !bytes.HasPrefix(out.text.Bytes(), []byte("SQLite format 3\x00")) {
		t.Errorf("%d bytes that are no database", out.text.Len())
	}
}
