package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// template is a state of this repository, of which projects are made.
type template struct {
	files   tree
	version string // as git describe says it
	commit  string // "" where it is of no commit
}

// record is .ginseng.json: what a project was made of.
type record struct {
	Template recordedTemplate `json:"template"`
	answers
}

type recordedTemplate struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Digest  string `json:"digest"` // of all that projects are made of
}

const recordName = ".ginseng.json"

// own is the template's name, which stands where a project's stands.
func (t template) own() string { return path.Base(t.files.module()) }

// plan makes the project's files in memory, and tells which folders' code is not just the template's, with other names; nil
// where nothing is left out. dir is an empty folder for the go command to work in. What only the go command can make, finish
// makes.
func (t template) plan(ctx context.Context, dir string, a answers) (project tree, pruned []string, err error) {
	kept, g := leaveOut(t.files, a)
	if !a.has(user) {
		if err := t.withoutUsers(ctx, dir, kept); err != nil {
			return nil, nil, err
		}
	}
	withoutProviders(kept, a.Providers)
	if g.more() {
		if pruned, err = t.prune(dir, kept, g); err != nil {
			return nil, nil, err
		}
	}
	pruneTexts(kept, &g)
	project = rename(kept, t.files.module(), a.Module, t.own(), a.Name)
	if project["README.md"], err = readme(a, project); err != nil {
		return nil, nil, err
	}
	project[recordName], err = recorded(record{recordedTemplate{t.version, t.commit, t.digest()}, a})
	return project, pruned, err
}

func recorded(r record) (entry, error) {
	if r.Components == nil {
		r.Components = []string{}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	return entry{append(text, '\n'), 0o644}, err
}

// prune prunes the Go code of the tree, and returns the folders of which it changed something.
func (t template) prune(dir string, kept tree, g gone) (changed []string, err error) {
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := writeFile(filepath.Join(dir, name), t.files[name]); err != nil {
			return nil, err
		}
	}
	whole, err := parseCode(t.files, t.files.module())
	if err != nil {
		return nil, err
	}
	if err := whole.loadExports(dir); err != nil {
		return nil, err
	}
	if err := whole.sound(); err != nil {
		return nil, fmt.Errorf("the template itself does not build: %w", err)
	}
	c, err := parseCode(kept, t.files.module())
	if err != nil {
		return nil, err
	}
	c.exports = whole.exports
	c.importForeign()
	p := newPruner(c, whole, g)
	if err := p.prune(); err != nil {
		return nil, err
	}
	for name := range kept {
		if kept.isMainModule(name) {
			delete(kept, name)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(c.folders)) {
		for _, s := range c.folders[folder] {
			text := s.text
			if !bytes.Equal(text, t.files[s.name].text) && !slices.Contains(changed, folder) {
				changed = append(changed, folder)
			}
			if s.changed {
				if text, err = formatted(text); err != nil {
					return nil, fmt.Errorf("%s: %w", s.name, err)
				}
			}
			kept[s.name] = entry{text, 0o644}
		}
	}
	return changed, nil
}

// sound fails unless the code type-checks, tests included.
func (c *code) sound() error {
	units, err := c.units()
	if err != nil {
		return err
	}
	for _, u := range units {
		chk := c.check(u)
		if !u.tests {
			c.own[u.path] = chk.pkg
		}
		for _, f := range chk.faults {
			return fmt.Errorf("%s: %s", c.fset.Position(f.pos), f.text)
		}
	}
	return nil
}

// textual reports whether a file is text, in which names can be replaced.
func textual(text []byte) bool {
	return !bytes.Contains(text[:min(len(text), 8000)], []byte{0}) && utf8.Valid(text)
}

// rename puts the project's module path and name in the place of the template's. The name is also a word of the
// example's texts ("On ginseng"), where it stays.
func rename(t tree, oldModule, newModule, oldName, newName string) tree {
	if oldModule == newModule && oldName == newName {
		return t
	}
	modulePath := regexp.MustCompile(regexp.QuoteMeta(oldModule) + `\b`)
	name := regexp.MustCompile(`(On |of |q=|q: ')?\b(?:` + oldName + `\b|` + title(oldName) + `\b|` + upper(oldName) + `_)`)
	out := tree{}
	for file, e := range t {
		if textual(e.text) {
			var b bytes.Buffer
			rest := string(e.text)
			for rest != "" {
				piece, at := rest, []int{len(rest), len(rest)}
				if found := modulePath.FindStringIndex(rest); found != nil {
					piece, at = rest[:found[0]], found
				}
				if !strings.HasPrefix(file, "scripts/generate/") { // its samples are words
					piece = replaceName(name, piece, oldName, newName)
				}
				b.WriteString(piece)
				if at[0] < at[1] {
					b.WriteString(newModule)
				}
				rest = rest[at[1]:]
			}
			if changed := b.Bytes(); !bytes.Equal(changed, e.text) {
				e.text = changed
				if text, err := formatted(changed); path.Ext(file) == ".go" && err == nil { // columns may have moved
					e.text = text
				}
			}
		}
		out[file] = e
	}
	return out
}

func replaceName(pattern *regexp.Regexp, text, oldName, newName string) string {
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		switch found {
		case oldName:
			return newName
		case title(oldName):
			return title(newName)
		case upper(oldName) + "_":
			return upper(newName) + "_"
		}
		return found // a word of the example
	})
}

