package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/files"
)

// inService changes to an empty directory with an API document.
func inService(t *testing.T, document []byte) {
	t.Helper()
	t.Chdir(t.TempDir())
	if document == nil {
		return
	}
	if err := (files.Tree{documentFile: document}).Write("."); err != nil {
		t.Fatal(err)
	}
}

// TestRun checks a client that does not exist, writes it, and checks it before and after a change.
func TestRun(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", documentFile))
	if err != nil {
		t.Fatal(err)
	}
	inService(t, document)
	out := filepath.Join("clients", "typescript")
	names := []string{"README.md", "index.d.ts", "index.js", "package.json", "schema.d.ts"}
	checked := func(stale ...string) {
		t.Helper()
		err := run([]string{"--out", out, "--check"}, io.Discard)
		if len(stale) == 0 {
			if err != nil {
				t.Error(err)
			}
			return
		}
		for _, name := range names {
			if err == nil || slices.Contains(stale, name) != strings.Contains(err.Error(), filepath.Join(out, name)) {
				t.Errorf("stale: %v; the error is %v", stale, err)
			}
		}
	}
	checked(names...)
	if _, err := os.Stat("clients"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("--check has written files: %v", err)
	}
	if err := run([]string{"--out", out}, io.Discard); err != nil {
		t.Fatal(err)
	}
	checked()
	first, err := files.Read(out, func(string) bool { return true })
	if err != nil || !slices.Equal(slices.Sorted(maps.Keys(first)), names) {
		t.Fatalf("%v: %v", slices.Sorted(maps.Keys(first)), err)
	}
	for range 3 { // maps have another order each time
		again, err := read()
		if err != nil || !maps.EqualFunc(first, again, bytes.Equal) {
			t.Errorf("another run results in other bytes: %v", err)
		}
	}
	if err := (files.Tree{"index.js": []byte("edited"), "own.js": nil}).Write(out); err != nil {
		t.Fatal(err)
	}
	checked("index.js")
}

func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		document string
		args     []string
		want     string
		usage    bool
	}{
		{`{}`, nil, "--out is missing", true},
		{`{}`, []string{"--check"}, "--out is missing", true},
		{`{}`, []string{"--out", "x", "y"}, `"y": the command has no arguments`, true},
		{`{}`, []string{"--ouT", "x"}, "--out", true},
		{"", []string{"--out", "x"}, "there is no docs/openapi.json", false},
		{`{"paths": 1}`, []string{"--out", "x"}, "docs/openapi.json: json", false},
		{`{"tags": [{"x-resource": {"name": "batch", "path": "/batch"}}]}`, []string{"--out", "x"}, "batch has the name of a method", false},
		{`{"tags": [{"x-resource": {"name": "boxes"}}, {"x-resource": {"name": "list", "parent": "boxes"}}]}`, []string{"--out", "x"}, "list has the name of a method", false},
		{`{"tags": [{"x-resource": {"name": "a-1"}}, {"x-resource": {"name": "a1"}}]}`, []string{"--out", "x"}, "a-1 and a1 have the same name", false},
		{`{"tags": [{"x-resource": {"name": "boxes", "record": "a-1"}}, {"x-resource": {"name": "bags", "record": "a1"}}]}`, []string{"--out", "x"},
			"bags and boxes have records with the same name", false},
		{`{"tags": [{"x-resource": {"name": "boxes", "path": "/boxes"}}], "paths": {"/boxes": {"get": {"responses": {"200":
			{"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Box"}}}}}}}}}}`,
			[]string{"--out", "x"}, "GET /boxes returns no page", false},
		{`{"tags": [{"x-resource": {"name": "boxes", "path": "/boxes"}}], "paths": {"/boxes": {"post": {"requestBody": {"content": {"text/csv": {}}}}}}}`,
			[]string{"--out", "x"}, "POST /boxes has no body in JSON", false},
		{`{"tags": [{"x-resource": {"name": "boxes", "path": "/boxes"}}], "paths": {"/boxes/{id}": {"patch": {"requestBody": {"content": {"text/csv": {}}}}}}}`,
			[]string{"--out", "x"}, "PATCH /boxes/{id} has no body in JSON", false},
	} {
		var document []byte
		if test.document != "" {
			document = []byte(test.document)
		}
		inService(t, document)
		err := run(test.args, io.Discard)
		var wrong command.Mistakes
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.As(err, &wrong) != test.usage {
			t.Errorf("%s %q: %v", test.document, test.args, err)
		}
		if _, err := os.Stat("x"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q has written files", test.args)
		}
	}
}

// TestPackage: npm requires a semantic version and a name in lower case.
func TestPackage(t *testing.T) {
	for version, want := range map[string]string{"1": "1.0.0", "1.2": "1.2.0", "2.10.3-rc.1": "2.10.3", "01.0": "1.0.0", "v2": "0.0.0", "": "0.0.0"} {
		var d document
		d.Info.Title, d.Info.Version = "Web\n Shop", version
		got, err := d.files()
		if err != nil || !strings.Contains(string(got["package.json"]), `"name": "web-shop-client",`+"\n  "+`"version": "`+want+`"`) {
			t.Errorf("version %q: %v\n%s", version, err, got["package.json"])
		}
		if strings.Contains(string(got["index.js"]), "Web\n") {
			t.Error("a line break of the title ends the comment")
		}
		if !strings.Contains(string(got["index.js"]), "const sessions = false") || strings.Contains(string(got["README.md"]), "session") {
			t.Error("a service without users has sessions")
		}
	}
}
