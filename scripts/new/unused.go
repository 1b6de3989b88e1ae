package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// leftOver are the declarations of a changed package that nothing uses any more: unexported ones, those of tests and of
// programs; and tests in which nothing is tested.
func (p *pruner) leftOver(u unit, chk checked) (dead []death) {
	if !p.touched[u.folder] {
		return nil
	}
	used := p.used(u, chk)
	for _, s := range u.files {
		if u.tests != s.isTest() {
			continue
		}
		if s.changed {
			dead = append(dead, p.emptied(s, chk.info)...)
			dead = append(dead, p.localConstants(s, chk.info, used)...)
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if s.isTest() && isTestFunc(d) {
					if s.changed && isHollow(d) {
						dead = append(dead, death{file: s, path: []ast.Node{s.file, d, d.Name}})
					}
					continue
				}
				if p.goes(u, s, d.Name, chk, used) && d.Name.Name != "TestMain" {
					dead = append(dead, death{file: s, path: []ast.Node{s.file, d, d.Name}})
				}
			case *ast.GenDecl:
				if usesIota(d) {
					continue
				}
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if p.goes(u, s, spec.Name, chk, used) {
							dead = append(dead, death{file: s, path: []ast.Node{s.file, d, spec, spec.Name}})
						} else if fields, ok := spec.Type.(*ast.StructType); ok {
							dead = append(dead, p.leftOverFields(u, s, d, spec, fields, chk, used)...)
						}
					case *ast.ValueSpec:
						if len(spec.Names) == 1 && p.goes(u, s, spec.Names[0], chk, used) {
							dead = append(dead, death{file: s, path: []ast.Node{s.file, d, spec, spec.Names[0]}})
						}
					}
				}
			}
		}
	}
	return dead
}

func (p *pruner) leftOverFields(u unit, s *source, d *ast.GenDecl, spec *ast.TypeSpec, fields *ast.StructType, chk checked, used map[types.Object]bool) (dead []death) {
	for _, f := range fields.Fields.List {
		if len(f.Names) == 1 && f.Tag == nil && !f.Names[0].IsExported() && (p.goes(u, s, f.Names[0], chk, used) || s.isTest() && isUnset(chk, f.Names[0])) {
			dead = append(dead, death{file: s, path: []ast.Node{s.file, d, spec, fields, fields.Fields, f, f.Names[0]}})
		}
	}
	return dead
}

// isUnset reports whether a test's field of a simple type is never given a value: what reads it is dead, too.
func isUnset(chk checked, name *ast.Ident) bool {
	object := chk.info.Defs[name]
	switch object.Type().Underlying().(type) {
	case *types.Basic, *types.Signature:
	default:
		return false
	}
	return !chk.set()[object]
}

// set are the fields that are given a value somewhere.
func (chk checked) set() map[types.Object]bool {
	out := map[types.Object]bool{}
	mark := func(x ast.Expr) {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			out[chk.info.Uses[x.Sel]] = true
		case *ast.Ident:
			out[chk.info.Uses[x]] = true
		}
	}
	for node := range chk.info.Types {
		switch n := node.(type) {
		case *ast.CompositeLit:
			markPositional(chk.info, n, out)
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					mark(pair.Key)
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				mark(n.X)
			}
		}
	}
	for _, f := range chk.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					mark(left)
				}
			case *ast.IncDecStmt:
				mark(n.X)
			case *ast.RangeStmt:
				mark(n.Key)
				mark(n.Value)
			}
			return true
		})
	}
	return out
}

// goes reports whether a declaration is unused, and may go for that.
func (p *pruner) goes(u unit, s *source, name *ast.Ident, chk checked, used map[types.Object]bool) bool {
	object := chk.info.Defs[name]
	if object == nil || name.Name == "_" || name.Name == "main" || name.Name == "init" || used[object] {
		return false
	}
	if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil && name.IsExported() {
		return false
	}
	if name.IsExported() && !s.isTest() && s.file.Name.Name != "main" {
		return false
	}
	// What only tests use was made for them, unless the code itself used it before.
	return s.isTest() || p.usedBefore(u.folder, name.Name)
}

// usedBefore reports whether the folder's code named this before it was pruned, other than where it is declared.
func (p *pruner) usedBefore(folder, name string) bool { return p.names[folder][name] > 1 }

