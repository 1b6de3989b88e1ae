package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/swaggo/swag"
	"golang.org/x/tools/go/ast/astutil"

	"example.com/ginseng/scripts/internal/registry"
)

// mergeFile merges the difference between before and after, two generated versions of a Go file, into the current version. If
// lines conflict, merged is nil, and conflicts has the conflicting lines with git's markers.
func mergeFile(name string, current, before, after []byte) (merged []byte, conflicts string, err error) {
	switch {
	case bytes.Equal(before, after):
		return current, "", nil
	case bytes.Equal(current, before):
		return after, "", nil
	}
	dir, err := os.MkdirTemp("", "ginseng-merge-")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	arguments := []string{"merge-file", "-p", "-L", "yours", "-L", "before", "-L", "generated"}
	for i, source := range mergeParts(mergeParameters(current, before, after)) {
		text, err := unaligned(source)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		file := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, "", err
		}
		arguments = append(arguments, file)
	}
	merged, err = exec.Command("git", arguments...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128 {
		if conflicts = string(bytes.Join(conflict.FindAll(merged, -1), nil)); conflicts != "" {
			return nil, conflicts, nil
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("git merge-file: %w", err)
	}
	if merged, err = format.Source(merged); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if bytes.Contains(merged, []byte("//\t@")) || bytes.Contains(merged, []byte("// @")) {
		merged, err = swag.NewFormatter().Format(name, merged)
	}
	return merged, "", err
}

// mergeParameters merges the parameters of New in the three versions of a module.go, and returns the versions with the merged
// parameters. Otherwise, git would report a conflict if the user and the generator both add a parameter. mergeParameters does not
// change other files.
func mergeParameters(current, before, after []byte) [3][]byte {
	versions := [3][]byte{current, before, after}
	var lists [3][]string
	var at [3]registry.Edit
	for i, source := range versions {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
		if err != nil {
			return versions
		}
		list := parametersOfNew(file)
		if list == nil {
			return versions
		}
		offset := func(p token.Pos) int { return set.Position(p).Offset }
		for _, p := range list.List {
			lists[i] = append(lists[i], string(source[offset(p.Pos()):offset(p.End())]))
		}
		at[i] = registry.Edit{Offset: offset(list.Opening) + 1, Length: offset(list.Closing) - offset(list.Opening) - 1}
	}
	merged, ok := registry.MergeList(lists[0], lists[1], lists[2])
	if !ok {
		return versions
	}
	out := versions
	for i, source := range versions {
		at[i].Text = strings.Join(merged, ", ")
		changed, err := registry.Apply(source, at[i:i+1])
		if err != nil {
			return versions
		}
		out[i] = changed
	}
	return out
}

// parametersOfNew returns the parameters of the function New; nil if there is none.
func parametersOfNew(file *ast.File) *ast.FieldList {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "New" {
			return f.Type.Params
		}
	}
	return nil
}

// mergeParts adds the migrations to kit.Parts in current and before if after has them. Otherwise, git would report a conflict if
// the user has added other parts. If Parts does not return a literal in current, mergeParts changes nothing, so that the conflict
// shows the new line.
func mergeParts(versions [3][]byte) [3][]byte {
	if bytes.Contains(versions[2], []byte(migrationsPart)) && !bytes.Contains(versions[1], []byte(migrationsPart)) {
		if current := addMigrationsPart(versions[0]); current != nil {
			versions[0], versions[1] = current, addMigrationsPart(versions[1])
		}
	}
	return versions
}

// migrationsPart is the field of kit.Parts of a module with a migrations.go.
const migrationsPart = "Migrations: m.migrations()"

// addMigrationsPart adds migrationsPart to the kit.Parts that the method Parts returns, and returns the new source of the file. It
// returns nil if Parts does not return a literal.
func addMigrationsPart(source []byte) []byte {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	list := returned(file, "Parts")
	if list == nil {
		return nil
	}
	e := registry.Edit{Offset: set.Position(list.Lbrace).Offset + 1, Text: migrationsPart + ", "}
	if source[e.Offset] == '\n' {
		e.Text = "\n" + migrationsPart + ","
	}
	changed, _ := registry.Apply(source, []registry.Edit{e})
	return changed
}