// title is a name as a title: "blog-api" is "Blog API"'s plain cousin "Blog-api".
func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func upper(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// finish makes what depends on the files that are written in dir: the requirements of go.mod, the API's documentation,
// .env.example with the table of settings, and the list of licences, each by the tool that the project itself has for it.
func finish(ctx context.Context, dir string, project tree) error {
	if _, err := command(ctx, dir, "go", "mod", "tidy"); err != nil {
		return err
	}
	var wait sync.WaitGroup
	var swagErr, envErr, supplyErr error
	wait.Go(func() { swagErr = document(ctx, dir, project) })
	wait.Go(func() { _, envErr = command(ctx, dir, "go", "run", "-buildvcs=false", "./scripts/envexample") })
	if project.hasFolder("scripts/supply") {
		wait.Go(func() {
			_, supplyErr = command(ctx, dir, "go", "-C", "scripts/supply", "run", "-buildvcs=false", ".", "licences")
		})
	}
	wait.Wait()
	return errors.Join(swagErr, envErr, supplyErr)
}

// document lays the annotations out and makes the documentation of them, as the Makefile says.
func document(ctx context.Context, dir string, project tree) error {
	for _, line := range []*regexp.Regexp{
		regexp.MustCompile(`(?m)^\t\$\(TOOL\) (swag fmt .*)$`), regexp.MustCompile(`(?m)^SWAG := \$\(TOOL\) (swag init .*)$`),
	} {
		m := line.FindSubmatch(project["Makefile"].text)
		if m == nil {
			return fmt.Errorf("the Makefile has no line %s, which says how the documentation is made", line)
		}
		args := append([]string{"tool", "-modfile=scripts/tools/go.mod"}, strings.Fields(string(m[1]))...)
		if strings.HasPrefix(string(m[1]), "swag init") {
			args = append(args, "--output", "docs")
		}
		if _, err := command(ctx, dir, "go", args...); err != nil {
			return err
		}
	}
	_, err := command(ctx, dir, "go", "-C", "scripts/openapi", "run", "-buildvcs=false", ".", "../../docs")
	return err
}

// check fails unless the project in dir is formatted, type-checks with its tests, and builds; or, where something was taken
// out, unless the code of which it was passes vet: the rest is as it is in the template, which does.
func check(ctx context.Context, dir string, project tree, pruned []string) error {
	for _, name := range slices.Sorted(maps.Keys(project)) {
		if path.Ext(name) != ".go" || strings.Contains(name, "/testdata/") {
			continue
		}
		text, err := formatted(project[name].text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !bytes.Equal(text, project[name].text) {
			return fmt.Errorf("%s is not formatted as gofmt does", name)
		}
	}
	c, err := parseCode(project, project.module())
	if err != nil {
		return err
	}
	if err := c.loadExports(dir); err != nil {
		return err
	}
	if err := c.sound(); err != nil {
		return err
	}
	if pruned == nil {
		_, err := command(ctx, dir, "go", "build", "-buildvcs=false", "./...")
		return err
	}
	args := []string{"vet"} // for which it compiles what they import
	for _, folder := range pruned {
		args = append(args, "./"+folder)
	}
	_, err = command(ctx, dir, "go", args...)
	return err
}

// secrets is a .env with a fresh value for each setting that .env.example does not leave to its default.
func secrets(example []byte) entry {
	var b strings.Builder
	b.WriteString("# Fresh secrets, of this project alone. .env.example lists every setting.\n")
	for _, m := range regexp.MustCompile(`(?m)^([A-Z][A-Z0-9_]*)=`).FindAllSubmatch(example, -1) {
		raw := make([]byte, 32) // as RFC 7518 section 3.2 asks of an HS256 key
		rand.Read(raw)          // never fails: crypto/rand
		fmt.Fprintf(&b, "%s=%s\n", m[1], base64.RawURLEncoding.EncodeToString(raw))
	}
	return entry{[]byte(b.String()), 0o600}
}

// identifiers counts the names in a file.
func identifiers(f *ast.File, into map[string]int) {
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			into[id.Name]++
		}
		return true
	})
}
