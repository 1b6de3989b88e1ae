package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestTable holds the table to the source as it is today, which takes no time; that the attacks succeed without their
// defences, the command itself shows.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, a := range attacks() {
		if a.name == "" || a.defence == "" || a.says == "" || seen[a.name] {
			t.Errorf("%q: the row is not whole, or there are two of this name", a.name)
		}
		seen[a.name] = true
		files, err := a.mutated(func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(root, file)) })
		if err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
		for file, source := range files {
			if was, err := os.ReadFile(filepath.Join(root, file)); err != nil || string(was) == source {
				t.Errorf("%s: %s is not changed", a.name, file)
			}
		}
		if function, _, _ := strings.Cut(a.test, "/"); !hasTest(t, a.pkg, function) {
			t.Errorf("%s: %s has no %s", a.name, a.pkg, function)
		}
	}
}

func hasTest(t *testing.T, pkg, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+function+"(t *testing.T) {\n") {
			return true
		}
	}
	return false
}

func TestMutated(t *testing.T) {
	t.Parallel()
	read := func(file string) ([]byte, error) {
		if file == "a.go" {
			return []byte("one two two"), nil
		}
		return nil, fs.ErrNotExist
	}
	for _, test := range []struct {
		edits []edit
		want  string // of a.go; "" is an error
	}{
		{[]edit{{"a.go", "one", "1"}}, "1 two two"},
		{[]edit{{"a.go", "one two", "1"}, {"a.go", "two", "2"}}, "1 2"},
		{[]edit{{"a.go", "two", "2"}}, ""},
		{[]edit{{"a.go", "three", "3"}}, ""},
		{[]edit{{"a.go", "one", "1"}, {"a.go", "one", "1"}}, ""},
		{[]edit{{"b.go", "one", "1"}}, ""},
		{nil, ""},
	} {
		files, err := attack{edits: test.edits}.mutated(read)
		if files["a.go"] != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%v: %q, %v", test.edits, files, err)
		}
	}
	if _, err := (attack{edits: []edit{{"b.go", "x", "y"}}}).mutated(read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]string{
		"TestX": "^TestX$", "TestX/a b (c)/d": `^TestX$/^a_b_\(c\)$/^d$`,
	} {
		if got := (attack{test: test}).filter(); got != want {
			t.Errorf("%s: %s, want %s", test, got, want)
		}
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	out := "=== RUN   TestX\n    x_test.go:1: one\n    testkit.go:22: two " + strings.Repeat("ä", 200) + "\n--- FAIL: TestX (0.00s)\n"
	for holds, want := range map[string]string{"": "one", "three": "one", "two": "two " + strings.Repeat("ä", 156) + "…"} {
		if got := message(out, holds); got != want {
			t.Errorf("%q: %s", holds, got)
		}
	}
}
