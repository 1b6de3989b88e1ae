package codemod

import (
	"go/ast"
	"path"
	"slices"
	"strconv"

	"example.com/ginseng/scripts/internal/registry"
)

// moved has the new import paths of packages, below the runtime.
var moved = map[string]string{
	"/kit/emailaddress": "/kit/email/address",
	"/kit/emaillink":    "/kit/email/link",
}

// moveImports changes the imports of moved packages. If the file or the top level of its package already uses the new package name
// for something else, the import keeps the former name as its alias.
func moveImports(p *pkg) {
	for _, f := range p.files {
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			for from, to := range moved {
				if imported != runtime+from {
					continue
				}
				text := strconv.Quote(runtime + to)
				if old, next := path.Base(from), path.Base(to); spec.Name == nil && (f.names(next) || p.declares(f.Name.Name, next)) {
					text = old + " " + text
				} else if spec.Name == nil {
					f.renamePackage(old, next)
				}
				f.replace(spec.Path, text)
			}
		}
	}
}

// names reports whether the file has an identifier with the name that does not follow a dot.
func (f *file) names(name string) bool {
	found := false
	registry.EachName(f.File, nil, func(id *ast.Ident) { found = found || id.Name == name })
	return found
}

// declares reports whether a file of the package in declares the name at the top level. A directory can also have a package for
// external tests.
func (p *pkg) declares(in, name string) bool {
	found := false
	for _, f := range p.files {
		if f.Name.Name != in {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				found = found || n.Recv == nil && n.Name.Name == name
				return false
			case *ast.TypeSpec:
				found = found || n.Name.Name == name
				return false
			case *ast.ValueSpec:
				found = found || slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return id.Name == name })
				return false
			}
			return true
		})
	}
	return found
}

func (f *file) renamePackage(from, to string) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && isIdent(selector.X, from) {
			f.replace(selector.X, to)
		}
		return true
	})
}

// rename renames Recorded of kit.Deps to Resources and telemetry.Metered to kit.Metered, adds the parameter caller to functions
// that replace Insert of a testkit.Resource (see addCaller), and adds Resources, which must not be nil, to the kit.Deps of a package that
// opens resources.
func rename(p *pkg) {
	opens := false
	for _, f := range p.files {
		ast.Inspect(f.File, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			opens = opens || ok && isSelector(e, "resource", "Open")
			return !opens
		})
	}
	for _, f := range p.files {
		for _, decl := range f.Decls {
			deps := map[string]bool{"kit": true}
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncType:
					for _, field := range n.Params.List {
						for _, name := range field.Names {
							deps[name.Name] = deps[name.Name] || isSelector(field.Type, "kit", "Deps")
						}
					}
				case *ast.SelectorExpr:
					if isSelector(n, "telemetry", "Metered") {
						f.replace(n, "kit.Metered")
						f.needs[runtime+"/kit"] = true
					}
					if x, ok := n.X.(*ast.Ident); ok && deps[x.Name] && n.Sel.Name == "Recorded" {
						f.replace(n.Sel, "Resources")
					} else if inner, ok := n.X.(*ast.SelectorExpr); ok && inner.Sel.Name == "Recorded" && n.Sel.Name == "All" {
						f.replace(n.Sel, "Recorded")
					}
				case *ast.KeyValueExpr:
					if isIdent(n.Key, "Recorded") && f.isRecorded(n.Value) {
						f.replace(n.Key, "Resources")
					}
				case *ast.CompositeLit:
					if opens {
						f.addResources(n)
					}
				case *ast.AssignStmt:
					f.addCaller(n)
				}
				return true
			})
		}
	}
}

// isRecorded reports whether the value of a field Recorded contains a selector .Recorded, such as d.Recorded, so that the field belongs
// to kit.Deps.
func (f *file) isRecorded(value ast.Expr) bool {
	found := false
	ast.Inspect(value, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		found = found || ok && selector.Sel.Name == "Recorded"
		return true
	})
	return found
}

// addResources adds the field Resources to a kit.Deps with a DB.
func (f *file) addResources(deps *ast.CompositeLit) {
	if deps.Type == nil || !isSelector(deps.Type, "kit", "Deps") {
		return
	}
	var db *ast.KeyValueExpr
	for _, element := range deps.Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if !ok || isIdent(field.Key, "Resources") || isIdent(field.Key, "Recorded") {
			return
		}
		if isIdent(field.Key, "DB") {
			db = field
		}
	}
	if db != nil {
		f.insert(db.End(), ", Resources: &kit.Resources{}")
	}
}

// addCaller adds the parameter caller to the function in r.Insert = func(api *testkit.API, record map[string]any) store.ID, and
// to its calls of the function that it replaces.
func (f *file) addCaller(assign *ast.AssignStmt) {
	if len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return
	}
	field, ok := assign.Lhs[0].(*ast.SelectorExpr)
	function, isFunction := assign.Rhs[0].(*ast.FuncLit)
	if !ok || !isFunction || field.Sel.Name != "Insert" {
		return
	}
	parameters := function.Type.Params.List
	if len(parameters) != 2 {
		return
	}
	pointer, ok := parameters[0].Type.(*ast.StarExpr)
	if !ok || !isSelector(pointer.X, "testkit", "API") {
		return
	}
	used := false
	ast.Inspect(function.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && isIdent(call.Fun, "insert") && len(call.Args) == 2 {
			f.insert(call.Args[1].Pos(), "caller, ")
			used = true
		}
		return true
	})
	name := "_"
	if used {
		name = "caller"
	}
	f.insert(parameters[1].Pos(), name+" testkit.Caller, ")
}

// findPatches adds a remark to each call of Apply of a store.Patch that ignores the result. In the third release, Apply returned
// nothing.
func findPatches(p *pkg) {
	for _, f := range p.files {
		for _, decl := range f.Decls {
			patches := map[string]bool{}
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncType:
					for _, field := range n.Params.List {
						if of, ok := field.Type.(*ast.IndexExpr); ok && isSelector(of.X, "store", "Patch") {
							for _, name := range field.Names {
								patches[name.Name] = true
							}
						}
					}
				case *ast.AssignStmt: // in, err := rest.BindPatch[Fields](g)
					if call, ok := n.Rhs[0].(*ast.CallExpr); ok {
						of, ok := call.Fun.(*ast.IndexExpr)
						if in, named := n.Lhs[0].(*ast.Ident); ok && named && isSelector(of.X, "rest", "BindPatch") {
							patches[in.Name] = true
						}
					}
				case *ast.ExprStmt:
					call, ok := n.X.(*ast.CallExpr)
					if !ok {
						break
					}
					method, ok := call.Fun.(*ast.SelectorExpr)
					if !ok || method.Sel.Name != "Apply" {
						break
					}
					if x, ok := method.X.(*ast.Ident); ok && patches[x.Name] {
						p.remark(f, f.text(n), "Apply returns an error now, if an object breaks a limit: return it")
					}
				}
				return true
			})
		}
	}
}
