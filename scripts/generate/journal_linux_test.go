package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadOnlyChild is the process of TestReadOnly. It is nobody's: no mode of a folder holds root back.
func TestReadOnlyChild(t *testing.T) {
	if os.Getenv(childDir) == "" {
		t.Skip("only for TestReadOnly")
	}
	const nobody = 65534
	if os.Getuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			t.Fatal(err)
		}
	}
	TestChild(t)
}

// TestReadOnly works in a project that cannot be written to: nothing changes, and the message says where.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := project(t)
	before := files(t, dir)
	modules := filepath.Join(dir, "modules")
	if err := os.Chmod(modules, 0o555); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(modules, 0o755) }() // so that it can be removed
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	code, printed := child(t, dir, 0, "note text", "TestReadOnlyChild")
	if code != exitFailed || !strings.Contains(printed, "nothing was changed") || !strings.Contains(printed, "permission denied") || !strings.Contains(printed, modules) {
		t.Errorf("%d %s", code, printed)
	}
	if !same(files(t, dir), before) {
		t.Error("something was written")
	}
}
