package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tree is the project, as far as a new resource must get on with it.
type tree struct {
	root    string
	module  string // its import path
	modules []string
	// resources are the modules whose records a ref can refer to: model.go declares a document of their name.
	resources []string
	// collections are the names under which anything is stored, and where.
	collections map[string]string
	// paths are the first segments of the routes, definitions the names of the documentation's objects.
	paths, definitions map[string]bool
	// renew is the documentation as it is after changes.
	renew func(*tree, []change) (map[string][]byte, error)
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// findTree looks for the project's root, from a folder upwards.
func findTree(dir string) (*tree, error) {
	for at := dir; ; at = filepath.Dir(at) {
		source, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if m := moduleLine.FindSubmatch(source); err == nil && m != nil {
			if _, err := os.Stat(filepath.Join(at, registryPath)); err == nil {
				return &tree{root: at, module: string(m[1])}, nil
			}
		}
		if filepath.Dir(at) == at {
			return nil, fmt.Errorf("there is no go.mod with %s beside it here or above; call it in the project", registryPath)
		}
	}
}

func (t *tree) path(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// hasUser reports whether the project has users.
func (t *tree) hasUser() bool { return slices.Contains(t.modules, "user") }

// look reads what stands in the tree.
func (t *tree) look() error {
	entries, err := os.ReadDir(t.path("modules"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			t.modules = append(t.modules, e.Name())
			if t.declares(e.Name()) {
				t.resources = append(t.resources, e.Name())
			}
		}
	}
	if err := t.lookForCollections(); err != nil {
		return err
	}
	return t.lookAtDocs()
}

// declares reports whether the module has a document of its name.
func (t *tree) declares(module string) bool {
	source, err := os.ReadFile(t.path("modules/" + module + "/model.go"))
	document := regexp.MustCompile(`(?m)^type ` + goName(module) + ` struct \{\n\tstore\.Meta`)
	return err == nil && document.Match(source)
}

// lookForCollections finds the names in the literals of store.Spec and listing.Spec.
func (t *tree) lookForCollections() error {
	t.collections = map[string]string{}
	for _, dir := range []string{"internal", "middleware", "modules"} {
		err := filepath.WalkDir(t.path(dir), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && (e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go")) {
				return nil
			}
			source, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(source), ".Spec{") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			where, _ := filepath.Rel(t.root, path)
			for _, name := range specNames(file) {
				t.collections[name] = filepath.ToSlash(where)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func specNames(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if kind, ok := literal.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Spec" {
			return true
		}
		for _, element := range literal.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, isIdent := pair.Key.(*ast.Ident)
			value, isText := pair.Value.(*ast.BasicLit)
			if isIdent && isText && key.Name == "Name" {
				if name, err := strconv.Unquote(value.Value); err == nil {
					names = append(names, name)
				}
			}
		}
		return true
	})
	return names
}

// The documentation: the second is made of the first.
const (
	swaggerPath = "docs/swagger.json"
	openAPIPath = "docs/openapi.json"
)

func (t *tree) lookAtDocs() error {
	t.paths = map[string]bool{"docs": true, "livez": true, "readyz": true, "openapi.json": true, "metrics": true}
	t.definitions = map[string]bool{}
	source, err := os.ReadFile(t.path(swaggerPath))
	if err != nil {
		return err
	}
	var doc struct {
		Paths, Definitions map[string]json.RawMessage
	}
	if err := json.Unmarshal(source, &doc); err != nil {
		return fmt.Errorf("%s: %w", swaggerPath, err)
	}
	for path := range doc.Paths {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		t.paths[first] = true
	}
	for name := range doc.Definitions {
		t.definitions[name] = true
	}
	return nil
}

// welcome looks for what the resource would collide with.
func (t *tree) welcome(r Resource, registered map[string]bool, problems *problems) {
	name := func(format string, args ...any) {
		problems.add("name %s: %s", show(r.Name), fmt.Sprintf(format, args...))
	}
	t.welcomeRefs(r, problems)
	if slices.ContainsFunc(problems.lines, func(line string) bool { return strings.HasPrefix(line, "name ") }) {
		return // the name must change anyway
	}
	if slices.Contains(t.modules, r.Name) {
		name("modules/%s is there already; take it back with --undo, or choose another name", r.Name)
		return
	}
	for _, module := range t.modules {
		if packageName(module) == r.Package() {
			name("modules/%s is a package %s already; choose another name", module, r.Package())
		}
	}
	if registered[r.Package()] {
		name("%s names something in %s already; choose another name", r.Package(), registryPath)
	}
	if registered[r.Registered()] {
		problems.add("plural %s: names something in %s already; choose another with --plural", r.Plural, registryPath)
	}
	if where, taken := t.collections[r.Plural]; taken {
		problems.add("plural %s: is a collection already, of %s; choose another with --plural", r.Plural, where)
	}
	if t.paths[r.Plural] {
		problems.add("plural %s: %s is a path of the API already; choose another with --plural", r.Plural, r.Path())
	}
	for _, definition := range []string{r.Type(), r.Type() + "Create", r.Type() + "Update"} {
		if t.definitions[definition] {
			name("%s is an object of the API's documentation already; choose another name", definition)
		}
	}
}

// welcomeRefs looks for what the fields refer to.
func (t *tree) welcomeRefs(r Resource, problems *problems) {
	for _, f := range r.Fields {
		if f.Type == typeRef && f.Target != "" && f.Target != r.Name && !slices.Contains(t.resources, f.Target) {
			hint := "refer to one of " + strings.Join(t.resources, ", ")
			if near := nearest(f.Target, t.resources); near != "" {
				hint = "did you mean " + near + "?"
			}
			problems.add("field %s: there is no resource %s to refer to; %s", show(f.Name), show(f.Target), hint)
		}
	}
}
