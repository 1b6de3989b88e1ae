package codemod

import (
	"errors"
	"fmt"
	"go/ast"
	"strings"

	"example.com/ginseng/scripts/internal/files"
)

// Resource is a generated module in the trees of an upgrade: the project's own files, and those that the generators of the old
// and of the new version write.
type Resource struct {
	Dir                string // such as modules/product
	Own, Before, After files.Tree
}

// MoveCreate brings the method Create of a generated service over to New and a resource.Creator. In a project whose Create is
// as it was generated, it changes Own and Before, so that they differ from After as little as possible. A project that has
// changed Create keeps it: MoveCreate changes After, and returns the line of Create in Own. Otherwise line is 0. MoveCreate
// does nothing if Before has no Create, or After has one.
func (r Resource) MoveCreate() (line int, err error) {
	before, err := r.read(r.Before)
	if err != nil || before.create == nil {
		return 0, err
	}
	after, err := r.read(r.After)
	if err != nil || after.build == nil || after.create != nil || after.assign == nil || after.call == nil {
		return 0, err
	}
	own, err := r.read(r.Own)
	switch {
	case err != nil:
		return 0, err
	case own.create == nil && own.build != nil && before.movable(): // an upgrade that was killed has changed it
		return 0, before.with(after, r.Before)
	case own.create == nil:
		return 0, nil
	case own.service.declaration(own.create) != before.service.declaration(before.create):
		return own.service.set.Position(own.create.Pos()).Line, after.without(before, r.After)
	case !own.movable() || !before.movable():
		return 0, nil
	}
	return 0, errors.Join(own.with(after, r.Own), before.with(after, r.Before))
}

// creatorParts are the places of a generated module that have to do with the creation of records. They are nil if a file is
// missing or does not have the place.
type creatorParts struct {
	service, module, controller *file
	create, build               *ast.FuncDecl   // of Service: Create, New
	fields                      *ast.FieldList  // of Service
	defined                     ast.Stmt        // service := …
	assign                      *ast.AssignStmt // service.Creator = …
	call                        *ast.CallExpr   // of Create, in the controller
}

func (r Resource) read(tree files.Tree) (p creatorParts, err error) {
	for name, f := range map[string]**file{"/service.go": &p.service, "/module.go": &p.module, "/controller.go": &p.controller} {
		if tree[r.Dir+name] == nil {
			return creatorParts{}, nil
		}
		if *f, err = parseFile(r.Dir+name, tree[r.Dir+name]); err != nil {
			return p, err
		}
	}
	for _, decl := range p.service.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && receiver(f) == "Service" {
			switch f.Name.Name {
			case "Create":
				p.create = f
			case "New":
				p.build = f
			}
		}
	}
	ast.Inspect(p.service.File, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "Service" {
			if s, ok := spec.Type.(*ast.StructType); ok {
				p.fields = s.Fields
			}
		}
		return true
	})
	ast.Inspect(p.module.File, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 {
			if isIdent(assign.Lhs[0], "service") {
				p.defined = assign
			} else if isSelector(assign.Lhs[0], "service", "Creator") {
				p.assign = assign
			}
		}
		return true
	})
	ast.Inspect(p.controller.File, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && strings.HasPrefix(p.controller.text(call), "c.service.") {
			if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Create" {
				p.call = call
			}
		}
		return true
	})
	return p, nil
}

// declaration returns the source of a function with its comment.
func (f *file) declaration(function *ast.FuncDecl) string {
	if function.Doc == nil {
		return f.text(function)
	}
	return string(f.source[f.offset(function.Doc.Pos()):f.offset(function.End())])
}

// movable reports whether the files have all places that the method with changes.
func (p creatorParts) movable() bool {
	return p.create != nil && p.fields != nil && p.defined != nil && p.call != nil
}

// with replaces Create in the files of p by New and the Creator of after.
func (p creatorParts) with(after creatorParts, tree files.Tree) error {
	if after.fields == nil || len(after.fields.List) == 0 || len(after.fields.List[0].Names) > 0 {
		return fmt.Errorf("%s: Service does not begin with its Creator", after.service.name)
	}
	start := p.create.Pos()
	if p.create.Doc != nil {
		start = p.create.Doc.Pos()
	}
	p.service.replaceRange(start, p.create.End(), after.service.declaration(after.build))
	p.service.insert(p.fields.Opening+1, "\n"+after.service.text(after.fields.List[0]))
	p.module.insert(p.defined.End(), "\n"+after.module.text(after.assign))
	p.controller.replace(p.call, after.controller.text(after.call))
	return (&pkg{files: []*file{p.service, p.module, p.controller}}).apply(tree)
}

// without changes the files of after so that they have Create of before instead of New and the Creator.
func (p creatorParts) without(before creatorParts, tree files.Tree) error {
	tree[p.service.name] = before.service.source
	p.module.cut(p.assign)
	p.controller.replace(p.call, before.controller.text(before.call))
	return (&pkg{files: []*file{p.module, p.controller}}).apply(tree)
}
