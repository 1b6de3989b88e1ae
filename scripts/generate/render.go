package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
)

//go:embed templates
var templateFiles embed.FS

// fileNames are those of a module, in the order in which one reads them.
var fileNames = []string{
	"module.go", "router.go", "controller.go", "service.go", "model.go", "model_test.go", "service_test.go", "router_test.go",
}

// render is the module's files, by name.
func (r Resource) render() (map[string][]byte, error) {
	set, err := template.New("").ParseFS(templateFiles, "templates/*.tmpl")
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(fileNames))
	for _, name := range fileNames {
		var buf bytes.Buffer
		if err := set.ExecuteTemplate(&buf, name+".tmpl", r); err != nil {
			return nil, err
		}
		source, err := tidy(buf.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, buf.Bytes())
		}
		files[name] = source
	}
	return files, nil
}

// tidy lays out the source as gofmt and swag fmt do. The templates import whatever any resource may need; what this one
// does not need is left out.
func tidy(source []byte) ([]byte, error) {
	source, err := dropImports(source)
	if err != nil {
		return nil, err
	}
	if source, err = alignAnnotations(source); err != nil {
		return nil, err
	}
	return format.Source(source)
}

// dropImports leaves out the imports that nothing uses.
func dropImports(source []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	var edits []edit
	for _, spec := range file.Imports {
		if begin := set.Position(spec.Pos()).Offset; !used[importName(spec)] {
			edits = append(edits, edit{begin - len("\t"), set.Position(spec.End()).Offset + len("\n"), ""})
		}
	}
	out := string(apply(source, edits))
	return []byte(strings.Replace(out, "import (\n\n", "import (\n", 1)), nil
}

var annotation = regexp.MustCompile(`^//\s+(@\S+)\s*(.*)`)

// alignAnnotations sets the annotations of each comment in columns, as swag fmt does: make docs shall have nothing to
// change.
func alignAnnotations(source []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, group := range file.Comments {
		var buf bytes.Buffer
		columns := tabwriter.NewWriter(&buf, 1, 4, 1, '\t', 0)
		var places []edit
		for _, comment := range group.List {
			m := annotation.FindStringSubmatch(comment.Text)
			if m == nil {
				continue
			}
			line := "//\t" + m[1]
			if m[2] != "" {
				line += "\t" + splitColumns(m[1], m[2])
			}
			_, _ = fmt.Fprintln(columns, line) // to memory
			begin := set.Position(comment.Pos()).Offset
			places = append(places, edit{begin: begin, end: begin + len(comment.Text)})
		}
		_ = columns.Flush()
		lines := strings.Split(buf.String(), "\n")
		for i, place := range places {
			edits = append(edits, edit{place.begin, place.end, lines[i]})
		}
	}
	return apply(source, edits), nil
}

// splitColumns puts a tab between the parts of an annotation that has several; a part in quotes or brackets stays whole.
func splitColumns(attribute, body string) string {
	if !slices.Contains([]string{"@Param", "@Success", "@Failure", "@Header"}, attribute) {
		return body
	}
	closing := map[byte]byte{'"': '"', '(': ')', '{': '}', '[': ']'}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		end, opens := closing[body[i]]
		switch {
		case opens:
			last := strings.IndexByte(body[i+1:], end)
			if last < 0 {
				return b.String() + body[i:]
			}
			b.WriteString(body[i : i+last+2])
			i += last + 1
		case body[i] == ' ':
			b.WriteByte('\t')
		default:
			b.WriteByte(body[i])
		}
	}
	return b.String()
}

// edit replaces the bytes from begin to end.
type edit struct {
	begin, end int
	text       string
}

// apply makes edits, which do not overlap.
func apply(source []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.begin - b.begin })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, source[at:e.begin]...), e.text...)
		at = e.end
	}
	return append(out, source[at:]...)
}

var importLine = regexp.MustCompile(`(?m)^\t(?:(\w+) )?"([^"]+)"$`)

// templateImports are the names of the packages that any template imports.
func templateImports() []string {
	var out []string
	for _, name := range fileNames {
		source, err := templateFiles.ReadFile("templates/" + name + ".tmpl")
		if err != nil {
			panic(err) // they are embedded
		}
		for _, m := range importLine.FindAllStringSubmatch(string(source), -1) {
			if pkg := path.Base(m[2]); !slices.Contains(out, pkg) {
				out = append(out, pkg)
			}
		}
	}
	return out
}
