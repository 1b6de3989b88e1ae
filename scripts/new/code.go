package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
)

// source is a Go file of the tree, as it is parsed and changed.
type source struct {
	name    string // its path in the tree
	text    []byte
	file    *ast.File
	changed bool
}

// code is the Go code of the tree's main module.
type code struct {
	module  string
	fset    *token.FileSet
	folders map[string][]*source // by folder
	exports map[string]string    // export data of what is imported and not the tree's own, by import path
	foreign types.Importer
	own     map[string]*types.Package // checked already
}

// unit is what is checked together: a package, a package with its internal tests, or its external tests.
type unit struct {
	folder string
	path   string // import path
	files  []*source
	tests  bool // some files are tests
}

// parseCode parses the Go files of the tree's main module: those that stand in no folder with a go.mod of its own, and
// that the go command would look at.
func parseCode(files tree, module string) (*code, error) {
	c := &code{module: module, fset: token.NewFileSet(), folders: map[string][]*source{}, own: map[string]*types.Package{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !files.isMainModule(name) {
			continue
		}
		s := &source{name: name, text: files[name].text}
		if err := c.parse(s); err != nil {
			return nil, err
		}
		c.folders[path.Dir(name)] = append(c.folders[path.Dir(name)], s)
	}
	return c, nil
}

func (c *code) parse(s *source) (err error) {
	s.file, err = parser.ParseFile(c.fset, s.name, s.text, parser.ParseComments|parser.SkipObjectResolution)
	return err
}

// matches reports whether this machine's go command compiles the file.
func (s *source) matches() bool {
	context := build.Default
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(s.text)), nil }
	ok, err := context.MatchFile(path.Dir(s.name), path.Base(s.name))
	return ok && err == nil
}

func (s *source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

// importPath is that of the package in a folder.
func (c *code) importPath(folder string) string { return path.Join(c.module, folder) }

// folderOf is the folder of an own package.
func (c *code) folderOf(importPath string) (folder string, own bool) {
	if importPath == c.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, c.module+"/")
}

// imports are the import paths of a file.
func (s *source) imports() []string {
	var out []string
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// loadExports asks the go command for the export data of every package that the code imports and that is not its own.
// dir is a folder of a module that has them among its dependencies.
func (c *code) loadExports(dir string) error {
	wanted := map[string]bool{}
	for _, sources := range c.folders {
		for _, s := range sources {
			for _, p := range s.imports() {
				if _, own := c.folderOf(p); !own && p != "C" && p != "unsafe" && s.matches() {
					wanted[p] = true
				}
			}
		}
	}
	c.exports = map[string]string{}
	c.importForeign()
	if len(wanted) == 0 {
		return nil
	}
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, slices.Sorted(maps.Keys(wanted))...)
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the go command cannot load the dependencies: %w\n%s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		c.exports[p.ImportPath] = p.Export
	}
	return nil
}

// importForeign makes the importer of what loadExports has found.
func (c *code) importForeign() {
	c.foreign = importer.ForCompiler(c.fset, "gc", func(p string) (io.ReadCloser, error) {
		if c.exports[p] == "" {
			return nil, fs.ErrNotExist
		}
		return os.Open(c.exports[p])
	})
}

// Import is types.Importer's. Own packages must have been checked before.
func (c *code) Import(p string) (*types.Package, error) {
	if _, own := c.folderOf(p); !own {
		return c.foreign.Import(p)
	}
	if pkg := c.own[p]; pkg != nil {
		return pkg, nil
	}
	return nil, fs.ErrNotExist
}

// units are the units of the code, each after those that it imports.
func (c *code) units() ([]unit, error) {
	var all []unit
	for _, folder := range slices.Sorted(maps.Keys(c.folders)) {
		plain := unit{folder: folder, path: c.importPath(folder)}
		internal, external := plain, plain
		internal.tests, external.tests = true, true
		external.path += "_test"
		hasInternal := false
		for _, s := range c.folders[folder] {
			switch {
			case !s.matches():
			case !s.isTest():
				plain.files = append(plain.files, s)
				internal.files = append(internal.files, s)
			case strings.HasSuffix(s.file.Name.Name, "_test"):
				external.files = append(external.files, s)
			default:
				internal.files = append(internal.files, s)
				hasInternal = true
			}
		}
		if len(plain.files) > 0 {
			all = append(all, plain)
		}
		if hasInternal {
			all = append(all, internal)
		}
		if len(external.files) > 0 {
			all = append(all, external)
		}
	}
	return c.order(all)
}

// order puts packages behind those that they import, and tests behind all packages.
func (c *code) order(all []unit) ([]unit, error) {
	var ordered, tests []unit
	byPath := map[string]unit{}
	for _, u := range all {
		if u.tests {
			tests = append(tests, u)
		} else {
			byPath[u.path] = u
		}
	}
	state := map[string]int{} // 1: being visited, 2: done
	var visit func(p string) error
	visit = func(p string) error {
		u, known := byPath[p]
		switch {
		case !known || state[p] == 2:
			return nil
		case state[p] == 1:
			return fmt.Errorf("%s imports itself", p)
		}
		state[p] = 1
		for _, s := range u.files {
			for _, imported := range s.imports() {
				if err := visit(imported); err != nil {
					return err
				}
			}
		}
		state[p] = 2
		ordered = append(ordered, u)
		return nil
	}
	for _, u := range all {
		if err := visit(u.path); err != nil {
			return nil, err
		}
	}
	return append(ordered, tests...), nil
}

// fault is a mistake that the type checker found.
type fault struct {
	file *source
	pos  token.Pos
	text string
}

// checked is what the type checker says of a unit.
type checked struct {
	pkg    *types.Package
	info   *types.Info
	faults []fault
	files  []*ast.File
}

// check type-checks a unit.
func (c *code) check(u unit) checked {
	out := checked{info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
	}}
	byFile := map[*token.File]*source{}
	files := make([]*ast.File, len(u.files))
	for i, s := range u.files {
		files[i] = s.file
		out.files = append(out.files, s.file)
		byFile[c.fset.File(s.file.Pos())] = s
	}
	config := types.Config{
		Importer: c, Sizes: types.SizesFor("gc", build.Default.GOARCH),
		Error: func(err error) {
			var e types.Error
			if errors.As(err, &e) && e.Pos.IsValid() {
				out.faults = append(out.faults, fault{byFile[c.fset.File(e.Pos)], e.Pos, e.Msg})
			} else {
				out.faults = append(out.faults, fault{nil, token.NoPos, err.Error()})
			}
		},
	}
	out.pkg, _ = config.Check(u.path, c.fset, files, out.info) // errors are among the faults
	return out
}
