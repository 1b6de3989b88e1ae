package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/swaggo/swag"
	"golang.org/x/tools/go/ast/astutil"
)

//go:embed templates
var templateFiles embed.FS

// mergedFiles are the files of a module into which a change of fields is merged. fileNames are all files of a new module;
// router_test.go is never changed later.
var (
	mergedFiles = []string{"module.go", "router.go", "controller.go", "service.go", "model.go", fixturesFile}
	fileNames   = append(slices.Clone(mergedFiles), "router_test.go")
)

// fixturesFile is the table of the generated tests.
const fixturesFile = "fixtures_test.go"

func (r Resource) render() (map[string][]byte, error) { return r.renderFiles(fileNames...) }

// renderFiles returns the files with the names, formatted.
func (r Resource) renderFiles(names ...string) (map[string][]byte, error) {
	set, err := template.New("").Funcs(template.FuncMap{"join": strings.Join, "roleConstant": roleConstant, "title": goName}).ParseFS(templateFiles, "templates/*.tmpl")
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		var buf bytes.Buffer
		source := name
		if r.Name == "organization" { // its templates are not those of users
			source = "organization_" + name
		}
		if err := set.ExecuteTemplate(&buf, source+".tmpl", r); err != nil {
			return nil, err
		}
		rendered, err := removeUnusedImports(buf.Bytes())
		if err == nil && name == "controller.go" {
			rendered, err = swag.NewFormatter().Format(name, rendered) // aligns the annotations
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, buf.Bytes())
		}
		files[name] = rendered
	}
	return files, nil
}

// removeUnusedImports removes the imports that the source does not use: the templates import the packages that any resource can
// need.
func removeUnusedImports(source []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, spec := range slices.Clone(file.Imports) {
		importPath, _ := strconv.Unquote(spec.Path.Value) // valid: the parser has read it
		if !astutil.UsesImport(file, importPath) {
			name := ""
			if spec.Name != nil {
				name = spec.Name.Name
			}
			astutil.DeleteNamedImport(set, file, name, importPath)
		}
	}
	var buf bytes.Buffer
	err = format.Node(&buf, set, file)
	return buf.Bytes(), err
}
