package main

import (
	"bytes"
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "write modules/article from the templates")

const root = "../.."

// TestArticle compares modules/article with what the templates render from its declaration. The templates are the source:
// -update writes the module.
func TestArticle(t *testing.T) {
	t.Parallel()
	p, err := openProject(root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.generated("article")
	if err != nil {
		t.Fatal(err)
	}
	want := declareAll(t, "article", "title:string:required:search:sort", "content:text:search", "--changes")
	if !slices.Equal(r.Declaration(), want.Declaration()) {
		t.Errorf("modules/article/module.go declares %q", r.Declaration())
	}
	files, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.FromSlash("../../modules/article")
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
			t.Errorf("differs from the templates:\n%s", diff.Diff("modules/article/"+e.Name(), have, "template", files[e.Name()]))
		}
	}
	if len(entries) != len(files) {
		t.Errorf("modules/article has %d files, the templates have %d", len(entries), len(files))
	}
}

// TestNoParameters checks a resource whose fields no client sends: readonly is part of the document, and needs no check.
func TestNoParameters(t *testing.T) {
	t.Parallel()
	declared := []string{"pass", "code:string:required:unique=global:readonly", "--create", "server", "--own", "list,show"}
	for _, test := range []struct {
		flags []string
		model string
	}{
		{[]string{"--methods", "list,show"}, "// Fields are part of the document and the view. Only code of the service sets them.\ntype Fields struct {\n\tCode string"},
		{[]string{"--methods", "list,show,update", "--admin", "update", "name"}, "type ReadOnly struct {\n\tCode string"},
	} {
		r := declareAll(t, append(declared, test.flags...)...)
		files, err := r.render()
		if err != nil {
			t.Fatal(err)
		}
		model := string(files["model.go"])
		if !strings.Contains(model, test.model) || !strings.Contains(model, `readonly:"true"`) {
			t.Errorf("%s: %s", test.flags, model)
		}
		if note := r.uniqueNotes(r.Fields); note != "code is unique among all records.\n" { // no user sends a code, so that a conflict shows them nothing
			t.Errorf("%s: %q", test.flags, note)
		}
	}
}

// TestDescriptions checks where descriptions and defaults of a declaration appear.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	r := declareAll(t, "note", "room:string:required:unique:doc=The room, such as 2.14.", "duration:int:default=20:min=5:max=480", "text:string:search", "name:string:search:title=true", "--doc", "Notes of a day.")
	files, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"model.go":      {`doc:"The room, such as 2.14."` + "` // The room, such as 2.14; unique\n", `default:"20" example:"20"`, "\t\tTitle:  \"name\",\n"},
		"controller.go": {"//\t@Tags\t\t\tnotes\n//\t@x-tag\t\t\t\"Notes of a day.\"\n"},
		"module.go":     {"// Package note provides notes. Notes of a day.\n"},
	} {
		for _, want := range wants {
			if !strings.Contains(string(files[name]), want) || strings.Count(string(files[name]), "@x-tag") > 1 {
				t.Errorf("no %q in %s:\n%s", want, name, files[name])
			}
		}
	}
}

var importLine = regexp.MustCompile(`(?m)^(?:\t|import )(?:\w+ )?"([^"]+)"$`)

// TestImported compares imported with the templates.
func TestImported(t *testing.T) {
	t.Parallel()
	var want []string
	for _, name := range fileNames {
		for _, m := range importLine.FindAllStringSubmatch(read(t, "templates/"+name+".tmpl"), -1) {
			want = append(want, path.Base(m[1]))
		}
	}
	slices.Sort(want)
	want = slices.DeleteFunc(slices.Compact(want), func(name string) bool { return name == "{{.Name}}" || name == "user" }) // a resource named user has no roles
	if !slices.Equal(imported, want) {
		t.Errorf("imported = %q, want %q", imported, want)
	}
}

// TestCursorScope checks that the cursors of a list are bound to the parent, or to the caller of a list of own records.
func TestCursorScope(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"note", "a"}, "c.lister.Parse(rest.Query(g))"},
		{[]string{"note", "a", "--own", "list,show"}, "c.lister.Parse(rest.Query(g), rest.Caller(g).UserID)"},
		{[]string{"note", "a", "--under", "order"}, "c.lister.Parse(rest.Query(g), orderID)"},
	} {
		r := declareAll(t, test.args...)
		if r.Under != "" {
			r.Targets = []Target{{Resource: declareAll(t, r.Under, "a"), Parent: true}}
		}
		files, err := r.render()
		if err != nil {
			t.Fatal(err)
		}
		if got := files["controller.go"]; !bytes.Contains(got, []byte(test.want)) {
			t.Errorf("%q: no %s in\n%s", test.args, test.want, got)
		}
	}
}
