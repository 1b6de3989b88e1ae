package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"example.com/ginseng/scripts/internal/naming"
	"example.com/ginseng/scripts/internal/registry"
)

// change is the change of a file.
type change struct {
	verb          string // for the summary: written, removed or changed
	path          string // path from the project's root, with slashes
	before, after []byte // contents; nil if the file does not exist
}

// plan has the changes of files that add, remove or change a module.
type plan struct {
	root    string // the project's root
	changes []change
	done    string // message to print after the changes
}

// add adds the change of a file. It does nothing if the contents are equal.
func (p *plan) add(verb, path string, before, after []byte) {
	if !bytes.Equal(before, after) {
		p.changes = append(p.changes, change{verb, path, before, after})
	}
}

// planAdd plans a new resource.
func (p *project) planAdd(c call) (*plan, error) {
	var wrong mistakes
	if c.force {
		wrong.Add("flag --force: needs --undo")
	}
	r := declare(c, p.module, p.hasUser(), &wrong)
	modules, _, invalid := p.registry() // editRegistry reports the error
	registered := map[string]bool{}
	if invalid == nil {
		registered = modules.Names()
		p.resolve(&r, modules, &wrong)
	}
	p.checkCollisions(r, registered, &wrong)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if invalid != nil {
		return nil, p.editRegistry(nil, "add", r, nil)
	}
	files, err := r.render()
	if err != nil {
		return nil, err
	}
	out := &plan{root: p.root}
	for _, name := range fileNames {
		out.add("written", path.Join("modules", r.Name, name), nil, files[name])
	}
	out.done = fmt.Sprintf("%s: %s. Next:\n  go test ./modules/%s/\n  restart the service: go run .\n  open http://localhost:9000/docs/\n", r.Name, r.DocPath(), r.Name)
	return out, p.editRegistry(out, "add", r, func(m *registry.Registry) ([]byte, error) { return m.Insert(r.entry()) })
}

// registry returns the parsed registry and its source.
func (p *project) registry() (*registry.Registry, []byte, error) {
	source, err := os.ReadFile(p.path(registry.Path))
	if err != nil {
		return nil, nil, err
	}
	modules, err := registry.Parse(source)
	return modules, source, err
}

// editRegistry calls edit with the registry and adds the change to a plan. If it fails, the error has the lines that the
// user can add, change or remove by hand; verb says which.
func (p *project) editRegistry(out *plan, verb string, r Resource, edit func(*registry.Registry) ([]byte, error)) error {
	modules, before, err := p.registry()
	var after []byte
	if err == nil {
		after, err = edit(modules)
	}
	if err != nil {
		entry := r.entry()
		return fmt.Errorf("nothing was changed: %w. Undo your changes to its structure, or %s these lines by hand:\n\timport:       %s\n\tin New:       %s\n\tin the list:  %s,",
			err, verb, entry.ImportSpec(), entry.Constructor(), entry.Variable)
	}
	out.add("written", registry.Path, before, after)
	return nil
}

// planUndo plans the removal of a resource.
func (p *project) planUndo(c call) (*plan, error) {
	wrong := c.wrong
	for _, flag := range c.set {
		if flag != "undo" && flag != "force" && flag != "dry-run" {
			wrong.Add("flag --%s: --undo reads the declaration from module.go; omit the flag", flag)
		}
	}
	switch {
	case len(c.args) == 0:
		wrong.Add("name: is missing; write --undo NAME")
	case len(c.args) > 1:
		wrong.Add("fields: --undo reads the declaration from module.go; write only the name")
	case !kebabCase.MatchString(c.args[0]):
		wrong.Add("name %s: is not in kebab-case", quote(c.args[0]))
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	r, err := p.generated(c.args[0])
	if err != nil {
		return nil, err
	}
	generated, err := r.render()
	if err != nil {
		return nil, err
	}
	out := &plan{root: p.root, done: r.Name + " is removed. Its records stay in the database. Restart the service.\n"}
	module := path.Join("modules", r.Name)
	err = fs.WalkDir(os.DirFS(p.root), module, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(p.path(name))
		out.changes = append(out.changes, change{"removed", name, content, nil})
		own := strings.TrimPrefix(name, module+"/")
		if want, exists := generated[own]; !c.force && own != migrationsFile && (!exists || !bytes.Equal(want, content)) {
			wrong.Add("file %s: was edited or added after it was generated; --force removes it", name)
		}
		return err
	})
	if err == nil {
		err = wrong.Err()
	}
	if err != nil {
		return nil, err
	}
	if referrers := p.referrers(r.Name); referrers != nil {
		return nil, mistakes{fmt.Sprintf("name %s: %s refers to it, or is under it; remove that first, or drop its field", r.Name, strings.Join(referrers, ", "))}
	}
	return out, p.editRegistry(out, "remove", r, func(m *registry.Registry) ([]byte, error) { return m.Remove(r.entry()) })
}

