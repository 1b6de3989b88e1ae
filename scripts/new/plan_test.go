package main

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// here is the template as it is in this repository.
var here = sync.OnceValues(func() (template, error) {
	files, err := readTree(context.Background(), "../..")
	return template{files: files, version: "test"}, err
})

func theTemplate(t *testing.T) template {
	t.Helper()
	tpl, err := here()
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// except are the files of a project with everything that are not this repository's.
var except = []string{"README.md", "LICENSE", "CHANGELOG.md", ".env", recordName}

// TestEverything makes a project with everything, of the same name and module path: it is this repository, but for what is
// named, scripts/new and what runs it.
func TestEverything(t *testing.T) {
	t.Parallel()
	tpl := theTemplate(t)
	a := answers{tpl.own(), tpl.files.module(), names(), providers}
	project, pruned, err := tpl.plan(t.Context(), t.TempDir(), a)
	if err != nil || pruned != nil {
		t.Fatal(err, pruned)
	}
	want := maps.Clone(tpl.files)
	for name := range want {
		if isOwn(name) {
			delete(want, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(project)) {
		if slices.Contains(except, name) {
			continue
		}
		got := string(project[name].text)
		if runs := name == "Makefile" || strings.HasPrefix(name, ".ci/"); runs {
			if lost := lost(string(want[name].text), got); lost != nil {
				t.Errorf("%s loses %q, which does not run scripts/new", name, lost)
			}
		} else if got != string(want[name].text) {
			t.Errorf("%s differs", name)
		}
		if project[name].mode != want[name].mode {
			t.Errorf("%s: mode %o", name, project[name].mode)
		}
	}
	for name := range want {
		if _, ok := project[name]; !ok && !slices.Contains(except, name) {
			t.Errorf("%s is not there", name)
		}
	}
}

// lost are the lines that are gone from a text, and do not name scripts/new or what does.
func lost(before, after string) (out []string) {
	have := map[string]int{}
	for line := range strings.Lines(after) {
		have[line]++
	}
	for line := range strings.Lines(before) {
		if have[line]--; have[line] < 0 && !strings.Contains(line, "scripts/new") && !strings.HasPrefix(line, "project:") && !strings.HasPrefix(line, ".PHONY:") && line != "\n" {
			out = append(out, line)
		}
	}
	return out
}

// TestRename gives the project's name and module path to all that bears the template's, and leaves the example's texts.
func TestRename(t *testing.T) {
	t.Parallel()
	tpl := theTemplate(t)
	project := rename(tpl.files, tpl.files.module(), "github.com/you/web-shop", tpl.own(), "web-shop")
	for name, e := range project {
		if !textual(e.text) || isOwn(name) {
			continue
		}
		for i, line := range strings.Split(string(e.text), "\n") {
			if strings.Contains(line, tpl.files.module()) {
				t.Errorf("%s:%d: %s", name, i+1, line)
			}
		}
		if path.Ext(name) == ".go" && !strings.Contains(name, "/testdata/") {
			if text, err := formatted(e.text); err != nil || string(text) != string(e.text) {
				t.Errorf("%s is not formatted: %v", name, err)
			}
		}
	}
	for name, texts := range map[string][]string{
		"go.mod":                    {"module github.com/you/web-shop\n"},
		"main.go":                   {`"github.com/you/web-shop/config"`, "Usage: web-shop ["},
		"Makefile":                  {"-o web-shop ."},
		"Dockerfile":                {`ENTRYPOINT ["web-shop"]`},
		".gitignore":                {"/web-shop\n"},
		"config/app.go":             {"sqlite:data/web-shop.db"},
		"modules/article/module.go": {"go run github.com/you/web-shop/scripts/generate article"},
		"docs/listings.md":          {"The root of ginseng"},
	} {
		for _, text := range texts {
			if !strings.Contains(string(project[name].text), text) {
				t.Errorf("%s has no %q", name, text)
			}
		}
	}
	for from, to := range map[string]string{
		"ginseng":               "web-shop",
		"Ginseng GINSENG_TEST":  "Web-shop WEB_SHOP_TEST",
		"example.com/ginseng/x": "github.com/you/web-shop/x",
		"example.com/ginsengs":  "example.com/ginsengs",
		"On ginseng, q=ginseng": "On ginseng, q=ginseng",
		"ginsengs":              "ginsengs",
	} {
		got := rename(tree{"x": {text: []byte(from)}}, "example.com/ginseng", "github.com/you/web-shop", "ginseng", "web-shop")
		if string(got["x"].text) != to {
			t.Errorf("%q becomes %q, want %q", from, got["x"].text, to)
		}
	}
}

// TestRooms holds the table to the tree: nothing in it that is not there, and no file of a module's that no component has.
func TestRooms(t *testing.T) {
	t.Parallel()
	tpl := theTemplate(t)
	for _, r := range rooms {
		if slices.Contains(r.needs, never) {
			continue
		}
		file, section, isSection := strings.Cut(r.path, "#")
		if _, isFile := tpl.files[file]; !isFile && !tpl.files.hasFolder(file) {
			t.Errorf("%s is not there", r.path)
			continue
		}
		if isSection && !slices.ContainsFunc(strings.Split(string(tpl.files[file].text), "\n"), func(line string) bool {
			m := heading.FindStringSubmatch(line)
			return m != nil && anchor(m[2]) == section
		}) {
			t.Errorf("%s has no section %s", file, section)
		}
	}
	for name := range tpl.files {
		if parts := strings.Split(name, "/"); parts[0] == "modules" && len(parts) > 2 {
			folder := "modules/" + parts[1]
			if !slices.ContainsFunc(rooms, func(r room) bool { return r.path == folder }) {
				t.Errorf("no component has %s", folder)
			}
		}
	}
}

// TestSecrets makes a value for each setting without a default, another each time.
func TestSecrets(t *testing.T) {
	t.Parallel()
	example := []byte("# One\n#AA=1\nBB=change-me\n\nC_KEY=x\n")
	one, two := string(secrets(example).text), string(secrets(example).text)
	if one == two || strings.Contains(one, "AA=") || strings.Contains(one, "change-me") || len(settingLine.FindAllString(one, -1)) != 2 {
		t.Errorf("%s\n%s", one, two)
	}
	if mode := secrets(example).mode; mode != 0o600 {
		t.Errorf("mode %o", mode)
	}
}

// TestReadTree reads the same with git and without.
func TestReadTree(t *testing.T) {
	t.Parallel()
	tpl := theTemplate(t)
	dir := t.TempDir()
	if err := writeTree(dir, tpl.files); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".env": "x", "data/x.db": "x", "tmp/x": "x", tpl.own(): "x", "scripts/browser/node_modules/x/x.js": "x", "production.env": "x"} {
		if err := writeFile(dir+"/"+name, entry{[]byte(text), 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := walkFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if want := slices.Sorted(maps.Keys(tpl.files)); !slices.Equal(names, want) {
		t.Errorf("%d files, want %d", len(names), len(want))
		for _, name := range names {
			if _, ok := tpl.files[name]; !ok {
				t.Errorf("%s is none of it", name)
			}
		}
	}
}
