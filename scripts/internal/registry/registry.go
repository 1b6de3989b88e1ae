// Package registry edits modules/modules.go, which lists the modules of a project. It has, for each module, one import, at
// most one field of Settings, one line that calls the constructor, and one entry in the list that New returns.
package registry

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Path is the registry's path from the project's root.
const Path = "modules/modules.go"

// Module is the registry's entry of a module.
type Module struct {
	Import   string // import path, such as example.com/shop/modules/password-reset
	Package  string // package name, such as passwordreset
	Variable string // variable in New, which is also the entry in the list, such as resets
	Call     string // call of the constructor, such as passwordreset.New(d, s.PasswordReset, users)
	Settings string // field of Settings, such as PasswordReset passwordreset.Settings; "" if the module has none
}

// ImportSpec returns the import spec in Go: the quoted path. The package name precedes the path if the name differs from the last
// element of the path.
func (m Module) ImportSpec() string {
	if path.Base(m.Import) == m.Package {
		return strconv.Quote(m.Import)
	}
	return m.Package + " " + strconv.Quote(m.Import)
}

// Constructor returns the constructor line.
func (m Module) Constructor() string { return m.Variable + " := " + m.Call }

// Registry is a parsed registry. Its methods return a new source instead of changing the Registry.
type Registry struct {
	source   []byte
	set      *token.FileSet
	file     *ast.File
	imports  *ast.GenDecl
	settings *ast.StructType
	body     *ast.BlockStmt    // body of New
	result   *ast.ReturnStmt   // last statement of New
	list     *ast.CompositeLit // value that result returns
}

// Parse parses a registry. It returns an error unless the source has an import declaration in parentheses, a struct
// Settings, and func New(d kit.Deps, s Settings) []kit.Module that ends by returning a list with one module per line.
func Parse(source []byte) (*Registry, error) {
	r := &Registry{source: source, set: token.NewFileSet()}
	var err error
	if r.file, err = parser.ParseFile(r.set, Path, source, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	for _, decl := range r.file.Decls {
		switch decl := decl.(type) {
		case *ast.GenDecl:
			r.readDecl(decl)
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name == "New" && r.text(decl.Type.Params) == "(d kit.Deps, s Settings)" {
				r.readNew(decl.Body)
			}
		}
	}
	switch {
	case r.imports == nil:
		return nil, fmt.Errorf("%s has no import declaration in parentheses", Path)
	case r.settings == nil:
		return nil, fmt.Errorf("%s has no struct Settings", Path)
	case r.list == nil:
		return nil, fmt.Errorf("%s has no func New(d kit.Deps, s Settings) that ends by returning a list of modules", Path)
	}
	last := r.line(r.list.Lbrace)
	for _, entry := range r.list.Elts {
		if r.line(entry.Pos()) == last {
			return nil, fmt.Errorf("the list in %s has more than one module per line", Path)
		}
		last = r.line(entry.End())
	}
	return r, nil
}

// readDecl sets imports or settings if decl declares them.
func (r *Registry) readDecl(decl *ast.GenDecl) {
	if decl.Tok == token.IMPORT && decl.Lparen.IsValid() {
		r.imports = decl
	}
	for _, spec := range decl.Specs {
		if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == "Settings" {
			r.settings, _ = spec.Type.(*ast.StructType)
		}
	}
}

// readNew sets body, result and list if the function body of New ends by returning a composite literal.
func (r *Registry) readNew(body *ast.BlockStmt) {
	if body == nil || len(body.List) == 0 {
		return
	}
	result, ok := body.List[len(body.List)-1].(*ast.ReturnStmt)
	if !ok || len(result.Results) != 1 {
		return
	}
	list, _ := result.Results[0].(*ast.CompositeLit)
	r.body, r.result, r.list = body, result, list
}

// Modules returns the modules in the order of the list. It omits entries that are not a variable with a constructor line.
func (r *Registry) Modules() []Module {
	var out []Module
	for _, entry := range r.list.Elts {
		variable, ok := entry.(*ast.Ident)
		if !ok {
			continue
		}
		statement, call := r.constructor(variable.Name)
		if statement == nil {
			continue
		}
		m := Module{Package: packageOf(call.Fun), Variable: variable.Name, Call: r.text(call)}
		if spec := r.importOf(m.Package); spec != nil {
			m.Import = importPath(spec)
		}
		if field := r.settingsOf(m.Package); field != nil {
			m.Settings = field.Names[0].Name + " " + r.text(field.Type)
		}
		out = append(out, m)
	}
	return out
}

// Names returns the names that a new import or variable must not have: all identifiers in the registry and the names of imports,
// except fields of Settings and identifiers after a dot.
func (r *Registry) Names() map[string]bool {
	names := map[string]bool{}
	for _, spec := range r.file.Imports {
		names[importName(spec)] = true
	}
	EachName(r.file, r.settings, func(name *ast.Ident) { names[name.Name] = true })
	return names
}

// EachName calls f with every identifier in n that does not follow a dot, except the identifiers in skip. skip can be nil.
func EachName(n, skip ast.Node, f func(*ast.Ident)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			EachName(n.X, skip, f)
			return false
		case *ast.Ident:
			f(n)
		}
		return n != skip
	})
}

