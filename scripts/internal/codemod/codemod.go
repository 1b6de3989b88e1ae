// Package codemod rewrites Go code of a project that uses the API of the third release of Ginseng for the next version:
// imports, routers, the methods that became fields of kit.Parts, and annotations. It finds the places to change in the syntax
// tree. What it does not know stays as it is, so that the compiler reports it. Code that is already rewritten does not change.
package codemod

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/swaggo/swag"
	"golang.org/x/tools/go/ast/astutil"

	"example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
)

const runtime = "example.com/ginseng"

// Note is about a place that Rewrite has changed or left, and that a person must look at.
type Note struct {
	File string
	Line int // in the rewritten file
	Text string
}

func (n Note) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }

// Rewrite returns the Go files of a project that change, without those of directories third_party and testdata, and notes in
// the order of the files. It fails if a file is not valid Go.
func Rewrite(project files.Tree) (changed files.Tree, notes []Note, err error) {
	packages := map[string]files.Tree{}
	for name, source := range project {
		if path.Ext(name) == ".go" && !strings.HasPrefix(name, "third_party/") && !slices.Contains(strings.Split(name, "/"), "testdata") {
			if packages[path.Dir(name)] == nil {
				packages[path.Dir(name)] = files.Tree{}
			}
			packages[path.Dir(name)][name] = source
		}
	}
	changed = files.Tree{}
	for _, directory := range slices.Sorted(maps.Keys(packages)) {
		sources := packages[directory]
		var remarks []remark
		resource := false
		for _, pass := range []func(*pkg){moveImports, rewriteRoutes, declareParts, rename, cutAnnotations, findPatches} {
			p, err := parse(sources)
			if err != nil {
				return nil, nil, err
			}
			p.resource = resource
			pass(p)
			resource = p.resource
			if err := p.apply(sources); err != nil {
				return nil, nil, err
			}
			remarks = append(remarks, p.remarks...)
		}
		found := map[remark]int{} // offset after the last place of the same remark
		for _, r := range remarks {
			rest := sources[r.file][found[r]:]
			at := found[r] + max(bytes.Index(rest, []byte(r.code)), 0)
			found[r] = min(at+len(r.code), len(sources[r.file]))
			notes = append(notes, Note{r.file, bytes.Count(sources[r.file][:at], []byte("\n")) + 1, r.text})
		}
		for name, source := range sources {
			if !bytes.Equal(source, project[name]) {
				changed[name] = source
			}
		}
	}
	slices.SortFunc(notes, func(a, b Note) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line) })
	return changed, notes, nil
}

// pkg is the files of a directory, sorted by name.
type pkg struct {
	files    []*file
	remarks  []remark
	resource bool // the package had a router of a resource in the old form
}

// remark is a Note, with the code that it is about instead of its line.
type remark struct{ file, code, text string }

func (p *pkg) remark(f *file, code, text string) {
	p.remarks = append(p.remarks, remark{f.name, code, text})
}

// file is a Go file with edits, which must not overlap.
type file struct {
	*ast.File
	name      string
	source    []byte
	set       *token.FileSet
	edits     []registry.Edit
	needs     map[string]bool // import paths to add
	annotated bool            // annotations changed
}

func parse(sources files.Tree) (*pkg, error) {
	p := &pkg{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, err := parseFile(name, sources[name])
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	return p, nil
}

func parseFile(name string, source []byte) (*file, error) {
	f := &file{name: name, source: source, set: token.NewFileSet(), needs: map[string]bool{}}
	var err error
	f.File, err = parser.ParseFile(f.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}

// apply makes the edits, adds the needed imports, and deletes unused imports of the runtime, of Gin and of context.
func (p *pkg) apply(sources files.Tree) error {
	for _, f := range p.files {
		if len(f.edits) == 0 {
			continue
		}
		source, err := registry.Apply(f.source, f.edits)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if sources[f.name], err = fixImports(f.name, source, slices.Sorted(maps.Keys(f.needs))); err != nil {
			return err
		}
		if f.annotated {
			if sources[f.name], err = swag.NewFormatter().Format(f.name, sources[f.name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func fixImports(name string, source []byte, needed []string) ([]byte, error) {
	f, err := parseFile(name, source)
	if err != nil {
		return nil, err
	}
	for _, path := range needed {
		astutil.AddImport(f.set, f.File, path)
	}
	for _, spec := range slices.Clone(f.Imports) {
		imported, _ := strconv.Unquote(spec.Path.Value)
		ours := strings.HasPrefix(imported, runtime+"/") || imported == "github.com/gin-gonic/gin" || imported == "context"
		if ours && spec.Name == nil && !f.uses(path.Base(imported)) {
			astutil.DeleteImport(f.set, f.File, imported)
		}
	}
	var out bytes.Buffer
	err = format.Node(&out, f.set, f.File)
	return out.Bytes(), err
}

// uses reports whether the file has a selector expression of an identifier, such as name.X.
func (f *file) uses(name string) bool {
	found := false
	ast.Inspect(f.File, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		found = found || ok && isIdent(selector.X, name)
		return !found
	})
	return found
}

func (f *file) offset(p token.Pos) int       { return f.set.Position(p).Offset }
func (f *file) text(n ast.Node) string       { return string(f.source[f.offset(n.Pos()):f.offset(n.End())]) }
func (f *file) replace(n ast.Node, t string) { f.replaceRange(n.Pos(), n.End(), t) }

func (f *file) replaceRange(from, to token.Pos, text string) {
	f.edits = append(f.edits, registry.Edit{Offset: f.offset(from), Length: int(to - from), Text: text})
}

// insert inserts text before p.
func (f *file) insert(p token.Pos, text string) { f.replaceRange(p, p, text) }

// cut deletes the lines of n.
func (f *file) cut(n ast.Node) {
	start, end := f.offset(n.Pos()), f.offset(n.End())
	start = bytes.LastIndexByte(f.source[:start], '\n') + 1
	if i := bytes.IndexByte(f.source[end:], '\n'); i >= 0 {
		end += i + 1
	}
	f.edits = append(f.edits, registry.Edit{Offset: start, Length: end - start})
}

// isIdent reports whether an expression is an identifier with the name.
func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// isSelector reports whether an expression is x.sel.
func isSelector(e ast.Expr, x, sel string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && isIdent(s.X, x) && s.Sel.Name == sel
}

// receiver returns the name of the type of a method's receiver, or "".
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}
