package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/ginseng/scripts/internal/collections"
	"example.com/ginseng/scripts/internal/documents"
	trees "example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
)

// project is a project. It has the names that a new resource must not use.
type project struct {
	root      string
	module    string   // import path
	modules   []string // names of the directories in modules
	resources []string // modules that a ref can refer to
	// collections has, for each collection, the file that declares it.
	collections map[string]string
	// paths has the first segments of the routes, definitions the types in the API document.
	paths, definitions map[string]bool
}

// openProject reads the project in dir, or in the nearest parent directory that has a project. First, it undoes the changes of a
// run that was killed.
func openProject(dir string) (*project, error) {
	for at := dir; ; at = filepath.Dir(at) {
		source, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if _, missing := os.Stat(filepath.Join(at, registry.Path)); err == nil && missing == nil {
			if err := trees.Restore(at); err != nil {
				return nil, err
			}
			p := &project{root: at, module: modfile.ModulePath(source)}
			return p, errors.Join(p.readModules(), p.readDocument())
		}
		if filepath.Dir(at) == at {
			return nil, fmt.Errorf("no go.mod with %s next to it, here or in a parent directory; run the command in a project", registry.Path)
		}
	}
}

func (p *project) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *project) hasUser() bool { return slices.Contains(p.modules, "user") }

func (p *project) readModules() error {
	entries, err := os.ReadDir(p.path("modules"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		p.modules = append(p.modules, e.Name())
		if p.isTarget(e.Name()) {
			p.resources = append(p.resources, e.Name())
		}
	}
	p.collections, err = collections.In(p.path("modules"))
	return err
}

// runtimeCollections are the collections of the runtime.
var runtimeCollections = []string{"emails", "file-storage", "file-usage", "files", "idempotency", "job-states", "limits", "migrations", "removals"}

func (p *project) readDocument() error {
	p.paths = map[string]bool{"docs": true, "livez": true, "readyz": true, "openapi.json": true, "metrics": true}
	p.definitions = map[string]bool{}
	source, err := os.ReadFile(p.path(documents.SwaggerFile))
	if err != nil {
		return err
	}
	var document struct {
		Paths, Definitions map[string]json.RawMessage
	}
	if err := json.Unmarshal(source, &document); err != nil {
		return fmt.Errorf("%s: %w", documents.SwaggerFile, err)
	}
	for path := range document.Paths {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		p.paths[first] = true
	}
	for name := range document.Definitions {
		p.definitions[name] = true
	}
	return nil
}

// reservedResources are the names of resources of the runtime and of its components, singular and plural. A project may not have a
// component yet.
var reservedResources = []string{
	"account", "accounts", "admin", "admins", "file", "files", "job", "jobs", "oauth", "oauths", "organization", "organizations",
	"organization-invitation", "organization-invitations", "sign-in", "sign-ins",
}

// checkCollisions reports names of the resource that the project already uses. registered has the names in the registry, or is
// nil if the registry is invalid.
func (p *project) checkCollisions(r Resource, registered map[string]bool, wrong *mistakes) {
	if !kebabCase.MatchString(r.Name) || !kebabCase.MatchString(r.Plural) {
		return
	}
	bad := func(format string, args ...any) {
		wrong.Add("name %s: %s; choose another name", r.Name, fmt.Sprintf(format, args...))
	}
	badPlural := func(format string, args ...any) {
		wrong.Add("plural %s: %s; choose another with --plural", r.Plural, fmt.Sprintf(format, args...))
	}
	if slices.Contains(p.modules, r.Name) {
		wrong.Add("name %s: modules/%s exists; remove it with --undo, or choose another name", r.Name, r.Name)
		return
	}
	if slices.Contains(reservedResources, r.Name) {
		bad("is reserved for a component of Ginseng")
	} else if slices.Contains(reservedResources, r.Plural) {
		badPlural("is reserved for a component of Ginseng")
	}
	for _, module := range p.modules {
		if packageName(module) == r.Package() {
			bad("modules/%s has package %s", module, r.Package())
		}
	}
	for _, definition := range []string{r.Type(), r.Type() + "Create", r.Type() + "Update"} {
		if p.definitions[definition] {
			bad("the API document has the type %s", definition)
		}
	}
	if registered[r.Package()] && !slices.Contains(imported, r.Package()) {
		bad("%s uses the name %s", registry.Path, r.Package())
	}
	if variable := r.entry().Variable; registered[variable] {
		wrong.Add("plural %s: %s uses the name %s; rename the variable there, or choose another with --plural", r.Plural, registry.Path, variable)
	}
	if file, exists := p.collections[r.Plural]; exists {
		badPlural("%s has this collection", file)
	} else if slices.Contains(runtimeCollections, r.Plural) {
		badPlural("the runtime has this collection")
	}
	if r.Under == "" && p.paths[r.Plural] {
		badPlural("the API has the path %s", r.Path())
	}
}
