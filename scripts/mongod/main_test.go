package main

import (
	"bytes"
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
	code := run(t.Context(), command, os.Stderr)
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

func TestWrongCommandLine(t *testing.T) {
	for _, args := range [][]string{{"--unknown", "x"}, {"--"}, nil} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, &stderr); code != 2 || !strings.Contains(stderr.String(), "usage:") {
			t.Errorf("run(%q) = %d, %q; want 2 and the usage", args, code, &stderr)
		}
	}
}
