package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"

	"example.com/ginseng/scripts/internal/files"
)

var matrix = flag.Bool("matrix", false, "make, build and test a project for every set of components and providers")

// sets returns the valid sets of components.
func sets() (out [][]string) {
	for bits := range 1 << len(components) {
		var set []string
		for i, c := range components {
			if bits>>i&1 == 1 {
				set = append(set, c.name)
			}
		}
		if _, missing := withNeeds(set); missing == nil {
			out = append(out, set)
		}
	}
	return out
}

// choices returns the answers of all projects: each valid set of components and, with social, each set of providers.
func choices() (out []answers) {
	for _, set := range sets() {
		if !slices.Contains(set, "social") {
			out = append(out, answers{Components: set})
			continue
		}
		for _, name := range providers {
			out = append(out, answers{Components: set, Providers: []string{name}})
		}
		out = append(out, answers{Components: set, Providers: providers})
	}
	return out
}

func (a answers) String() string {
	return strings.TrimSuffix(strings.Join(append([]string{"with"}, a.Components...), "+")+"/"+strings.Join(a.Providers, "+"), "/")
}

// TestMatrix makes projects of the real template. Each has generated documents that are up to date, builds, and passes go
// vet and its own tests.
func TestMatrix(t *testing.T) {
	if all := choices(); len(sets()) != 8194 || len(all) != 32770 {
		t.Fatalf("%d sets of components, %d projects", len(sets()), len(all))
	}
	if testing.Short() {
		t.Skip("compiles the runtime again; make test-all runs it")
	}
	sample := []string{"with", "with+article", "with+user+social/google"}
	t.Chdir(root)
	dir := filepath.Join(t.TempDir(), "shop") // the same for all, because the build cache depends on it
	for _, a := range choices() {
		if !*matrix && !slices.Contains(sample, a.String()) {
			continue
		}
		t.Run(a.String(), func(t *testing.T) {
			begun := time.Now()
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			args := []string{"shop", "--dir", dir, "--with", strings.Join(a.Components, ",")}
			if len(a.Components) == 0 {
				args[4] = none
			}
			if a.Providers != nil {
				args = append(args, "--providers", strings.Join(a.Providers, ","))
			}
			must(t, args...)
			made := time.Since(begun)
			own := filesOf(t, dir)
			count, lines := 0, 0
			for name, data := range own {
				for _, provider := range providers {
					if name == ".env.example" && a.Providers != nil && !slices.Contains(a.Providers, provider) && strings.Contains(string(data), strings.ToUpper(provider)+"_CLIENT_ID") {
						t.Errorf("%s has the provider %s", name, provider)
					}
				}
				if !strings.HasPrefix(name, "third_party/") {
					count++
					if strings.HasSuffix(name, ".go") {
						lines += bytes.Count(data, []byte("\n"))
					}
				}
			}
			shell(t, dir, "go", "vet", "./...")
			shell(t, dir, "go", "test", "-vet=off", "./...")
			shell(t, dir, "go", "tool", "docs", "-check")
			t.Logf("%d files, %d lines of Go; made in %.1f s, tested in %.1f s", count, lines, made.Seconds(), time.Since(begun).Seconds()-made.Seconds())
			same(t, "go test and docs", filesOf(t, dir), own)
		})
	}
}

// TestPrivateFiles checks that git add takes no secrets and no data, in Ginseng and in a project.
func TestPrivateFiles(t *testing.T) {
	private := []string{".env", "production.env", "data/shop.db", "data/shop.db-wal", "backups/today.db", "shop.db"}
	for name, source := range map[string]string{"Ginseng": ".gitignore", "a project": projectDir + "/dot-gitignore"} {
		ignore, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			t.Fatal(err)
		}
		tree := files.Tree{".gitignore": ignore, "main.go": nil}
		for _, file := range private {
			tree[file] = nil
		}
		dir := t.TempDir()
		write(t, dir, tree)
		shell(t, dir, "git", "init", "--quiet")
		shell(t, dir, "git", "add", "--all")
		if got := strings.Fields(shell(t, dir, "git", "ls-files")); !slices.Equal(got, []string{".gitignore", "main.go"}) {
			t.Errorf("%s: git adds %q", name, got)
		}
	}
}

// TestProjectFiles checks the files of a project with all components.
func TestProjectFiles(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "scripts/tools/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := modfile.Parse("go.mod", raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range pinned.Require {
		if version, ok := toolVersions[r.Mod.Path]; ok && version != r.Mod.Version {
			t.Errorf("projects get %s %s, and scripts/tools has %s", r.Mod.Path, version, r.Mod.Version)
		}
	}
	s, err := readSource(t.Context(), root, runtime{})
	if err != nil {
		t.Fatal(err)
	}
	for name := range s.files {
		if strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "modules/") && !strings.HasPrefix(name, "config/") &&
			!strings.HasPrefix(name, "docs/examples/") {
			t.Errorf("the runtime has %s", name)
		}
	}
	project, err := s.render(answers{Name: "web-shop", Module: "example.com/shop", Components: names(), Providers: providers})
	if err != nil {
		t.Fatal(err)
	}
	if readme := string(project["README.md"]); !strings.Contains(readme, "\nJWT_SECRET=") {
		t.Errorf("production.env in README.md lacks a required setting:\n%s", readme)
	}
	for name, data := range project {
		if text := string(data); strings.Contains(text, "[[") && filepath.Ext(name) != ".go" {
			t.Errorf("%s has a placeholder", name)
		} else if strings.HasSuffix(name, ".go") && strings.Contains(text, `"example.com/ginseng/modules`) {
			t.Errorf("%s imports Ginseng's modules", name)
		}
	}
	for name := range s.files {
		if strings.HasPrefix(name, "modules/") && strings.Count(name, "/") > 1 && project[name] == nil {
			t.Error(fmt.Errorf("the project with everything lacks %s", name))
		}
	}
}
