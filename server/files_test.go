package server

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/testdb"
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

// TestFilesBucket starts services whose bucket rejects requests or is unreachable.
func TestFilesBucket(t *testing.T) {
	t.Parallel()
	bucket := func(endpoint string) []string {
		return []string{"FILES_URL=s3://photos?region=auto&path-style=true&endpoint=" + endpoint, "S3_ACCESS_KEY_ID=id", "S3_SECRET_ACCESS_KEY=secret"}
	}
	rejects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>InvalidAccessKeyId</Code></Error>")
	}))
	defer rejects.Close()
	code, _, stderr := does(t, t.TempDir(), bucket(rejects.URL))
	if code != exitSettings || !strings.Contains(stderr, "FILES_URL: ") || !strings.Contains(stderr, "correct S3_ACCESS_KEY_ID") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	p := start(t, t.TempDir(), bucket(gone.URL)...)
	if code := p.Stop(syscall.SIGTERM); code != 0 || !strings.Contains(p.Log(), "the bucket of files is unreachable") {
		t.Errorf("exit code %d: %s", code, p.Log())
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

// TestFilesCheck runs the command beside a service, whose directory has a file that no record refers to.
func TestFilesCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	subdirectories, err := filepath.Glob(filepath.Join(dir, "data", "files", "*"))
	if err != nil || len(subdirectories) != 1 {
		t.Fatal(subdirectories, err)
	}
	of := store.NewID()
	binary.BigEndian.PutUint32(of[:], uint32(time.Now().Add(-time.Hour).Unix())) // older than the snapshot
	id := of.Hex()
	file := filepath.Join(subdirectories[0], id[22:], id)
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   []string
		code   int
		stdout string
		left   bool
	}{
		{[]string{"files"}, exitUsage, "", true},
		{[]string{"files", "chekc"}, exitUsage, "", true},
		{[]string{"files", "check", "-h"}, exitOK, "Usage: ginseng files check [--delete]", true},
		{[]string{"files", "check"}, exitOK, "unreferenced " + id + "\n1 files are stored, 0 are missing, 1 are unreferenced\n", true},
		{[]string{"files", "check", "--delete"}, exitOK, "unreferenced " + id + ", deleted\n", false},
		{[]string{"files", "check"}, exitOK, "0 files are stored, 0 are missing, 0 are unreferenced\n", false},
	} {
		code, stdout, stderr := does(t, dir, nil, test.args...)
		_, err := os.Stat(file)
		if code != test.code || !strings.HasPrefix(stdout, test.stdout) || (err == nil) != test.left {
			t.Errorf("%v: exit code %d, %q, %s, the file: %v", test.args, code, stdout, stderr, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "data", ".check-*")); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestFilesCheckChangesNothing runs the command with databases and directories that no service has used, and without the directory of a
// service.
func TestFilesCheckChangesNothing(t *testing.T) {
	t.Parallel()
	address := mongotest.New(t)
	unmounted, empty := filepath.Join(t.TempDir(), "unmounted"), t.TempDir()
	settings := []string{"DATABASE_URL=" + address.String(), "FILES_SHARED=true"}
	fails := func(name, dir, reason string) {
		t.Helper()
		code, _, stderr := does(t, t.TempDir(), append(settings, "FILES_URL=file:"+dir), "files", "check", "--delete")
		if code != exitSettings || !strings.Contains(stderr, "FILES_URL: ") || !strings.Contains(stderr, reason) {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
	}
	fails("a directory that does not exist", unmounted, "no such file")
	fails("a database that no service has used", empty, "start the service once")
	db, err := engines.Open(t.Context(), address.String())
	if err != nil {
		t.Fatal(err)
	}
	names, err := db.Names(t.Context())
	if err := errors.Join(err, db.Close()); err != nil || len(names) != 0 {
		t.Errorf("the command has created %v, %v", names, err)
	}
	p := start(t, t.TempDir(), append(settings, "FILES_URL=file:"+t.TempDir())...)
	fails("another directory", empty, "mount")
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(unmounted); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was created: %v", err)
	}
	if entries, err := os.ReadDir(empty); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v, want an empty directory", entries, err)
	}
}

// TestFilesMissing checks that the command fails if a file is missing.
func TestFilesMissing(t *testing.T) {
	t.Parallel()
	local, err := files.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	db := testdb.Open(t)
	f := files.New(files.Options{DB: db, Store: local, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	record, file := store.NewID(), store.NewID()
	f.Register("articles", func(context.Context, store.Query) ([]files.Record, error) {
		return []files.Record{{ID: record, Files: []files.File{{ID: file}}}}, nil
	})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var stdout strings.Builder
	err = checkFiles(t.Context(), f, time.Time{}, true, &stdout)
	want := "missing " + file.Hex() + " of articles " + record.Hex() + "\n0 files are stored, 1 are missing, 0 are unreferenced\n"
	if err == nil || stdout.String() != want {
		t.Errorf("%v, %q, want %q", err, stdout.String(), want)
	}
}
