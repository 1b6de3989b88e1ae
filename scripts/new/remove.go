package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// edit replaces the bytes from one offset to another.
type edit struct {
	from, to int
	with     string
}

// apply makes the edits that neither overlap nor touch each other, and leaves the others, the inner ones, to the next
// round.
func apply(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out []byte
	end := 0
	for i, e := range edits {
		if i > 0 && e.from < end {
			continue
		}
		out = append(out, text[end:e.from]...)
		out = append(out, e.with...)
		end = e.to
	}
	return append(out, text[end:]...)
}

// remover finds what of a file has to go with a node of it.
type remover struct {
	*source
	fset  *token.FileSet
	table bool // a test, or a program of tables: a row goes as a whole, and so does what a row is made by
	test  bool // test code: a function that makes something dead goes as a whole
	isMap func(*ast.CompositeLit) bool
	info  *types.Info // nil before the type checker has looked
}

// unknown reports whether the name of a field is that of none.
func (r *remover) unknown(key ast.Expr) bool {
	name, ok := key.(*ast.Ident)
	return ok && r.info != nil && r.info.Uses[name] == nil
}

func (r *remover) offset(p token.Pos) int { return r.fset.Position(p).Offset }

// enclosing is the path from the file to the innermost node around a position.
func enclosing(file *ast.File, pos token.Pos) (path []ast.Node) {
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos >= n.End() {
			return false
		}
		if _, isComment := n.(*ast.CommentGroup); isComment {
			return false
		}
		if len(path) > 0 && n.End() > path[len(path)-1].End() { // the type of a method begins before its receiver
			return false
		}
		path = append(path, n)
		return true
	})
	return path
}

// element is a removal out of a list.
type element struct {
	list  ast.Node // *ast.CompositeLit, *ast.CallExpr, …
	index int
	nodes []ast.Node // all of the list
}

// target is what goes: an edit or an element of a list.
type target struct {
	edit    *edit
	element *element
	path    []ast.Node // of the element's list
	inner   bool       // it is less than a declaration, or a field of one
}

// target climbs from the dead node, the last of the path, to the smallest thing around it that may stand alone.
func (r *remover) target(path []ast.Node) (t target, ok bool) {
	t, ok = r.climb(path)
	if len(path) > 2 {
		if f, isFunc := path[1].(*ast.FuncDecl); isFunc && ok {
			t.inner = t.edit == nil || t.edit.from > r.offset(f.Pos())
		}
	}
	return t, ok
}

func (r *remover) climb(path []ast.Node) (t target, ok bool) {
	var row *target
	dead := path[len(path)-1]
	if len(path) == 2 { // a declaration as a whole
		return r.lines(dead), true
	}
	whole := false // it runs beside the test, which waits for it: the test goes as a whole
	for i := len(path) - 1; i > 0; i-- {
		child := path[i]
		if whole = whole || r.test && row == nil && runsBeside(child); whole {
			if _, isFunc := path[i-1].(*ast.FuncDecl); !isFunc {
				continue
			}
		}
		switch parent := path[i-1].(type) {
		case *ast.GenDecl:
			if row != nil {
				return *row, true
			}
			spec := child.(ast.Spec)
			if values, isValues := spec.(*ast.ValueSpec); isValues && len(values.Names) > 1 && len(values.Names) == len(values.Values) {
				if e, found := r.pair(values.Names, values.Values, path[i+1]); found {
					return target{edit: &e}, true
				}
			}
			if len(parent.Specs) > 1 {
				return r.lines(spec), true
			}
			if _, isStatement := path[i-2].(*ast.DeclStmt); isStatement {
				continue
			}
			return r.lines(parent), true
		case *ast.FuncDecl:
			if row != nil {
				return *row, true
			}
			return r.lines(parent), true
		case *ast.CompositeLit:
			if child == parent.Type {
				continue
			}
			e := target{element: &element{list: parent, index: indexOf(parent.Elts, child), nodes: nodesOf(parent.Elts)}, path: path[:i]}
			pair, keyed := child.(*ast.KeyValueExpr)
			switch {
			case r.isMap(parent):
				if !r.table {
					return e, true
				}
				row = &e
			case keyed && (!r.table || pair.Key == dead || r.unknown(pair.Key)):
				return e, true
			case !keyed && !r.table: // the field goes with it, or there are too few
				return e, true
			}
		case *ast.BinaryExpr:
			if parent.Op == token.LOR { // without an operand of && it would be true more often
				e := edit{from: r.offset(parent.X.End()), to: r.offset(parent.Y.End())}
				if child == parent.X {
					e = edit{from: r.offset(parent.X.Pos()), to: r.offset(parent.Y.Pos())}
				}
				return target{edit: &e}, true
			}
		case *ast.CallExpr:
			if index := indexOf(parent.Args, child); index >= 0 && !r.table && parent.Ellipsis == 0 {
				if name := called(parent); index > 0 && name == "append" || name == "errors.Join" {
					return target{element: &element{list: parent, index: index, nodes: nodesOf(parent.Args)}, path: path[:i]}, true
				}
			}
		case *ast.FieldList:
			switch path[i-2].(type) {
			case *ast.StructType, *ast.InterfaceType:
				return r.lines(child), true
			}
		case *ast.CaseClause:
			if index := indexOf(parent.List, child); index >= 0 {
				if len(parent.List) > 1 {
					return target{element: &element{list: parent, index: index, nodes: nodesOf(parent.List)}, path: path[:i]}, true
				}
				continue
			}
			if t, found := r.statement(path[:i+1], parent.Body, row); found {
				return t, true
			}
		case *ast.CommClause:
			if child == parent.Comm {
				continue
			}
			if t, found := r.statement(path[:i+1], parent.Body, row); found {
				return t, true
			}
		case *ast.BlockStmt:
			if t, found := r.statement(path[:i+1], parent.List, row); found {
				return t, true
			}
		case *ast.IfStmt:
			if child == parent.Else && row == nil && !r.within(path[:i]) { // an else that is dead as a whole
				e := edit{from: r.offset(parent.Body.End()), to: r.offset(parent.Else.End())}
				if inner, isIf := parent.Else.(*ast.IfStmt); isIf && inner.Else != nil {
					e = edit{from: r.offset(inner.Pos()), to: r.offset(inner.Else.Pos())}
				}
				return target{edit: &e}, true
			}
		case *ast.AssignStmt:
			if len(parent.Lhs) > 1 && len(parent.Lhs) == len(parent.Rhs) && row == nil && !r.within(path[:i]) {
				if e, found := r.pair(parent.Lhs, parent.Rhs, child); found {
					return target{edit: &e}, true
				}
			}
		}
	}
	return target{}, false
}

