package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

const registryPath = "modules/modules.go"

// registry is modules/modules.go, as far as it must be known to add a module to it.
type registry struct {
	source  []byte
	set     *token.FileSet
	file    *ast.File
	host    string            // the name of New's first parameter
	body    *ast.BlockStmt    // of New
	list    *ast.CompositeLit // the modules
	result  *ast.ReturnStmt   // that holds the list
	cursors bool              // New has a variable of this name
}

// readRegistry parses the registry. The error says what is not as this command knows it.
func readRegistry(source []byte) (*registry, error) {
	r := &registry{source: source, set: token.NewFileSet()}
	var err error
	if r.file, err = parser.ParseFile(r.set, registryPath, source, parser.ParseComments); err != nil {
		return nil, err
	}
	for _, decl := range r.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != "New" || f.Recv != nil || f.Body == nil {
			continue
		}
		if params := f.Type.Params.List; len(params) > 0 && len(params[0].Names) > 0 {
			if kind, ok := params[0].Type.(*ast.Ident); ok && kind.Name == "Host" {
				r.host = params[0].Names[0].Name
			}
		}
		r.body = f.Body
	}
	if r.body == nil || r.host == "" || r.host == "_" {
		return nil, fmt.Errorf("%s has no func New(h Host, …)", registryPath)
	}
	for _, statement := range r.body.List {
		result, ok := statement.(*ast.ReturnStmt)
		if !ok {
			r.cursors = r.cursors || slices.Contains(assigned(statement), "cursors")
			continue
		}
		ast.Inspect(result, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isIdent := pair.Key.(*ast.Ident)
			list, isList := pair.Value.(*ast.CompositeLit)
			if isIdent && key.Name == "Modules" && isList {
				r.list, r.result = list, result
			}
			return true
		})
	}
	if r.list == nil {
		return nil, fmt.Errorf("the New of %s returns no list under the name Modules", registryPath)
	}
	lines := map[int]bool{}
	for _, element := range r.list.Elts {
		lines[r.line(element.Pos())] = true
	}
	if len(lines) < len(r.list.Elts) || lines[r.line(r.list.Lbrace)] {
		return nil, fmt.Errorf("the list of Modules in %s has not one module on each line", registryPath)
	}
	return r, nil
}

func assigned(statement ast.Stmt) (names []string) {
	if a, ok := statement.(*ast.AssignStmt); ok {
		for _, left := range a.Lhs {
			if name, ok := left.(*ast.Ident); ok {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func (r *registry) offset(p token.Pos) int { return r.set.Position(p).Offset }
func (r *registry) line(p token.Pos) int   { return r.set.Position(p).Line }

// lineEnd is the offset behind the line of a position, its line break included.
func (r *registry) lineEnd(p token.Pos) int {
	at := r.offset(p)
	if i := strings.IndexByte(string(r.source[at:]), '\n'); i >= 0 {
		return at + i + 1
	}
	return len(r.source)
}

// lineBegin is the offset of a position's line.
func (r *registry) lineBegin(p token.Pos) int {
	return strings.LastIndexByte(string(r.source[:r.offset(p)]), '\n') + 1
}

// names are all identifiers of the registry, and the names of its imports.
func (r *registry) names() map[string]bool {
	names := map[string]bool{}
	ast.Inspect(r.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					names[name.Name] = true
				}
				return true
			})
			return false
		case *ast.KeyValueExpr:
			ast.Inspect(n.Value, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					names[name.Name] = true
				}
				return true
			})
			return false
		case *ast.Ident:
			names[n.Name] = true
		}
		return true
	})
	for _, spec := range r.file.Imports {
		names[importName(spec)] = true
	}
	return names
}

func importPath(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value) // the parser has read it
	return path
}

func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	path := importPath(spec)
	return packageName(path[strings.LastIndexByte(path, '/')+1:])
}

// Registered is the variable of the module in the registry.
func (r Resource) Registered() string {
	if name := r.Collection(); name != r.Package() {
		return name
	}
	return r.Package() + "Module"
}

// constructor is the line that makes the module in the registry.
func (r Resource) constructor(host, cursors string) string {
	options := []string{"DB: " + host + ".DB"}
	if r.Has(methodList) {
		options = append(options, "Cursors: "+cursors)
	}
	if r.Has(methodCreate) || r.Has(methodUpdate) {
		options = append(options, "Now: "+host+".Now")
	}
	if r.Has(methodCreate) {
		options = append(options, "NewID: "+host+".NewID")
	}
	return fmt.Sprintf("%s := %s.New(%s.Options{%s})", r.Registered(), r.Package(), r.Package(), strings.Join(options, ", "))
}

// byHand says which lines to add where.
func (r Resource) byHand() string {
	return fmt.Sprintf("\timports:            %s\n\tbefore the return:  %s\n\tlist of Modules:    %s,", r.Import(), r.constructor("h", "cursors"), r.Registered())
}