// generated returns the resource that a module was generated from, with its Targets.
func (p *project) generated(name string) (Resource, error) {
	r, err := p.declared(name)
	if err != nil {
		return r, err
	}
	modules, _, _ := p.registry() // the caller reports an invalid one
	var wrong mistakes
	p.resolve(&r, modules, &wrong)
	return r, wrong.Err()
}

// declared returns the resource that a module was generated from, without its Targets.
func (p *project) declared(name string) (r Resource, err error) {
	file := path.Join("modules", name, "module.go")
	source, err := os.ReadFile(p.path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return r, mistakes{fmt.Sprintf("name %s: %s does not exist; %s", name, file, naming.Suggest(name, p.modules))}
	}
	if err != nil {
		return r, err
	}
	args := readDirective(string(source))
	if args == nil || args[0] != name {
		return r, mistakes{fmt.Sprintf("name %s: %s has no go:generate line of this command; delete the module by hand", name, file)}
	}
	var wrong mistakes
	c, err := parseArguments(args)
	if err == nil {
		r = declare(c, p.module, p.hasUser(), &wrong)
		err = wrong.Err()
	}
	if err != nil {
		return r, fmt.Errorf("%s: invalid go:generate line: %w", file, err)
	}
	if r.Under != "" {
		parent, err := p.declared(r.Under)
		r.nest(parent)
		return r, err
	}
	return r, nil
}

// diff returns the changes of source files as a unified diff.
func (p *plan) diff() string {
	var out strings.Builder
	for _, c := range p.changes {
		from, to := "a/"+c.path, "b/"+c.path
		if c.before == nil && strings.HasSuffix(c.path, "_test.go") {
			fmt.Fprintf(&out, "new file %s, %d lines\n", c.path, bytes.Count(c.after, []byte("\n")))
			continue
		}
		if c.before == nil {
			from = os.DevNull
		}
		if c.after == nil {
			to = os.DevNull
		}
		out.Write(diff.Diff(from, c.before, to, c.after))
	}
	fmt.Fprintf(&out, "%d files; also generated: %s. Nothing was written.\n", len(p.changes), strings.Join(documents, ", "))
	return out.String()
}

// summary lists the changed files, and says what to do next.
func (p *plan) summary() string {
	var out strings.Builder
	for _, c := range p.changes {
		fmt.Fprintf(&out, "  %s %s\n", c.verb, c.path)
	}
	fmt.Fprintf(&out, "  written %s\n\n%s", strings.Join(documents, "\n  written "), p.done)
	return out.String()
}

// apply makes the changes and calls document, which generates the API documents. After an error, it restores the files. If
// the process is killed, the user can restore them with git.
func (p *plan) apply(document func(root string) error) error {
	err := p.write(func(c change) []byte { return c.after })
	if err == nil {
		err = document(p.root)
	}
	if err != nil {
		err = errors.Join(err, p.write(func(c change) []byte { return c.before }))
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

// write writes the content of each changed file. It removes files whose content is nil, with directories that become empty.
func (p *plan) write(content func(change) []byte) (err error) {
	for _, c := range p.changes {
		file := filepath.Join(p.root, filepath.FromSlash(c.path))
		if data := content(c); data != nil {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644))
			continue
		}
		if failed := os.Remove(file); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
		for dir := filepath.Dir(file); dir != filepath.Join(p.root, "modules") && os.Remove(dir) == nil; {
			dir = filepath.Dir(dir)
		}
	}
	return err
}

// documents are the generated documents that describe resources.
var documents = []string{swaggerPath, "docs/openapi.json"}

// document generates the documents of the project at root from the annotations.
func document(root string) error {
	command := exec.Command("go", "run", runtime+"/scripts/docs", "-api")
	command.Dir = root
	if printed, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, bytes.TrimSpace(printed))
	}
	return nil
}
