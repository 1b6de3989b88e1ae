package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// pruner takes out of the code what names something that is gone.
type pruner struct {
	*code
	dead    gone
	lost    map[string]bool           // folders of which a file is left out
	before  map[string]bool           // tests that were there
	touched map[string]bool           // folders of which something has gone
	names   map[string]map[string]int // how often a folder's code, tests aside, named something before
}

// newPruner takes the code that is kept, and the whole before anything was left out: what that names is noted.
func newPruner(c, whole *code, g gone) *pruner {
	p := &pruner{code: c, dead: g, before: whole.tests(), lost: map[string]bool{}, touched: map[string]bool{}, names: map[string]map[string]int{}}
	for name := range g.paths {
		p.touched[path.Dir(name)] = true
		p.lost[path.Dir(name)] = path.Ext(name) == ".go" || p.lost[path.Dir(name)]
	}
	for folder, sources := range whole.folders {
		names := map[string]int{}
		for _, s := range sources {
			if s.isTest() {
				continue
			}
			identifiers(s.file, names)
		}
		p.names[folder] = names
	}
	return p
}

// rounds bounds the work on one unit: each round removes something, so that more of them are a mistake of this program.
const rounds = 200

// prune works through all units, each after those that it imports.
func (p *pruner) prune() error {
	units, err := p.units()
	if err != nil {
		return err
	}
	for _, u := range units {
		if err := p.unit(u); err != nil {
			return err
		}
	}
	after := p.tests()
	for name := range p.before {
		p.dead.tests[name] = !after[name]
	}
	for _, u := range units { // programs that name tests
		if strings.HasPrefix(u.folder, "scripts/") {
			if u.files = slices.DeleteFunc(u.files, func(s *source) bool { return s.file == nil }); len(u.files) == 0 {
				continue
			}
			if err := p.unit(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// tests are the names of all tests.
func (c *code) tests() map[string]bool {
	out := map[string]bool{}
	for _, sources := range c.folders {
		for _, s := range sources {
			for _, d := range s.file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && s.isTest() && isTestFunc(f) {
					out[f.Name.Name] = true
				}
			}
		}
	}
	return out
}

// unit prunes a unit until the type checker finds nothing wrong with it, and nothing in it is left over.
func (p *pruner) unit(u unit) error {
	for range rounds {
		targets, err := p.round(u)
		if err != nil {
			return err
		}
		if len(targets) == 0 {
			return nil
		}
		for s, edits := range targets {
			if err := p.edit(s, edits); err != nil {
				return err
			}
		}
		u.files = slices.DeleteFunc(u.files, func(s *source) bool { return s.file == nil })
		if len(u.files) == 0 || u.tests && !slices.ContainsFunc(u.files, (*source).isTest) {
			return nil
		}
	}
	return fmt.Errorf("%s does not become whole", u.path)
}

// edit changes a file. One in which nothing is left is gone: its syntax tree is nil.
func (p *pruner) edit(s *source, edits []edit) error {
	s.text, s.changed = append(bytes.TrimRight(apply(s.text, edits), "\n"), '\n'), true
	p.touched[path.Dir(s.name)] = true
	if err := p.parse(s); err != nil {
		return fmt.Errorf("%s cannot be pruned: %w\n%s", s.name, err, s.text)
	}
	if !slices.ContainsFunc(s.file.Decls, func(d ast.Decl) bool { return !isImport(d) }) && path.Base(s.name) != "doc.go" && s.file.Doc == nil {
		p.drop(s)
	}
	return nil
}

func (p *pruner) drop(s *source) {
	folder := path.Dir(s.name)
	p.folders[folder] = slices.DeleteFunc(p.folders[folder], func(other *source) bool { return other == s })
	s.text, s.file = nil, nil
}

func isImport(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return ok && g.Tok == token.IMPORT
}

// round is what has to go next, by file: first imports of what is gone and texts that name it, then what the type checker
// does not know or finds unused, then what nothing uses any more.
func (p *pruner) round(u unit) (map[*source][]edit, error) {
	var dead, words []death
	for _, s := range u.files {
		if u.tests && !s.isTest() {
			continue
		}
		dead = append(dead, p.deadImports(s)...)
		compared, others, named := p.deadTexts(s)
		if dead = append(dead, compared...); len(compared) == 0 {
			dead = append(dead, others...)
		}
		words = append(words, named...)
	}
	if len(dead) > 0 {
		return p.edits(u, nil, dead)
	}
	chk := p.check(u)
	if !u.tests {
		p.own[u.path] = chk.pkg
	}
	for _, f := range chk.faults {
		d, err := p.diagnose(chk, f)
		if err != nil {
			return nil, err
		}
		dead = append(dead, d)
	}
	if len(dead) == 0 {
		dead = words
	}
	if len(dead) == 0 {
		dead = p.leftOver(u, chk)
	}
	return p.edits(u, chk.info, dead)
}

// death is a node that has to go, or an edit that mends what an earlier one left.
type death struct {
	file *source
	path []ast.Node
	mend *edit
}

// deadImports are the imports of own packages that are gone.
func (p *pruner) deadImports(s *source) (out []death) {
	for _, spec := range s.file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		folder, own := p.folderOf(imported)
		if own && !slices.ContainsFunc(p.folders[folder], func(s *source) bool { return !s.isTest() }) {
			out = append(out, death{file: s, path: enclosing(s.file, spec.Path.Pos())[:3]})
		}
	}
	return out
}

// deadTexts are the literals that name something that is gone: those that something is compared with, which come first since
// what depends on the comparison goes with it; others; and mere words, which come last.
func (p *pruner) deadTexts(s *source) (compared, others, words []death) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			_, isField := n.(*ast.Field)
			return isField && n.(*ast.Field).Tag == nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil && p.dead.text(s, text) {
					switch path := enclosing(s.file, n.Pos()); {
					case p.dead.words[text] && !isCompared(path):
						words = append(words, death{file: s, path: path})
					case isCompared(path):
						compared = append(compared, death{file: s, path: path})
					case p.dead.isRoute(text):
						others = append(others, death{file: s, path: p.ofRequest(s, path)})
					default:
						others = append(others, death{file: s, path: path})
					}
				}
			}
		}
		return true
	})
	return compared, others, words
}