// hasMigrations reports whether the kit.Parts that the method Parts returns in a module.go has Migrations.
func hasMigrations(source []byte) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	parts := returned(file, "Parts")
	return parts != nil && slices.ContainsFunc(parts.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		field, ok := pair.Key.(*ast.Ident)
		return ok && field.Name == "Migrations"
	})
}

// conflict matches a conflict in a merged file.
var conflict = regexp.MustCompile(`(?ms)^<<<<<<< .*?^>>>>>>> [^\n]*\n`)

// unaligned returns Go source without the spaces that align columns. With these spaces, a longer name would change the
// neighboring lines, and cause conflicts.
func unaligned(source []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var raw, out bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat, Tabwidth: 8}).Fprint(&raw, set, file); err != nil {
		return nil, err
	}
	for line := range strings.Lines(raw.String()) {
		if annotation, ok := strings.CutPrefix(line, "//\t@"); ok {
			line = "//\t@" + strings.Join(strings.FieldsFunc(strings.TrimSuffix(annotation, "\n"), func(r rune) bool { return r == '\t' }), " ") + "\n"
		}
		out.WriteString(line)
	}
	return out.Bytes(), nil
}

const migrationsFile = "migrations.go"

// addMigration adds a migration with the steps to the source of migrations.go, and returns the new source. source is nil if the
// file does not exist.
func (r Resource) addMigration(source []byte, steps []string) ([]byte, error) {
	if source == nil {
		files, err := r.renderFiles(migrationsFile)
		if err != nil {
			return nil, err
		}
		source = files[migrationsFile]
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	list := returned(file, "migrations")
	if list == nil {
		return nil, errors.New("the method migrations must return a literal list; add this migration by hand:\n" + r.migration(1, steps))
	}
	number := 1
	for bytes.Contains(source, []byte(strconv.Quote(r.migrationName(number)))) {
		number++
	}
	at := set.Position(list.Rbrace).Offset
	for at > 0 && (source[at-1] == '\t' || source[at-1] == ' ') {
		at--
	}
	text := r.migration(number, steps)
	if source[at-1] != '\n' {
		text = "\n" + text
	}
	source, err = registry.Apply(source, []registry.Edit{{Offset: at, Text: text}})
	if err != nil || !strings.Contains(text, "[store.") {
		return source, err
	}
	set = token.NewFileSet()
	if file, err = parser.ParseFile(set, "", source, parser.ParseComments); err != nil {
		return nil, err
	}
	astutil.AddImport(set, file, runtime+"/kit/store")
	var out bytes.Buffer
	err = format.Node(&out, set, file)
	return out.Bytes(), err
}

// returned returns the composite literal that a method of Module returns; nil if the method is missing or does not end by returning
// a literal. The first letter of the name can be a capital, too: in earlier versions, migrations was exported.
func returned(file *ast.File, name string) *ast.CompositeLit {
	for _, d := range file.Decls {
		method, ok := d.(*ast.FuncDecl)
		capital := strings.ToUpper(name[:1]) + name[1:]
		if !ok || !isOfModule(method) || method.Name.Name != name && method.Name.Name != capital || method.Body == nil || len(method.Body.List) == 0 {
			continue
		}
		if result, ok := method.Body.List[len(method.Body.List)-1].(*ast.ReturnStmt); ok && len(result.Results) == 1 {
			list, _ := result.Results[0].(*ast.CompositeLit)
			return list
		}
	}
	return nil
}

// isOfModule reports whether the receiver of a function is Module or *Module.
func isOfModule(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return false
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	name, ok := of.(*ast.Ident)
	return ok && name.Name == "Module"
}

func (r Resource) migrationName(number int) string { return fmt.Sprintf("%s-%d", r.Name, number) }

// migration returns the Go code of a migration.
func (r Resource) migration(number int, steps []string) string {
	return fmt.Sprintf("{\nName: %q, Collection: m.controller.service.%s.Engine(),\nSteps: []migrate.Step{\n%s,\n},\n},\n",
		r.migrationName(number), r.Collection(), strings.Join(steps, ",\n"))
}
