package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"example.com/ginseng/scripts/internal/collections"
	"example.com/ginseng/scripts/internal/documents"
	trees "example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/naming"
	"example.com/ginseng/scripts/internal/registry"
)

// plan has the changes of files with which the command adds, removes or changes a module.
type plan struct {
	root    string // the project's root
	changes []change
	done    string // message to print after the changes
	// conflicts reports whether edits of the user conflict with changes. Before and After of a conflicting change are the
	// generated files, so that git can merge the change into the edited file.
	conflicts bool
	// undocumented reports whether the API documents are not changed.
	undocumented bool
}

type change struct {
	trees.Change
	verb string // for the summary: written, removed or changed
}

// add adds the change of a file, unless before and after are equal.
func (p *plan) add(verb, path string, before, after []byte) {
	if !bytes.Equal(before, after) {
		p.changes = append(p.changes, change{trees.Change{Path: path, Before: before, After: after}, verb})
	}
}

// planAdd plans a new resource.
func (p *project) planAdd(c call) (*plan, error) {
	var wrong mistakes
	if c.force {
		wrong.Add("flag --force: needs --undo")
	}
	if c.merge {
		wrong.Add("flag --merge: needs --add, --change, --rename or --drop")
	}
	r := declare(c, p.module, p.hasUser(), &wrong)
	modules, _, invalid := p.registry() // editRegistry reports the error
	registered := map[string]bool{}
	if invalid == nil {
		registered = modules.Names()
	} else {
		modules = nil
	}
	p.resolve(&r, modules, &wrong)
	p.checkRoles(r, &wrong)
	p.checkOrgRoles(r, &wrong)
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
	out.done = r.uniqueNotes(r.Fields) + out.done
	return out, p.editRegistry(out, "add", r, func(m *registry.Registry) ([]byte, error) { return m.Insert(r.entry()) })
}

func (p *project) registry() (*registry.Registry, []byte, error) {
	source, err := os.ReadFile(p.path(registry.Path))
	if err != nil {
		return nil, nil, err
	}
	modules, err := registry.Parse(source)
	return modules, source, err
}