// isCompared reports whether a literal is a case, or an operand of == or !=.
func isCompared(path []ast.Node) bool {
	switch n := path[len(path)-2].(type) {
	case *ast.CaseClause:
		return true
	case *ast.BinaryExpr:
		return n.Op == token.EQL || n.Op == token.NEQ
	}
	return false
}

// ofRequest widens the path of a dead text in a test's helper to the helper, if it makes no request but dead ones.
func (p *pruner) ofRequest(s *source, path []ast.Node) []ast.Node {
	f, isFunc := path[1].(*ast.FuncDecl)
	if !isFunc || isTestFunc(f) || !s.isTest() && !strings.HasPrefix(s.name, "kit/testkit/") {
		return path
	}
	if p.requests(f, s) {
		return path
	}
	return path[:2]
}

// requests reports whether a node names a route that is there.
func (p *pruner) requests(n ast.Node, s *source) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value)
			found = found || p.dead.isRoute(text) && !p.dead.text(s, text)
		}
		return true
	})
	return found
}

// diagnose finds what a fault of the type checker is about.
func (p *pruner) diagnose(chk checked, f fault) (death, error) {
	if f.file == nil {
		return death{}, fmt.Errorf("the template does not build without this: %s", f.text)
	}
	path := enclosing(f.file.file, f.pos)
	offset := p.fset.Position(f.pos).Offset
	refusal := fmt.Errorf("the template cannot do without what is left out: %s: %s", p.place(f.file, f.pos), f.text)
	if len(path) == 0 {
		return death{}, refusal
	}
	last := path[len(path)-1]
	if slices.ContainsFunc(path, func(n ast.Node) bool { _, ok := n.(*ast.ImportSpec); return ok }) {
		return death{file: f.file, path: path[:3]}, nil
	}
	if ident, ok := last.(*ast.Ident); ok {
		if object, defined := chk.info.Defs[ident]; defined && strings.HasPrefix(f.text, "declared and not used") {
			return p.unused(f.file, path, ident, object), nil
		}
		if chk.info.Uses[ident] == nil {
			return death{file: f.file, path: path}, nil
		}
	}
	if strings.HasPrefix(f.text, "no new variables") {
		if loop, ok := last.(*ast.RangeStmt); ok {
			return death{file: f.file, mend: &edit{p.fset.Position(loop.Key.Pos()).Offset, p.fset.Position(loop.Range).Offset, ""}}, nil
		}
		return death{file: f.file, mend: &edit{offset, offset + len(":="), "="}}, nil
	}
	if r := p.remover(f.file, chk.info); r.table {
		for i, n := range path {
			if _, isFunc := n.(*ast.FuncDecl); isFunc {
				return death{file: f.file, path: path[:i+1]}, nil
			}
		}
	}
	return death{}, refusal
}

// place is a file and the line of it: the text, since the number is that of no file.
func (p *pruner) place(s *source, pos token.Pos) string {
	line := p.fset.Position(pos).Line
	return fmt.Sprintf("%s: %s", s.name, bytes.TrimSpace(bytes.Split(s.text, []byte("\n"))[line-1]))
}

