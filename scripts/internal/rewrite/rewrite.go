// Package rewrite changes Go files of the template for a project. It finds the places to change in the syntax tree.
package rewrite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"example.com/ginseng/scripts/internal/registry"
)

// File is a Go file with changes. Bytes makes the changes, which must not overlap.
type File struct {
	source []byte
	set    *token.FileSet
	file   *ast.File
	edits  []registry.Edit
}

// Parse parses a Go file.
func Parse(source []byte) (*File, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.ParseComments)
	return &File{source: source, set: set, file: file}, err
}

// Bytes makes the changes and returns the formatted file. If there are no changes, it returns the source.
func (f *File) Bytes() ([]byte, error) {
	if len(f.edits) == 0 {
		return f.source, nil
	}
	return registry.Apply(f.source, f.edits)
}

// replace changes the source of n to text.
func (f *File) replace(n ast.Node, text string) {
	f.edits = append(f.edits, registry.Edit{Offset: f.set.Position(n.Pos()).Offset, Length: int(n.End() - n.Pos()), Text: text})
}

// cut deletes the lines of n.
func (f *File) cut(n ast.Node) {
	file := f.set.File(n.Pos())
	start, end := file.Offset(file.LineStart(file.Line(n.Pos()))), file.Size()
	if last := file.Line(n.End()); last < file.LineCount() {
		end = file.Offset(file.LineStart(last + 1))
	}
	f.edits = append(f.edits, registry.Edit{Offset: start, Length: end - start})
}

// Imports replaces the module path from with the module path to in imports of packages below the given directories of the module.
func (f *File) Imports(from, to string, directories ...string) {
	for _, spec := range f.file.Imports {
		for _, directory := range directories {
			old := strconv.Quote(from + "/" + directory)
			if spec.Path.Value == old || strings.HasPrefix(spec.Path.Value, strings.TrimSuffix(old, `"`)+"/") {
				f.replace(spec.Path, `"`+to+strings.TrimPrefix(spec.Path.Value, `"`+from))
			}
		}
	}
}

// Name sets the field Name of all composite literals to name.
func (f *File) Name(name string) {
	ast.Inspect(f.file, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Name" {
				f.replace(pair.Value, strconv.Quote(name))
			}
		}
		return true
	})
}

// Annotation sets the value of a swag annotation such as @title.
func (f *File) Annotation(annotation, value string) {
	for _, group := range f.file.Comments {
		for _, comment := range group.List {
			if fields := strings.Fields(comment.Text); len(fields) > 2 && fields[1] == annotation {
				f.replace(comment, strings.Replace(comment.Text, strings.Join(fields[2:], " "), value, 1))
			}
		}
	}
}

// Declared returns the names that the file declares at package level, except methods.
func (f *File) Declared() []string {
	var names []string
	for name := range f.file.Scope.Objects {
		names = append(names, name)
	}
	return names
}

// Without deletes struct fields whose type refers to one of the names. It also deletes one-line elements of composite literals
// that refer to one of the names.
func (f *File) Without(names map[string]bool) {
	refers := func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			found = found || ok && names[name.Name]
			return true
		})
		return found
	}
	oneLine := func(n ast.Node) bool { return f.set.Position(n.Pos()).Line == f.set.Position(n.End()).Line }
	gone := map[ast.Node]bool{}
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, field := range n.Fields.List {
				if refers(field.Type) {
					f.cut(field)
				}
			}
		case *ast.CompositeLit:
			for _, element := range n.Elts {
				if oneLine(element) && refers(element) {
					f.cut(element)
					gone[element] = true
				}
			}
		}
		return !gone[n]
	})
}