// runsBeside reports whether a node is of a goroutine, or speaks to one.
func runsBeside(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt, *ast.SendStmt:
		return true
	case *ast.CallExpr:
		return strings.HasSuffix(called(n), ".Go")
	}
	return false
}

// within reports whether a test's statement stands in a function literal that has a purpose as a whole: there
// no statement goes alone.
func (r *remover) within(path []ast.Node) bool {
	if !r.table {
		return false
	}
	for i := len(path) - 1; i > 0; i-- {
		if _, isLiteral := path[i].(*ast.FuncLit); isLiteral {
			if call, isCall := path[i-1].(*ast.CallExpr); !isCall || !strings.HasSuffix(called(call), ".Run") {
				return true
			}
		}
	}
	return false
}

// statement is the removal of a statement of a list, the last node of the path. It is not found where the statement
// cannot go without what is around it.
func (r *remover) statement(path []ast.Node, list []ast.Stmt, row *target) (target, bool) {
	if row != nil {
		return *row, true
	}
	if r.within(path) {
		return target{}, false
	}
	child := path[len(path)-1]
	switch n := child.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return target{}, false
	case *ast.IfStmt:
		if n.Else != nil {
			e := edit{from: r.offset(n.Pos()), to: r.offset(n.Else.Pos())}
			if block, isBlock := n.Else.(*ast.BlockStmt); isBlock {
				inner := string(r.text[r.offset(block.Lbrace)+1 : r.offset(block.Rbrace)])
				e = edit{r.offset(n.Pos()), r.offset(n.End()), strings.TrimSpace(inner)}
			}
			return target{edit: &e}, true
		}
	}
	if len(list) == 1 {
		if f, inFunc := path[len(path)-3].(*ast.FuncDecl); !inFunc || !isTestFunc(f) {
			return target{}, false
		}
	}
	return r.lines(child), true
}

// pair removes one of several assigned values with what it is assigned to.
func (r *remover) pair(left, right any, child ast.Node) (edit, bool) {
	l, rr := nodesOf(left), nodesOf(right)
	index := max(slices.Index(l, child), slices.Index(rr, child))
	if index < 0 {
		return edit{}, false
	}
	var lt, rt []string
	for i := range l {
		if i != index {
			lt = append(lt, r.textOf(l[i]))
			rt = append(rt, r.textOf(rr[i]))
		}
	}
	between := string(r.text[r.offset(l[len(l)-1].End()):r.offset(rr[0].Pos())])
	return edit{
		r.offset(l[0].Pos()), r.offset(rr[len(rr)-1].End()),
		strings.Join(lt, ", ") + between + strings.Join(rt, ", "),
	}, true
}

func (r *remover) textOf(n ast.Node) string {
	return string(r.text[r.offset(n.Pos()):r.offset(n.End())])
}