// unused is the removal of a variable that nothing reads.
func (p *pruner) unused(s *source, path []ast.Node, ident *ast.Ident, _ types.Object) death {
	parent := path[len(path)-2]
	blank := &edit{p.fset.Position(ident.Pos()).Offset, p.fset.Position(ident.End()).Offset, "_"}
	switch n := parent.(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 && s.isTest() && p.requests(n.Rhs[0], s) { // what it does to the service counts
			return death{file: s, mend: &edit{p.fset.Position(n.Pos()).Offset, p.fset.Position(n.TokPos).Offset + len(":="), "_ ="}}
		}
		last, isName := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		if isError := isName && (last.Name == "err" || last.Name == "ok"); isError && p.remover(s, nil).table {
			return death{file: s, path: path[:len(path)-1]}
		}
		if len(n.Lhs) > 1 && len(n.Rhs) == 1 {
			for _, other := range n.Lhs {
				if id, ok := other.(*ast.Ident); !ok || id != ident && id.Name != "_" {
					return death{file: s, mend: blank}
				}
			}
		}
	case *ast.RangeStmt:
		key, isName := n.Key.(*ast.Ident)
		switch {
		case n.Value == ident && isName && key.Name == "_", n.Key == ident && n.Value == nil:
			return death{file: s, mend: &edit{p.fset.Position(n.Key.Pos()).Offset, p.fset.Position(n.Range).Offset, ""}}
		case n.Value == ident:
			return death{file: s, mend: &edit{p.fset.Position(n.Key.End()).Offset, p.fset.Position(ident.End()).Offset, ""}}
		}
		return death{file: s, mend: blank}
	case *ast.ValueSpec:
		if len(n.Names) > 1 && len(n.Values) == 0 {
			i := slices.Index(n.Names, ident)
			e := &edit{from: p.fset.Position(ident.Pos()).Offset}
			if i+1 < len(n.Names) {
				e.to = p.fset.Position(n.Names[i+1].Pos()).Offset
			} else {
				e.from, e.to = p.fset.Position(n.Names[i-1].End()).Offset, p.fset.Position(ident.End()).Offset
			}
			return death{file: s, mend: e}
		}
	}
	return death{file: s, path: path}
}

func (p *pruner) remover(s *source, info *types.Info) *remover {
	folder := path.Dir(s.name)
	return &remover{
		source: s, fset: p.fset, test: s.isTest(), table: s.isTest() || strings.HasPrefix(folder, "scripts/"),
		info:  info,
		isMap: func(lit *ast.CompositeLit) bool { return isList(info, lit) },
	}
}

// mayShrink reports whether statements and parts of them may go from a file: from tests, programs, the registry, and what
// is made for tests, and from a module of which a file is left out. A library loses whole declarations or nothing: what else it does would not be what it says.
func (p *pruner) mayShrink(s *source) bool {
	folder := path.Dir(s.name)
	partOfModule := strings.HasPrefix(folder, "modules/") && p.lost[folder]
	return s.isTest() || s.file.Name.Name == "main" || folder == "modules" || folder == "kit/testkit" || partOfModule
}

// isList reports whether a literal is of a list or map, and not of a struct.
func isList(info *types.Info, lit *ast.CompositeLit) bool {
	switch lit.Type.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true
	case *ast.StructType:
		return false
	}
	if info != nil {
		if t := info.Types[lit].Type; t != nil {
			switch t.Underlying().(type) {
			case *types.Slice, *types.Array, *types.Map:
				return true
			case *types.Struct, *types.Pointer:
				return false
			}
		}
	}
	if lit.Type != nil { // a named type that is not known: url.Values and http.Header are maps
		selector, ok := lit.Type.(*ast.SelectorExpr)
		return ok && (selector.Sel.Name == "Values" || selector.Sel.Name == "Header" || selector.Sel.Name == "MapClaims")
	}
	// A literal within another: a struct, if it has keys that are names.
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			_, isName := kv.Key.(*ast.Ident)
			return !isName
		}
	}
	return false
}

// edits turns deaths into edits. A list of which every element goes is empty then; in a table it is dead as a whole.
func (p *pruner) edits(u unit, info *types.Info, dead []death) (map[*source][]edit, error) {
	out := map[*source][]edit{}
	for len(dead) > 0 {
		lists := map[ast.Node]map[int]*element{}
		homes := map[ast.Node]death{}
		for _, d := range dead {
			if d.mend != nil {
				out[d.file] = append(out[d.file], *d.mend)
				continue
			}
			t, ok := p.remover(d.file, info).target(d.path)
			if ok && t.inner && !p.mayShrink(d.file) {
				ok = false
			}
			switch {
			case !ok:
				return nil, fmt.Errorf("the template cannot do without what is left out: %s", p.place(d.file, d.path[len(d.path)-1].Pos()))
			case t.edit != nil:
				out[d.file] = append(out[d.file], *t.edit)
			default:
				if lists[t.element.list] == nil {
					lists[t.element.list] = map[int]*element{}
				}
				lists[t.element.list][t.element.index] = t.element
				homes[t.element.list] = death{file: d.file, path: t.path}
			}
		}
		dead = nil
		for list, elements := range lists {
			home := homes[list]
			r := p.remover(home.file, info)
			for _, e := range elements {
				if len(elements) < len(e.nodes) {
					out[home.file] = append(out[home.file], r.of(e))
					continue
				}
				literal, isLiteral := list.(*ast.CompositeLit)
				if r.table || !isLiteral {
					dead = append(dead, home)
				} else { // it is there for what may come
					out[home.file] = append(out[home.file], r.empty(literal)...)
				}
				break
			}
		}
	}
	return out, nil
}