// Insert returns the source with the module added. It keeps the imports and settings in alphabetical order. It inserts the
// constructor line and the list entry before those of the first module whose variable is in before. If there is no such module,
// it inserts them at the end.
func (r *Registry) Insert(m Module, before ...string) ([]byte, error) {
	constructorAt, entryAt := r.lineStart(r.result.Pos()), r.lineStart(r.list.Rbrace)
	for _, entry := range r.list.Elts {
		if slices.Contains(before, r.text(entry)) {
			entryAt = r.lineStart(entry.Pos())
			if statement, _ := r.constructor(r.text(entry)); statement != nil {
				constructorAt = r.lineStart(statement.Pos())
			}
			break
		}
	}
	edits := []Edit{
		{r.importPlace(m.Import), 0, m.ImportSpec() + "\n"},
		{constructorAt, 0, m.Constructor() + "\n"},
		{entryAt, 0, m.Variable + ",\n"},
	}
	if len(r.list.Elts) == 0 {
		edits[2] = Edit{r.offset(r.list.Lbrace) + 1, r.between(r.list.Lbrace, r.list.Rbrace), "\n" + m.Variable + ",\n"}
	}
	if m.Settings != "" {
		edits = append(edits, r.insertSetting(m.Settings))
	}
	return Apply(r.source, edits)
}

// importPlace returns the offset at which an import of path is inserted: in alphabetical order among the imports of the project's
// modules.
func (r *Registry) importPlace(path string) int {
	at := r.lineStart(r.imports.Rparen)
	modules := path[:strings.LastIndexByte(path, '/')+1]
	found := false
	for _, spec := range r.file.Imports {
		switch other := importPath(spec); {
		case strings.HasPrefix(other, modules) && other > path:
			return r.lineStart(spec.Pos())
		case strings.HasPrefix(other, modules), !found && other < path:
			at, found = r.lineEnd(spec.End()), strings.HasPrefix(other, modules)
		}
	}
	return at
}

// insertSetting returns the edit that inserts a field of Settings in alphabetical order.
func (r *Registry) insertSetting(setting string) Edit {
	fields := r.settings.Fields
	if len(fields.List) == 0 {
		return Edit{r.offset(fields.Opening) + 1, r.between(fields.Opening, fields.Closing), "\n" + setting + "\n"}
	}
	at := r.lineStart(fields.Closing)
	for _, field := range fields.List {
		if len(field.Names) > 0 && field.Names[0].Name > setting {
			at = r.lineStart(field.Pos())
			break
		}
	}
	return Edit{at, 0, setting + "\n"}
}

// Remove returns the source without the module m. It returns an error if the module is missing, if its lines differ from m, or if
// other code uses its variable.
func (r *Registry) Remove(m Module) ([]byte, error) {
	modules := r.Modules()
	i := slices.IndexFunc(modules, func(other Module) bool { return other.Import == m.Import })
	switch {
	case i < 0:
		return nil, fmt.Errorf("%s does not create a module of %s", Path, m.Import)
	case modules[i] != m:
		return nil, fmt.Errorf("%s was edited: it has %q instead of %q", Path, modules[i].Constructor(), m.Constructor())
	}
	statement, _ := r.constructor(m.Variable)
	entry := r.list.Elts[slices.IndexFunc(r.list.Elts, func(e ast.Expr) bool { return r.text(e) == m.Variable })]
	var uses []int
	EachName(r.body, statement, func(name *ast.Ident) {
		if name.Name == m.Variable && name != entry {
			uses = append(uses, r.line(name.Pos()))
		}
	})
	if uses != nil {
		return nil, fmt.Errorf("%s:%d uses %s", Path, uses[0], m.Variable)
	}
	edits := []Edit{r.cut(r.importOf(m.Package)), r.cut(statement), r.cut(entry)}
	if len(r.list.Elts) == 1 {
		edits[2] = Edit{r.offset(r.list.Lbrace) + 1, r.between(r.list.Lbrace, r.list.Rbrace), ""}
	}
	if field := r.settingsOf(m.Package); field != nil && len(r.settings.Fields.List) == 1 {
		fields := r.settings.Fields
		edits = append(edits, Edit{r.offset(fields.Opening) + 1, r.between(fields.Opening, fields.Closing), ""})
	} else if field != nil {
		edits = append(edits, r.cut(field))
	}
	return Apply(r.source, edits)
}

