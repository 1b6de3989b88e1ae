package registry

import (
	"go/ast"
	"go/format"
	"go/token"
	"slices"
	"strings"
)

// text returns the source of a node.
func (r *Registry) text(n ast.Node) string {
	return string(r.source[r.offset(n.Pos()):r.offset(n.End())])
}

func (r *Registry) offset(p token.Pos) int          { return r.set.Position(p).Offset }
func (r *Registry) line(p token.Pos) int            { return r.set.Position(p).Line }
func (r *Registry) between(open, end token.Pos) int { return r.offset(end) - r.offset(open) - 1 }

// lineStart returns the offset of the start of the line that contains p.
func (r *Registry) lineStart(p token.Pos) int {
	return r.offset(p) - r.set.Position(p).Column + 1
}

// lineEnd returns the offset after the end of the line that contains p.
func (r *Registry) lineEnd(p token.Pos) int {
	if i := strings.IndexByte(string(r.source[r.offset(p):]), '\n'); i >= 0 {
		return r.offset(p) + i + 1
	}
	return len(r.source)
}

// cut returns the edit that deletes the lines of a node.
func (r *Registry) cut(n ast.Node) Edit {
	start := r.lineStart(n.Pos())
	return Edit{start, r.lineEnd(n.End()) - start, ""}
}

// Edit replaces Length bytes at Offset with Text.
type Edit struct {
	Offset, Length int
	Text           string
}

// Apply makes the edits and returns the formatted source. The edits must not overlap. Apply sorts the slice edits by offset.
func Apply(source []byte, edits []Edit) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Offset - b.Offset })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, source[at:e.Offset]...), e.Text...)
		at = e.Offset + e.Length
	}
	return format.Source(append(out, source[at:]...))
}