// editRegistry calls edit with the registry, and adds the change of the registry to out. If edit fails, the error has the lines
// that the user can edit by hand. verb is add, change or remove.
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
	out := &plan{root: p.root, done: r.Name + " is removed. Restart the service.\n" + collections.Stay(r.Plural)}
	module := path.Join("modules", r.Name)
	err = fs.WalkDir(os.DirFS(p.root), module, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(p.path(name))
		out.changes = append(out.changes, change{trees.Change{Path: name, Before: content}, "removed"})
		own := strings.TrimPrefix(name, module+"/")
		if want, exists := generated[own]; !c.force && own != migrationsFile && (!exists || !bytes.Equal(want, content)) {
			wrong.Add("file %s: was edited or added after it was generated; --force removes it", name)
		}
		if own == migrationsFile {
			out.done += removedMigrations(r.Name, content)
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

// removedMigrations returns a message about the migrations in a removed migrations.go of a resource.
func removedMigrations(resource string, source []byte) string {
	out := ""
	for _, name := range migrationName.FindAllSubmatch(source, -1) {
		out += fmt.Sprintf("  go run . migrate --forget %s\n", name[1])
	}
	if out == "" {
		return ""
	}
	return fmt.Sprintf("Its migrations are removed, too. A database that has run them prevents a start without them. If you generate %s again, add them to\n"+
		"its new migrations.go. Otherwise, run before the next start:\n%s", resource, out)
}

// migrationName matches the name of a migration in Go code.
var migrationName = regexp.MustCompile(`\bName:\s*"([^"]+)"`)

// generated returns the resource that the module name was generated from, with its Targets.
func (p *project) generated(name string) (Resource, error) {
	r, err := p.declared(name)
	if err != nil {
		return r, err
	}
	modules, _, _ := p.registry() // the caller reports an invalid registry
	var wrong mistakes
	p.resolve(&r, modules, &wrong)
	return r, wrong.Err()
}

// declared returns the resource that the module name was generated from, without its Targets.
func (p *project) declared(name string) (r Resource, err error) {
	file := path.Join("modules", name, "module.go")
	source, err := os.ReadFile(p.path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return r, mistakes{fmt.Sprintf("name %s: %s does not exist; %s", name, file, naming.Suggest(name, p.modules))}
	}
	if err != nil {
		return r, err
	}
	args := registry.ReadDirective(string(source))
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
	r.Migrated = hasMigrations(source)
	if r.Under != "" {
		parent, err := p.declared(r.Under)
		r.nest(parent)
		return r, err
	}
	return r, nil
}

// apiDocuments are the documents that describe resources.
var apiDocuments = []string{documents.SwaggerFile, documents.OpenAPIFile}

// diff returns the changes of p as a unified diff. For a new test file, it contains only the number of lines.
func (p *plan) diff() string {
	var out strings.Builder
	for _, c := range p.changes {
		from, to := "a/"+c.Path, "b/"+c.Path
		if c.Before == nil && strings.HasSuffix(c.Path, "_test.go") {
			fmt.Fprintf(&out, "new file %s, %d lines\n", c.Path, bytes.Count(c.After, []byte("\n")))
			continue
		}
		if c.Before == nil {
			from = os.DevNull
		}
		if c.After == nil {
			to = os.DevNull
		}
		out.Write(diff.Diff(from, c.Before, to, c.After))
	}
	fmt.Fprintf(&out, "%d files; also generated: %s. Nothing was written.\n", len(p.changes), strings.Join(apiDocuments, ", "))
	return out.String()
}

// summary lists the changed files, and says what to do next.
func (p *plan) summary() string {
	var out strings.Builder
	for _, c := range p.changes {
		fmt.Fprintf(&out, "  %s %s\n", c.verb, c.Path)
	}
	if !p.undocumented {
		fmt.Fprintf(&out, "  written %s\n", strings.Join(apiDocuments, "\n  written "))
	}
	fmt.Fprintf(&out, "\n%s", p.done)
	return out.String()
}

// documenter generates the API documents of the project at root. The directory source has the source of the project, and overlay
// replaces files of the project; see documents.Routes.
type documenter func(root, source string, overlay map[string]string) (trees.Tree, error)

// isUndocumented reports whether the documents cannot be generated because of code that the command does not change.
func isUndocumented(err error) bool {
	return errors.Is(err, documents.ErrRoutes) || errors.Is(err, documents.ErrMismatch)
}

// apply makes the changes of p and of the API documents, all or none, even if the process is killed. If the project does not
// compile, or its annotations do not fit, the API documents stay as they are, and p.done says what to do.
func (p *plan) apply(document documenter) error {
	changes, err := p.documentChanges(document)
	if isUndocumented(err) {
		p.done = fmt.Sprintf("The API documents are not changed: %v\nCorrect the errors, then run make docs.\n", err)
		p.undocumented, err = true, nil
	}
	for _, c := range p.changes { // the registry is last, so that the project compiles until then
		changes = append(changes, c.Change)
	}
	if err == nil {
		err = trees.Apply(p.root, changes)
	}
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

// pick makes the changes with git. It creates a commit of the files before the changes and a child commit of the files after the
// changes, and cherry-picks the child. If files conflict, the error is a trees.Conflict.
func (p *plan) pick(message string) error {
	before, after := trees.Tree{}, trees.Tree{}
	for _, c := range p.changes {
		if c.Before != nil {
			before[c.Path] = c.Before
		}
		if c.After != nil {
			after[c.Path] = c.After
		}
	}
	_, commit, err := trees.Commits(context.Background(), p.root, before, after, message)
	if err != nil {
		return err
	}
	return trees.CherryPick(context.Background(), p.root, commit)
}

// documentChanges returns the changes of the API documents. It generates the documents from a copy of the project's source with
// the changes of p.
func (p *plan) documentChanges(document documenter) ([]trees.Change, error) {
	source, err := trees.Read(p.root, isSource)
	if err != nil {
		return nil, err
	}
	for _, c := range p.changes {
		delete(source, c.Path)
		if c.After != nil {
			source[c.Path] = c.After
		}
	}
	dir, err := os.MkdirTemp("", "ginseng-generate-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := source.Write(dir); err != nil {
		return nil, err
	}
	overlay := map[string]string{}
	for _, c := range p.changes {
		name := filepath.FromSlash(c.Path)
		if overlay[filepath.Join(p.root, name)] = ""; source[c.Path] != nil {
			overlay[filepath.Join(p.root, name)] = filepath.Join(dir, name)
		}
	}
	contents, err := document(p.root, dir, overlay)
	if isUndocumented(err) {
		return nil, err
	}
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	var changes []trees.Change
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		before, missing := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
		if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
			return nil, missing
		}
		if !bytes.Equal(before, contents[name]) {
			changes = append(changes, trees.Change{Path: name, Before: before, After: contents[name]})
		}
	}
	return changes, nil
}

// isSource reports whether the API documents depend on a file of the project.
func isSource(name string) bool {
	own := !strings.HasPrefix(name, "third_party/") && !strings.HasSuffix(name, "_test.go")
	return own && path.Ext(name) == ".go" || slices.Contains([]string{"go.mod", "go.sum", "LICENSE"}, name)
}

// document is a documenter.
func document(root, source string, overlay map[string]string) (trees.Tree, error) {
	runtime, err := documents.Runtime(root)
	if err != nil {
		return nil, err
	}
	table, err := documents.Routes(context.Background(), root, overlay)
	if err != nil {
		return nil, err
	}
	return documents.API(source, runtime, table)
}