// Replace returns the source with the constructor call of next instead of the call of m. If later constructor lines declare
// variables of the new call, Replace moves these lines before the call. Replace keeps arguments that the user has added to the
// call. It returns an error if the user has removed an argument of m.
func (r *Registry) Replace(m, next Module) ([]byte, error) {
	statement, call := r.constructor(m.Variable)
	edited := fmt.Errorf("%s was edited: it does not have %q", Path, m.Constructor())
	if statement == nil {
		return nil, edited
	}
	merged, ok := r.mergeCall(call, m.Call, next.Call)
	if !ok {
		return nil, edited
	}
	needed := map[ast.Stmt]bool{}
	var need func(ast.Expr)
	need = func(call ast.Expr) {
		EachName(call, nil, func(name *ast.Ident) {
			if other, call := r.constructor(name.Name); other != nil && other.Pos() > statement.Pos() && !needed[other] {
				needed[other] = true
				need(call)
			}
		})
	}
	after, err := parser.ParseExpr(merged)
	if err != nil {
		return nil, err
	}
	need(after)
	moved := ""
	edits := []Edit{{r.offset(call.Pos()), r.offset(call.End()) - r.offset(call.Pos()), merged}}
	for _, other := range r.body.List {
		if needed[other] {
			moved += r.text(other) + "\n"
			edits = append(edits, r.cut(other))
		}
	}
	return Apply(r.source, append(edits, Edit{r.lineStart(statement.Pos()), 0, moved}))
}

// mergeCall merges the difference between the arguments of before and after into call. ok is false if call calls another
// function, or lacks an argument of before.
func (r *Registry) mergeCall(call *ast.CallExpr, before, after string) (merged string, ok bool) {
	function, beforeArgs := arguments(before)
	_, afterArgs := arguments(after)
	args := make([]string, len(call.Args))
	for i, arg := range call.Args {
		args[i] = r.text(arg)
	}
	args, ok = MergeList(args, beforeArgs, afterArgs)
	return function + "(" + strings.Join(args, ", ") + ")", ok && r.text(call.Fun) == function
}

// arguments returns the function and the arguments of a call that the generator has written. These arguments contain no commas.
func arguments(call string) (function string, args []string) {
	function, list, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
	return function, strings.Split(list, ", ")
}

// MergeList merges the difference between the lists before and after into current: it removes the items that only before has, and
// inserts each item that only after has behind its predecessor in after. ok is false if current lacks an item of before.
func MergeList(current, before, after []string) (merged []string, ok bool) {
	for _, item := range before {
		if !slices.Contains(current, item) {
			return nil, false
		}
	}
	merged = slices.DeleteFunc(slices.Clone(current), func(item string) bool { return slices.Contains(before, item) && !slices.Contains(after, item) })
	for i, item := range after {
		if slices.Contains(merged, item) {
			continue
		}
		at := 0
		if i > 0 {
			at = slices.Index(merged, after[i-1]) + 1
		}
		merged = slices.Insert(merged, at, item)
	}
	return merged, true
}

// constructor returns the statement "variable := package.New(…)" and its call; nil if there is none.
func (r *Registry) constructor(variable string) (ast.Stmt, *ast.CallExpr) {
	for _, statement := range r.body.List {
		assign, ok := statement.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || r.text(assign.Lhs[0]) != variable {
			continue
		}
		if call, ok := assign.Rhs[0].(*ast.CallExpr); ok && packageOf(call.Fun) != "" {
			return statement, call
		}
	}
	return nil, nil
}

// settingsOf returns the field of Settings whose type is from the package; nil if there is none.
func (r *Registry) settingsOf(pkg string) *ast.Field {
	for _, field := range r.settings.Fields.List {
		if len(field.Names) == 1 && packageOf(field.Type) == pkg {
			return field
		}
	}
	return nil
}

// importOf returns the import of the package with the name; nil if there is none.
func (r *Registry) importOf(pkg string) *ast.ImportSpec {
	for _, spec := range r.file.Imports {
		if importName(spec) == pkg {
			return spec
		}
	}
	return nil
}

// packageOf returns x for an expression x.Name; "" for other expressions.
func packageOf(e ast.Expr) string {
	if selector, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := selector.X.(*ast.Ident); ok {
			return x.Name
		}
	}
	return ""
}

func importPath(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value) // valid: the parser has read it
	return path
}

// importName returns the name of an imported package: the last element of its path, unless the import names it.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(importPath(spec))
}
