package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write modules/article from the templates")

const root = "../.."

// declareAll declares a resource as the command would, with the words as a shell splits them.
func declareAll(t testing.TB, words ...string) Resource {
	t.Helper()
	problems := newProblems()
	r := declare(parseCommand(words, problems), "example.com/ginseng", true, problems)
	if len(problems.lines) > 0 {
		t.Fatal(strings.Join(problems.lines, "\n"))
	}
	return r
}

// TestArticle renders the declaration of the article: byte for byte the module as it is. The template is the source of the
// module, never the other way round; -update writes it.
func TestArticle(t *testing.T) {
	t.Parallel()
	project, err := findTree(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := project.look(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.FromSlash("../../modules/article")
	text, err := os.ReadFile(filepath.Join(dir, "module.go"))
	if err != nil {
		t.Fatal(err)
	}
	problems := newProblems()
	r := declare(parseCommand(declared(string(text), project.module), problems), project.module, project.hasUser(), problems)
	if len(problems.lines) > 0 {
		t.Fatal(strings.Join(problems.lines, "\n"))
	}
	files, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		have, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, files[e.Name()]) {
			t.Errorf("modules/article/%s is not what the template gives:\n%s", e.Name(), change{e.Name(), have, files[e.Name()]}.diff())
		}
	}
	if len(entries) != len(files) {
		t.Errorf("modules/article has %d files, the template gives %d", len(entries), len(files))
	}
	module := string(files["module.go"])
	if args := declared(module, r.Module); strings.Join(args, " ") != strings.Join(r.Declaration(), " ") {
		t.Errorf("the go:generate line reads as %q", args)
	}
}
