// Package registry edits modules/modules.go, which lists the modules of a project. It has, for each module, one import, at
// most one field of Settings, one line that calls the constructor, and one entry in the list that New returns.
package registry

import (
	"cmp"
	"fmt"
	"go/format"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Path is the registry's path from the project's root.
const Path = "modules/modules.go"

// Module is the registry's entry of a module.
type Module struct {
	Import   string // import path, such as example.com/shop/modules/password-reset
	Package  string // package name, such as passwordreset
	Variable string // variable in New, which is also the entry in the list, such as resets
	Call     string // call of the constructor, such as passwordreset.New(d, s.PasswordReset, users)
	Settings string // field of Settings, such as PasswordReset passwordreset.Settings; "" if the module has none
}

// ImportSpec returns the import in Go: the quoted path, after the package name if the path does not end with that.
func (m Module) ImportSpec() string {
	if path.Base(m.Import) == m.Package {
		return strconv.Quote(m.Import)
	}
	return m.Package + " " + strconv.Quote(m.Import)
}

// Constructor returns the constructor line.
func (m Module) Constructor() string { return m.Variable + " := " + m.Call }

// Registry is the formatted source of a registry: texts[0], blocks[0], texts[1], blocks[1] and so on, then rest.
type Registry struct {
	texts  []string
	blocks [4][]string // lines
	rest   string
}

// The blocks of a registry: the imports, the fields of Settings, the body of New, and the list that New returns.
const imports, settings, body, list = 0, 1, 2, 3

// openBlocks puts the braces of an empty Settings and of an empty list on two lines, so that both are blocks of lines.
// closeSettings undoes that for Settings.
var (
	openBlocks    = strings.NewReplacer("\ntype Settings struct{}\n", "\ntype Settings struct {\n}\n", "\n\treturn []kit.Module{}\n", "\n\treturn []kit.Module{\n\t}\n")
	closeSettings = strings.NewReplacer("\ntype Settings struct {\n}\n", "\ntype Settings struct{}\n")
)

// severalEntries matches a line of the list with more than one module, constructorLine a line such as x := pkg.New(d).
var (
	severalEntries  = regexp.MustCompile(`^\w+, \w`)
	constructorLine = regexp.MustCompile(`^(\w+) := ((\w+)\.\w+\(.*)$`)
)

// Parse parses a registry. It returns an error unless the source has, in this order, an import declaration in parentheses, a
// struct Settings, and func New(d kit.Deps, s Settings) []kit.Module that ends by returning a list with one module per line.
func Parse(source []byte) (*Registry, error) {
	formatted, err := format.Source(source)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", Path, err)
	}
	const newFunction = "func New(d kit.Deps, s Settings) that ends by returning a list of modules"
	r := &Registry{rest: openBlocks.Replace(string(formatted))}
	for i, b := range []struct{ begin, end, missing string }{
		imports:  {"\nimport (", "\n)\n", "import declaration in parentheses"},
		settings: {"\ntype Settings struct {", "\n}\n", "struct Settings"},
		body:     {"\nfunc New(d kit.Deps, s Settings) []kit.Module {", "\n\treturn []kit.Module{\n", newFunction},
		list:     {"\n\treturn []kit.Module{", "\n\t}\n}\n", newFunction},
	} {
		before, after, found := strings.Cut(r.rest, b.begin)
		lines, rest, closed := strings.Cut(after, b.end)
		if !found || !closed {
			return nil, fmt.Errorf("%s has no %s", Path, b.missing)
		}
		r.texts, r.blocks[i], r.rest = append(r.texts, before+b.begin), strings.Split(lines, "\n")[1:], b.end+rest
	}
	if r.find(list, severalEntries.MatchString) >= 0 {
		return nil, fmt.Errorf("the list in %s has more than one module per line", Path)
	}
	return r, nil
}

// Source returns the formatted source of the registry.
func (r *Registry) Source() ([]byte, error) {
	out := ""
	for i, text := range r.texts {
		out += strings.Join(append([]string{text}, r.blocks[i]...), "\n")
	}
	return format.Source([]byte(closeSettings.Replace(out + r.rest)))
}

// code returns a line without its comment, and with single spaces between words.
func code(line string) string {
	line, _, _ = strings.Cut(line, "//")
	return strings.Join(strings.Fields(line), " ")
}

// find returns the index of the first line of a block whose code matches, or -1.
func (r *Registry) find(block int, match func(code string) bool) int {
	return slices.IndexFunc(r.blocks[block], func(line string) bool { return match(code(line)) })
}

// insert inserts a line before line i of a block, or at its end if i is negative.
func (r *Registry) insert(block, i int, line string) {
	if i < 0 {
		i = len(r.blocks[block])
	}
	r.blocks[block] = slices.Insert(r.blocks[block], i, line)
}

// findImport returns the index of the line that imports a package, findSetting that of the field of Settings whose type is
// from it, findConstructor that of the constructor line of a variable, and findEntry that of its list entry.
func (r *Registry) findImport(pkg string) int {
	return r.find(imports, func(code string) bool { name, _ := parseImport(code); return name == pkg })
}

func (r *Registry) findSetting(pkg string) int {
	return r.find(settings, func(code string) bool { return strings.Contains(code, " "+pkg+".") })
}

func (r *Registry) findConstructor(variable string) int {
	return r.find(body, func(code string) bool {
		found := constructorLine.FindStringSubmatch(code)
		return found != nil && found[1] == variable
	})
}

func (r *Registry) findEntry(variable string) int {
	return r.find(list, func(code string) bool { return code == variable+"," })
}

