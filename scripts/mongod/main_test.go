package main

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandRunsInCallersDirectory(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("PWD", dir)
	t.Setenv("TMPDIR", temporary)

	command := []string{"--", "sh", "-c", `printf %s "$TEST_MONGODB_URI" > uri; exit 3`}
	code := run(t.Context(), command, os.Stdout, os.Stderr)
	if code != 3 {
		t.Errorf("exit code %d, want the command's 3", code)
	}
	uri, err := os.ReadFile(filepath.Join(dir, "uri"))
	if err != nil {
		t.Fatal(err)
	}
	if u, err := url.Parse(string(uri)); err != nil || u.Scheme != "mongodb" || u.Port() == "0" || u.Path != "/" {
		t.Errorf("TEST_MONGODB_URI is %q, want mongodb://HOST:PORT/", uri)
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("the temporary directory was not deleted: %v", left)
	}
}

func TestServesUntilTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	data := filepath.Join(t.TempDir(), "made", "data")
	var stdout bytes.Buffer
	ready := writer(func(p []byte) (int, error) {
		defer cancel()
		return stdout.Write(p)
	})
	if code := run(ctx, []string{"--data", data}, ready, os.Stderr); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if got := stdout.String(); !strings.HasPrefix(got, "mongodb://127.0.0.1:") || !strings.HasSuffix(got, "/\n") {
		t.Errorf("printed %q, want one line with the URI", got)
	}
	if _, err := os.Stat(data); err != nil {
		t.Errorf("the data directory was deleted: %v", err)
	}
}

func TestWrongCommandLine(t *testing.T) {
	for _, args := range [][]string{{"--unknown"}, {"--listen"}} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, os.Stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "usage:") {
			t.Errorf("run(%q) = %d, %q; want 2 and the usage", args, code, &stderr)
		}
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