// used are the objects that the unit's code uses, tests aside where it is not one of tests, and not counting what a
// function says of itself.
func (p *pruner) used(u unit, chk checked) map[types.Object]bool {
	used := map[types.Object]bool{}
	for _, s := range u.files {
		for _, d := range s.file.Decls {
			var self, receiver types.Object // what a declaration says of itself is no use
			switch d := d.(type) {
			case *ast.FuncDecl:
				self, receiver = chk.info.Defs[d.Name], receiverOf(chk.info, d)
			case *ast.GenDecl:
				if spec, ok := d.Specs[0].(*ast.TypeSpec); ok && len(d.Specs) == 1 {
					self = chk.info.Defs[spec.Name]
				}
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					if o := chk.info.Uses[n]; o != nil && origin(o) != self && origin(o) != receiver {
						used[origin(o)] = true
					}
				case *ast.CompositeLit:
					markPositional(chk.info, n, used)
				}
				return true
			})
		}
	}
	for _, selection := range chk.info.Selections { // through embedded fields
		used[origin(selection.Obj())] = true
	}
	markInterfaces(chk, used)
	return used
}

// receiverOf is the type of which a method is.
func receiverOf(info *types.Info, f *ast.FuncDecl) (object types.Object) {
	if f.Recv != nil {
		ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && object == nil {
				object = info.Uses[id]
			}
			return true
		})
	}
	return object
}

func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// markPositional marks the fields of a struct that is written without their names.
func markPositional(info *types.Info, lit *ast.CompositeLit, used map[types.Object]bool) {
	if len(lit.Elts) == 0 {
		return
	}
	if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed {
		return
	}
	t := info.Types[lit].Type
	if t == nil {
		return
	}
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			used[origin(f)] = true
		}
	}
}

// markInterfaces marks the unexported methods that an interface of the package asks for.
func markInterfaces(chk checked, used map[types.Object]bool) {
	asked := map[string]bool{}
	for _, o := range chk.info.Defs {
		if name, ok := o.(*types.TypeName); ok {
			if i, ok := name.Type().Underlying().(*types.Interface); ok {
				for m := range i.Methods() {
					asked[m.Name()] = true
				}
			}
		}
	}
	for _, o := range chk.info.Defs {
		if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil && asked[f.Name()] {
			used[o] = true
		}
	}
}

func usesIota(d *ast.GenDecl) bool {
	found := false
	if d.Tok == token.CONST {
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
				found = true
			}
			return !found
		})
	}
	return found
}

// emptied are the loops and conditions of a changed file in which nothing is left to do.
func (p *pruner) emptied(s *source, info *types.Info) (dead []death) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.RangeStmt:
			if t := info.Types[n.X].Type; t != nil {
				if _, isChan := t.Underlying().(*types.Chan); !isChan {
					body = n.Body
				}
			}
		case *ast.IfStmt:
			if n.Else == nil {
				body = n.Body
			}
		}
		if body != nil && len(body.List) == 0 && !p.comments(s, body) {
			path := enclosing(s.file, n.Pos())
			dead = append(dead, death{file: s, path: path[:indexOf(path, n)+1]})
		}
		return true
	})
	return dead
}

// localConstants are the constants of functions that nothing uses, of which the compiler says nothing.
func (p *pruner) localConstants(s *source, info *types.Info, used map[types.Object]bool) (dead []death) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		statement, ok := n.(*ast.DeclStmt)
		if !ok {
			return true
		}
		if d := statement.Decl.(*ast.GenDecl); d.Tok == token.CONST && !usesIota(d) {
			for _, spec := range d.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if object := info.Defs[name]; object != nil && !used[object] && name.Name != "_" {
						dead = append(dead, death{file: s, path: enclosing(s.file, name.Pos())})
					}
				}
			}
		}
		return false
	})
	return dead
}

// comments reports whether there is a comment in a block.
func (p *pruner) comments(s *source, block *ast.BlockStmt) bool {
	for _, group := range s.file.Comments {
		if group.Pos() > block.Pos() && group.End() < block.End() {
			return true
		}
	}
	return false
}

// isHollow reports whether nothing in a test can fail: it makes no use of its testing.T but to set things up.
func isHollow(f *ast.FuncDecl) bool {
	if strings.HasPrefix(f.Name.Name, "Example") {
		return len(f.Body.List) == 0
	}
	if len(f.Type.Params.List) != 1 || len(f.Type.Params.List[0].Names) != 1 {
		return false
	}
	name := f.Type.Params.List[0].Names[0].Name
	if strings.HasPrefix(f.Name.Name, "Fuzz") {
		runs := false
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			runs = runs || ok && called(call) == name+".Fuzz"
			return true
		})
		return !runs
	}
	hollow := true
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch c := called(call); {
			case c == name+".Parallel", c == name+".Helper", c == name+".Context", c == name+".TempDir", c == name+".ReportAllocs", c == "testkit.Start", c == name+".Cleanup", c == name+".Skip", c == "testing.Short":
				for _, arg := range call.Args {
					if id, isIdent := arg.(*ast.Ident); !isIdent || id.Name != name {
						ast.Inspect(arg, visit)
					}
				}
				return false
			}
		}
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			hollow = false
		}
		return true
	}
	ast.Inspect(f.Body, visit)
	return hollow
}