// parseImport returns the package's name, which is the last element of its path if code has none, and its path.
func parseImport(code string) (name, importPath string) {
	name, quoted, named := strings.Cut(code, " ")
	importPath = strings.Trim(cmp.Or(quoted, name), `"`)
	if !named {
		name = path.Base(importPath)
	}
	return name, importPath
}

// Modules returns the modules in the order of the list, without those that no line of their own constructs.
func (r *Registry) Modules() []Module {
	var out []Module
	for _, entry := range r.blocks[list] {
		variable := strings.TrimSuffix(code(entry), ",")
		line := r.findConstructor(variable)
		if line < 0 {
			continue
		}
		found := constructorLine.FindStringSubmatch(code(r.blocks[body][line]))
		m := Module{Variable: variable, Call: found[2], Package: found[3]}
		if i := r.findImport(m.Package); i >= 0 {
			_, m.Import = parseImport(code(r.blocks[imports][i]))
		}
		if i := r.findSetting(m.Package); i >= 0 {
			m.Settings = code(r.blocks[settings][i])
		}
		out = append(out, m)
	}
	return out
}

// Uses reports whether the registry uses an identifier, so that a new import or variable must have another name.
func (r *Registry) Uses(name string) bool {
	mentions := func(line string) bool { return uses(line, name) }
	others := strings.Split(strings.Join(r.texts, "\n")+r.rest, "\n")
	if token.IsKeyword(name) {
		return false
	}
	return r.findImport(name) >= 0 || r.find(body, mentions) >= 0 || r.find(list, mentions) >= 0 ||
		slices.ContainsFunc(others, func(line string) bool { return mentions(code(line)) })
}

// uses reports whether code has the identifier name, other than after a dot.
func uses(code, name string) bool {
	return regexp.MustCompile(`(^|[^.\w])` + name + `\b`).MatchString(code)
}

// Insert adds a module. It keeps the imports and settings in alphabetical order. It inserts the constructor line and the
// list entry before those of the first list entry that is one of the variables in before, or at the end if there is none.
func (r *Registry) Insert(m Module, before ...string) {
	constructor, entry := -1, r.find(list, func(code string) bool { return slices.Contains(before, strings.TrimSuffix(code, ",")) })
	if entry >= 0 {
		constructor = r.findConstructor(strings.TrimSuffix(code(r.blocks[list][entry]), ","))
	}
	r.insert(body, constructor, m.Constructor())
	r.insert(list, entry, m.Variable+",")
	r.insert(imports, r.find(imports, func(code string) bool { // gofmt sorts the group
		_, other := parseImport(code)
		return path.Dir(other) == path.Dir(m.Import)
	}), m.ImportSpec())
	if m.Settings != "" {
		r.insert(settings, r.find(settings, func(code string) bool { return code > m.Settings }), m.Settings)
	}
}

// Remove removes a module. It returns an error if the module is missing, if its lines differ from m, or if other code uses
// its variable.
func (r *Registry) Remove(m Module) error {
	modules := r.Modules()
	i := slices.IndexFunc(modules, func(other Module) bool { return other.Import == m.Import })
	switch {
	case i < 0:
		return fmt.Errorf("%s does not create a module of %s", Path, m.Import)
	case modules[i] != m:
		return fmt.Errorf("%s was edited: it has %q instead of %q", Path, modules[i].Constructor(), m.Constructor())
	}
	lines := [4]int{r.findImport(m.Package), r.findSetting(m.Package), r.findConstructor(m.Variable), r.findEntry(m.Variable)}
	for _, block := range []int{body, list} {
		for i, line := range r.blocks[block] {
			if i != lines[block] && uses(code(line), m.Variable) {
				return fmt.Errorf("%s uses %s: %s", Path, m.Variable, strings.TrimSpace(line))
			}
		}
	}
	for block, i := range lines {
		if i >= 0 {
			r.blocks[block] = slices.Delete(r.blocks[block], i, i+1)
		}
	}
	return nil
}

// Replace replaces the constructor call of m by that of next. If the new call uses variables that later constructor lines
// declare, Replace moves these lines before it. It returns an error if the constructor line differs from that of m.
func (r *Registry) Replace(m, next Module) error {
	at := r.findConstructor(m.Variable)
	if at < 0 || code(r.blocks[body][at]) != m.Constructor() {
		return fmt.Errorf("%s was edited: it does not have %q", Path, m.Constructor())
	}
	lines, needed := r.blocks[body], next.Call
	var moved []string
	for i := len(lines) - 1; i > at; i-- { // backward, because a moved line can need lines before it
		if found := constructorLine.FindStringSubmatch(code(lines[i])); found != nil && uses(needed, found[1]) {
			needed += " " + found[2]
			moved = append([]string{lines[i]}, moved...)
			lines = slices.Delete(lines, i, i+1)
		}
	}
	lines[at] = strings.Replace(lines[at], m.Call, next.Call, 1)
	r.blocks[body] = slices.Insert(lines, at, moved...)
	return nil
}

// Keep removes the modules for which keep returns false. Errors are those of Remove.
func (r *Registry) Keep(keep func(Module) bool) error {
	for _, m := range slices.Backward(r.Modules()) {
		if keep(m) {
			continue
		}
		if err := r.Remove(m); err != nil {
			return err
		}
	}
	return nil
}

// Merge adds the modules of another registry that this one lacks. Each is inserted before the modules that follow it in the
// other registry.
func (r *Registry) Merge(other *Registry) {
	var following []string
	for _, m := range slices.Backward(other.Modules()) {
		if !slices.ContainsFunc(r.Modules(), func(o Module) bool { return o.Import == m.Import }) {
			r.Insert(m, following...)
		}
		following = append([]string{m.Variable}, following...)
	}
}