// cursorsOf is the expression of the cursors: the registry's own, or new ones where it has none.
func (r *registry) cursorsOf() string {
	if r.cursors {
		return "cursors"
	}
	return "listing.NewCursors(" + r.host + ".MasterKeys...)"
}

// added is the registry with the module.
func (r *registry) added(module Resource) ([]byte, error) {
	var edits []edit
	imports := map[string]string{module.Module + "/modules/" + module.Name: module.Import()}
	if listing := module.Module + "/kit/listing"; module.Has(methodList) && !r.cursors && r.imported(listing) == nil {
		imports[listing] = strconv.Quote(listing)
	}
	for path, line := range imports {
		at, err := r.importPlace(path, module.Module)
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit{at, at, "\t" + line + "\n"})
	}
	at := r.lineBegin(r.result.Pos())
	for _, statement := range r.body.List {
		if slices.ContainsFunc(assigned(statement), r.lists) {
			at = r.lineEnd(statement.End())
		}
	}
	edits = append(edits, edit{at, at, "\t" + module.constructor(r.host, r.cursorsOf()) + "\n"})
	if len(r.list.Elts) == 0 {
		edits = append(edits, edit{r.offset(r.list.Lbrace) + 1, r.offset(r.list.Rbrace), "\n\t\t\t" + module.Registered() + ",\n\t\t"})
	} else {
		at := r.lineEnd(r.list.Elts[len(r.list.Elts)-1].End())
		edits = append(edits, edit{at, at, "\t\t\t" + module.Registered() + ",\n"})
	}
	return r.formatted(edits)
}

// formatted makes the edits. A registry that gofmt would change is left to its owner.
func (r *registry) formatted(edits []edit) ([]byte, error) {
	out := apply(r.source, edits)
	tidy, err := format.Source(out)
	if err != nil || string(tidy) != string(out) {
		return nil, fmt.Errorf("%s is not laid out by gofmt", registryPath)
	}
	return out, nil
}

// lists reports whether the list of modules names the variable.
func (r *registry) lists(name string) bool { return r.element(name) != nil }

func (r *registry) element(name string) ast.Expr {
	for _, element := range r.list.Elts {
		if ident, ok := element.(*ast.Ident); ok && ident.Name == name {
			return element
		}
	}
	return nil
}

func (r *registry) imported(path string) *ast.ImportSpec {
	for _, spec := range r.file.Imports {
		if importPath(spec) == path {
			return spec
		}
	}
	return nil
}

// importPlace is where an import stands in its order among those of the project.
func (r *registry) importPlace(path, module string) (int, error) {
	at := -1
	for _, spec := range r.file.Imports {
		switch own := importPath(spec); {
		case !strings.HasPrefix(own, module+"/"):
		case own < path:
			at = r.lineEnd(spec.End())
		case at < 0:
			at = r.lineBegin(spec.Pos())
		}
	}
	if at < 0 {
		return 0, fmt.Errorf("%s imports nothing of this project", registryPath)
	}
	return at, nil
}

// removed is the registry without the module. It must be there as added has written it.
func (r *registry) removed(module Resource) ([]byte, error) {
	spec := r.imported(module.Module + "/modules/" + module.Name)
	element := r.element(module.Registered())
	var made ast.Stmt
	for _, statement := range r.body.List {
		if slices.Contains(assigned(statement), module.Registered()) {
			made = statement
		}
	}
	if spec == nil || element == nil || made == nil {
		return nil, fmt.Errorf("%s does not name the module as it was added", registryPath)
	}
	cut := func(n ast.Node) edit { return edit{r.lineBegin(n.Pos()), r.lineEnd(n.End()), ""} }
	edits := []edit{cut(spec), cut(made), cut(element)}
	if len(r.list.Elts) == 1 {
		edits[2] = edit{r.offset(r.list.Lbrace) + 1, r.offset(r.list.Rbrace), ""}
	}
	lines := []string{module.Import(), module.constructor(r.host, r.cursorsOf()), module.Registered() + ","}
	for i, line := range lines {
		if have := strings.TrimSpace(string(r.source[edits[i].begin:edits[i].end])); have != line {
			return nil, fmt.Errorf("%s was edited: it has %q where %q was added", registryPath, have, line)
		}
	}
	out, err := r.formatted(edits)
	if err != nil || r.cursors {
		return out, err
	}
	return withoutImport(out, module.Module+"/kit/listing", "listing")
}

// withoutImport takes an import away that nothing uses any more.
func withoutImport(source []byte, path, name string) ([]byte, error) {
	r, err := readRegistry(source)
	if err != nil {
		return nil, err
	}
	spec, used := r.imported(path), false
	ast.Inspect(r.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, isIdent := s.X.(*ast.Ident)
			used = used || isIdent && x.Name == name
		}
		return true
	})
	if spec == nil || used {
		return source, nil
	}
	return r.formatted([]edit{{r.lineBegin(spec.Pos()), r.lineEnd(spec.End()), ""}})
}
