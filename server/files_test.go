package server

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/ginseng/kit/store/mongo/mongotest"
)

// TestFilesDirectory starts services whose directories of files cannot be used.
func TestFilesDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, value string }{
		{"FILES_URL", "file:" + file}, {"FILES_TMP", file}, {"FILES_TMP", filepath.Join(dir, "missing")},
	} {
		code, _, stderr := does(t, t.TempDir(), []string{test.name + "=" + test.value})
		if code != exitSettings || !strings.Contains(stderr, test.name+": ") {
			t.Errorf("%s=%s: exit code %d: %s", test.name, test.value, code, stderr)
		}
	}
}

// TestFilesBesideDatabase starts a service twice: the second start uses the directory of the first. A directory of another database
// is no error, because each database has a subdirectory.
func TestFilesBesideDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	subdirectories := func(want int) {
		t.Helper()
		entries, err := os.ReadDir(filepath.Join(dir, "data", "files"))
		if err != nil || len(entries) != want {
			t.Errorf("data/files has %v, %v, want %d subdirectories", entries, err, want)
		}
	}
	for _, run := range []struct {
		database string
		want     int
	}{{"sqlite:data/a.db", 1}, {"sqlite:data/a.db", 1}, {"sqlite:data/b.db", 2}} {
		p := start(t, dir, "DATABASE_URL="+run.database)
		if code := p.Stop(syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d", code)
		}
		subdirectories(run.want)
	}
}

// TestFilesShared starts a service whose instances share a directory, and then one that has not mounted the directory.
func TestFilesShared(t *testing.T) {
	t.Parallel()
	database := mongotest.New(t).String()
	shared := "FILES_URL=file:" + t.TempDir()
	settings := []string{"DATABASE_URL=" + database, "FILES_SHARED=true"}
	for range 2 {
		p := start(t, t.TempDir(), append(settings, shared)...)
		if code := p.Stop(syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	code, _, stderr := does(t, t.TempDir(), append(settings, "FILES_URL=file:"+t.TempDir()))
	if code != exitSettings || !strings.Contains(stderr, "FILES_URL: ") || !strings.Contains(stderr, "mount") {
		t.Errorf("another directory: exit code %d: %s", code, stderr)
	}
}
