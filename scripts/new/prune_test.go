package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// archive reads files that stand in one text, each below a line "-- name --".
func archive(text string) tree {
	t := tree{}
	name := ""
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "-- "); ok {
			name, _, _ = strings.Cut(rest, " --")
			continue
		}
		e := t[name]
		t[name] = entry{append(e.text, line...), 0o644}
	}
	delete(t, "")
	return t
}

// without prunes the code of a tree that loses a folder.
func without(t *testing.T, files tree, folder string) (tree, error) {
	t.Helper()
	files["go.mod"], files["go.sum"] = entry{[]byte("module example.com/x\n\ngo 1.26\n"), 0o644}, entry{mode: 0o644}
	kept := maps.Clone(files)
	maps.DeleteFunc(kept, func(name string, _ entry) bool { return strings.HasPrefix(name, folder+"/") })
	g := newGone()
	g.note(files, kept)
	tpl := template{files: files}
	_, err := tpl.prune(t.TempDir(), kept, g)
	return kept, err
}

// cases are in testdata, one to a file: a comment that says what it shows, the files before, and below "== want" those
// that are changed when the folder modules/gone is left out; one that is to go has no line.
func TestPrune(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/prune/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before, after, ok := strings.Cut(string(text), "== want\n")
			if !ok {
				t.Fatal("no == want")
			}
			files, want := archive(before), archive(after)
			got, err := without(t, files, "modules/gone")
			if message, refused := strings.CutPrefix(after, "error: "); refused {
				if err == nil || err.Error() != strings.TrimSpace(message) {
					t.Errorf("%v, want %s", err, message)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, e := range want {
				if string(got[name].text) != string(e.text) {
					t.Errorf("%s:\n%s\nwant:\n%s", name, got[name].text, e.text)
				}
				if len(e.text) == 0 {
					delete(want, name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(got)) {
				if _, changed := want[name]; !changed && string(got[name].text) != string(files[name].text) {
					t.Errorf("%s was to stay as it is:\n%s", name, got[name].text)
				}
			}
			for name := range files {
				_, changed := want[name]
				if _, there := got[name]; !there && changed {
					t.Errorf("%s is gone", name)
				}
			}
		})
	}
}

// TestPruneUnsound refuses a template that does not type-check: what is wrong with it is no dead reference.
func TestPruneUnsound(t *testing.T) {
	t.Parallel()
	_, err := without(t, archive("-- modules/gone/a.go --\npackage gone\n-- a.go --\npackage main\n\nfunc main() { nothing() }\n"), "modules/gone")
	if want := "the template itself does not build: a.go:3:15: undefined: nothing"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	g := newGone()
	g.routes = []string{"/articles", "/articles/:id", "/auth/:provider"}
	g.keptRoutes = []string{"/auth", "/auth/sessions", "/auth/sessions/:id", "/users/:id"}
	for text, want := range map[string]bool{
		"/articles": true, "/articles/": true, "/articles?q=x": true, "GET /articles": true, "/api/articles": true, "/articles/0123": true, "/articles/x/y": false,
		"/auth": false, "/auth/": true, "/auth/github": true, "/auth/{provider}": true, "/auth/sessions": false, "/auth/sessions/": false,
		"/users/": false, "/article": false, "articles": false, "": false, "/": false, "a /articles b": false,
	} {
		if g.route(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
