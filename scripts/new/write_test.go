package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := writeFile(name, entry{[]byte(text), 0o644}); err != nil {
		t.Fatal(err)
	}
}

// TestTargets refuses folders that cannot be the project's, and says what is worth knowing about others.
func TestTargets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	write(t, filepath.Join(dir, "full", "a"), "x")
	write(t, filepath.Join(dir, "full", "b"), "x")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"file":     "--dir %s is a file; name a folder that is empty, or not there yet",
		"file/x":   "--dir %s: " + filepath.Join(dir, "file") + " is a file",
		"full":     "--dir %s is not empty (a and 1 more); name a folder that is empty, or not there yet",
		"empty":    "",
		"new":      "",
		"new/deep": "",
	} {
		full := filepath.Join(dir, name)
		target, _, err := checkTarget(t.Context(), full)
		if want == "" && (err != nil || target != full) || want != "" && (err == nil || err.Error() != fmt.Sprintf(want, full)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := git(t.Context(), dir, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.work"), "go 1.26\n")
	_, notes, err := checkTarget(t.Context(), filepath.Join(dir, "new"))
	if err != nil || len(notes) != 2 || !strings.Contains(notes[0], "inside of another git repository") || !strings.Contains(notes[1], "go work use") {
		t.Errorf("%q, %v", notes, err)
	}
}

// TestStage takes away what a killed run left, waits for none that runs, and leaves nothing.
func TestStage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "a", "shop")
	left, err := newStage(target)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(left.files(), "half"), "x")
	if _, err := newStage(target); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("two runs at once: %v", err)
	}
	write(t, filepath.Join(left.dir, pidName), "2147483646") // is no process: Linux has none beyond 2^22
	s, err := newStage(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.files(), "half")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left is there: %v", err)
	}
	write(t, filepath.Join(s.files(), "go.mod"), "module x\n")
	if _, err := os.Stat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the project is there before it is whole: %v", err)
	}
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(target)); len(entries) != 1 || entries[0].Name() != "shop" {
		t.Errorf("there are %v", entries)
	}
	if text, _ := os.ReadFile(filepath.Join(target, "go.mod")); string(text) != "module x\n" {
		t.Errorf("%q", text)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err = newStage(empty)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.files(), "go.mod"), "module x\n")
	if err := s.commit(); err != nil {
		t.Errorf("in place of an empty folder: %v", err)
	}
}

// TestReadOnly refuses a folder that cannot be written, and leaves it as it was.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := newStage(filepath.Join(dir, "shop")); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("%v", err)
	}
}

// TestCreateRefuses has the messages of a whole run.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shop"), "x")
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"shop", "--dir", filepath.Join(dir, "shop")}, strings.NewReader(""), &out, &errs)
	if code != exitUsage || !strings.Contains(errs.String(), "is a file") || out.Len() > 0 {
		t.Errorf("%d %s%s", code, &out, &errs)
	}
	errs.Reset()
	for _, verb := range []string{"upgrade", "add policy"} {
		code = run(t.Context(), append(strings.Fields(verb), "--dir", dir), strings.NewReader(""), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), "there is no .ginseng.json") {
			t.Errorf("%s: %d %s", verb, code, &errs)
		}
	}
}
