package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

// TestCopyFilesKilled kills copies of files and runs the command again. The target then has all files.
func TestCopyFilesKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	contents := map[string]string{} // by path
	for range 600 {
		id := store.NewID().Hex()
		contents[filepath.Join("6b0dd34f5fddf1ef7753d5b0", id[22:], id)] = rand.Text()
	}
	for path, content := range contents {
		path = filepath.Join(dir, "source", path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	copied := func() int {
		found, err := filepath.Glob(filepath.Join(dir, "target", "*", "??", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	args := []string{"copy", "--files-from", "file:source", "--files-to", "file:target"}
	for _, enough := range []int{1, 100} {
		cmd, stderr := newCommand(t, dir, "FILES_TMP="+t.TempDir())
		cmd.Args = append(cmd.Args, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for copied() < enough {
			continue
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if _ = cmd.Wait(); cmd.ProcessState.Exited() {
			t.Errorf("the copy ended before it was killed: %s", stderr)
		}
	}
	there := copied()
	want := fmt.Sprintf("%d files were copied, %d were there already\n", len(contents)-there, there)
	if code, stdout, stderr := does(t, dir, nil, args...); code != exitOK || stdout != want {
		t.Errorf("exit code %d: %s%s, want %s", code, stdout, stderr, want)
	}
	for path, content := range contents {
		if got, err := os.ReadFile(filepath.Join(dir, "target", path)); err != nil || string(got) != content {
			t.Errorf("%s: %q, %v, want %s", path, got, err, content)
		}
	}
}

// TestCopyFilesDiffer copies a file of which the target has other bytes: which of both is damaged is unknown.
func TestCopyFilesDiffer(t *testing.T) {
	t.Parallel()
	dir, id := t.TempDir(), store.NewID().Hex()
	path := filepath.Join("6b0dd34f5fddf1ef7753d5b0", id[22:], id)
	for root, content := range map[string]string{"source": "cut", "target": "complete"} {
		path := filepath.Join(dir, root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := does(t, dir, nil, "copy", "--files-from", "file:source", "--files-to", "file:target")
	want := "differs " + id + ": 3 bytes in the source, 8 in the target\n0 files were copied, 0 were there already\n"
	if code != exitFailure || stdout != want || !strings.Contains(stderr, "delete the damaged one, and run the command again") {
		t.Errorf("exit code %d: %s%s, want %s", code, stdout, stderr, want)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "target", path)); err != nil || string(data) != "complete" {
		t.Errorf("the target has %q, %v", data, err)
	}
}

func TestFilesCommandLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"copy --files-from file:a", exitUsage, "--files-to is missing"},
		{"copy --files-to file:a", exitUsage, "--files-from is missing"},
		{"copy --files-from a --files-to file:b", exitUsage, "--files-from must be file:"},
		{"copy --files-from file:a --files-to file:b --to sqlite:b.db", exitUsage, "exclude other flags"},
		{"copy --files-from file:a --files-to s3://bucket", exitUsage, "--files-to must have a region"},
		{"copy --files-from file:a --files-to s3://bucket?region=auto", exitUsage, "S3_ACCESS_KEY_ID is needed"},
		{"copy --files-from file:a --files-to file:b", exitFailure, "open a: no such file"},
		{"copy --files-from file:. --files-to file:b", exitFailure, "file:. has no files of a service; name the directory"},
		{"copy --files-from= --files-to= --to sqlite:b.db", exitUsage, "exclude other flags"},
		{"copy --files-from= --files-to=", exitUsage, "--files-from is missing"},
		{"backup b.db --files=", exitUsage, "--files needs a directory"},
		{"backup - --files b", exitUsage, "FILE must be the name of a file"},
		{"backup b.db --files b", exitFailure, "does not exist"},
	} {
		dir := t.TempDir()
		code, stdout, stderr := does(t, dir, nil, strings.Fields(test.args)...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) {
			t.Errorf("%s: exit code %d: %s%s", test.args, code, stdout, stderr)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %v behind", test.args, left)
		}
	}
}