// lines is the removal of a node with its lines, where it has lines of its own, and the comments above it.
func (r *remover) lines(n ast.Node) target {
	from, to := r.offset(n.Pos()), r.offset(n.End())
	from, to = ownLines(r.text, from, to)
	return target{edit: &edit{from: from, to: to}}
}

// ownLines widens a range to whole lines, if nothing else stands on them, with the line comments right above, and one of
// the blank lines around, if there would be two or one at the edge of a block.
func ownLines(text []byte, from, to int) (int, int) {
	start := bytes.LastIndexByte(text[:from], '\n') + 1
	if len(bytes.TrimSpace(text[start:from])) > 0 {
		return from, to
	}
	end := len(text)
	if i := bytes.IndexByte(text[to:], '\n'); i >= 0 {
		end = to + i + 1
	}
	rest := bytes.TrimSpace(text[to:end])
	rest = bytes.TrimSpace(bytes.TrimLeft(rest, ",;"))
	if len(rest) > 0 && !bytes.HasPrefix(rest, []byte("//")) {
		return from, to
	}
	from, to = start, end
	for from > 0 {
		above := bytes.LastIndexByte(text[:from-1], '\n') + 1
		line := bytes.TrimSpace(text[above : from-1])
		if !bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("//go:")) && above == 0 {
			break
		}
		from = above
	}
	before := bytes.TrimRight(text[:from], " \t")
	blankBefore := bytes.HasSuffix(before, []byte("\n\n"))
	opens := bytes.HasSuffix(before, []byte("{\n")) || bytes.HasSuffix(before, []byte("(\n")) || bytes.HasSuffix(before, []byte(":\n"))
	after := text[to:]
	blankAfter := len(after) > 0 && after[0] == '\n'
	closing := bytes.TrimSpace(after)
	closes := len(closing) == 0 || closing[0] == '}' || closing[0] == ')'
	switch {
	case blankAfter && (blankBefore || opens):
		to++
	case blankBefore && closes:
		from--
	}
	return from, to
}

// of is the edit that takes an element out of its list.
func (r *remover) of(e *element) edit {
	n := e.nodes[e.index]
	from, to := r.offset(n.Pos()), r.offset(n.End())
	after := to
	for after < len(r.text) && (r.text[after] == ' ' || r.text[after] == '\t') {
		after++
	}
	comma := after < len(r.text) && r.text[after] == ','
	if comma {
		to = after + 1
	}
	if start, end := ownLines(r.text, from, to); start != from {
		return edit{from: start, to: end}
	}
	next := to
	for next < len(r.text) && (r.text[next] == ' ' || r.text[next] == '\t') {
		next++
	}
	switch {
	case comma && r.text[next] != '\n' && r.text[next] != '/':
		return edit{from: from, to: next}
	case e.index == 0:
		return edit{from: from, to: to}
	case comma: // the last of its line
		return edit{from: r.afterComma(e.nodes[e.index-1]), to: to}
	}
	return edit{from: r.offset(e.nodes[e.index-1].End()), to: to}
}

// empty takes out all elements of a list. One that had lines of its own is followed by an empty line, so that gofmt does
// not align it with what follows: it can have lines again.
func (r *remover) empty(list *ast.CompositeLit) []edit {
	from, to := r.offset(list.Lbrace)+1, r.offset(list.Rbrace)
	edits := []edit{{from: from, to: to}}
	if next := r.text[to+1:]; bytes.Contains(r.text[from:to], []byte("\n")) && bytes.HasPrefix(next, []byte(",\n")) && next[2] != '\n' {
		edits = append(edits, edit{to + 2, to + 2, "\n"})
	}
	return edits
}

func (r *remover) afterComma(n ast.Node) int {
	end := r.offset(n.End())
	return end + bytes.IndexByte(r.text[end:], ',') + 1
}

// formatted is the file as gofmt has it.
func formatted(text []byte) ([]byte, error) { return format.Source(text) }

// called is the name of what a call calls: "f" or "x.f".
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}

// isTestFunc reports whether the go command runs the function.
func isTestFunc(f *ast.FuncDecl) bool {
	if f.Recv != nil {
		return false
	}
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if strings.HasPrefix(f.Name.Name, prefix) {
			return true
		}
	}
	return false
}

func indexOf[N ast.Node](list []N, n ast.Node) int {
	return slices.IndexFunc(list, func(x N) bool { return ast.Node(x) == n })
}

func nodesOf(list any) []ast.Node {
	var out []ast.Node
	switch list := list.(type) {
	case []ast.Expr:
		for _, x := range list {
			out = append(out, x)
		}
	case []*ast.Ident:
		for _, x := range list {
			out = append(out, x)
		}
	}
	return out
}
