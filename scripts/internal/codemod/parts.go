package codemod

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// parts are the methods that the server looked for, and the fields of kit.Parts that replace them.
var parts = []struct {
	method     string
	parameters int
	field      string // of kit.Parts, with its value
}{
	{"Jobs", 0, "Jobs: m.Jobs()"},
	{"Run", 1, "Workers: []func(context.Context){m.Run}"},
	{"Close", 1, "Closers: []func(context.Context){m.Close}"},
	{"Migrations", 0, "Migrations: m.Migrations()"},
	{"EmailPreviews", 0, "EmailPreviews: m.EmailPreviews"},
	{"Metrics", 0, "Metrics: m.Metrics()"},
	{"VerifyToken", 2, "Tokens: m"},
	{"VerifyKey", 3, "APIKeys: m"},
	{"VerifyPassword", 4, "Passwords: m"},
	{"VerifySecondFactor", 4, "SecondFactors: m"},
}

// gone matches the interfaces that no longer exist.
var gone = regexp.MustCompile(`^(kit\.(Module|Closer|Worker|EmailPreviewer|ResourceUser)|job\.Module|migrate\.Module|telemetry\.MeteredModule)$`)

// implements matches the first line of the comment of a method of a former interface.
var implements = regexp.MustCompile(`^// (\w+) implements (?:kit\.(?:Closer|Worker|EmailPreviewer)|job\.Module|migrate\.Module|telemetry\.MeteredModule)\.`)

// declareParts adds the method Parts to each module, and deletes the declarations that use a former interface. The method
// replaces the declaration var _ kit.Module, or stands at the end of the file that declares the module.
func declareParts(p *pkg) {
	for _, f := range p.files {
		for _, decl := range f.Decls {
			routes, ok := decl.(*ast.FuncDecl)
			if !ok || routes.Name.Name != "Routes" || receiver(routes) == "" || len(routes.Type.Params.List) != 1 {
				continue
			}
			pointer, ok := routes.Type.Params.List[0].Type.(*ast.StarExpr)
			module := receiver(routes)
			if ok && isSelector(pointer.X, "route", "Router") && p.method(module, "Parts", 0) == nil {
				p.addParts(f, module, f.text(routes.Recv.List[0].Type))
			}
		}
	}
}

// method returns the method of a type with the number of parameters, or nil.
func (p *pkg) method(of, name string, parameters int) *ast.FuncDecl {
	for _, f := range p.files {
		for _, decl := range f.Decls {
			if m, ok := decl.(*ast.FuncDecl); ok && receiver(m) == of && m.Name.Name == name && m.Type.Params.NumFields() == parameters {
				return m
			}
		}
	}
	return nil
}

// addParts adds the method Parts to a module, with a receiver of the type of. routes is the file with its method Routes.
func (p *pkg) addParts(routes *file, module, of string) {
	owners := []string{module}
	at, declared := p.declaration(module)
	if declared == nil {
		at, declared = routes, &ast.StructType{Fields: &ast.FieldList{}}
	}
	for _, field := range declared.Fields.List {
		embedded := field.Type
		if pointer, ok := embedded.(*ast.StarExpr); ok {
			embedded = pointer.X
		}
		if id, ok := embedded.(*ast.Ident); ok && field.Names == nil {
			owners = append(owners, id.Name)
		} else if field.Names == nil && !isSelector(embedded, "resource", "Parent") {
			p.remark(at, at.text(field), "add to Parts the jobs, workers, closers, migrations, previews and metrics of "+at.text(embedded)+", if it has any")
		}
	}
	var fields []string
	var hidden *ast.FuncDecl // Migrations, if it is renamed
	for _, part := range parts {
		field := part.field
		for _, owner := range owners {
			if m := p.method(owner, part.method, part.parameters); m != nil {
				if part.method == "Migrations" && owner == module && p.hideMigrations(m) {
					field, hidden = "Migrations: m.migrations()", m
				}
				fields = append(fields, field)
				break
			}
		}
	}
	text := partsMethod(of, fields)
	var replaced *ast.GenDecl
	for _, f := range p.files {
		if d := f.cutInterfaces(module); d != nil {
			at, replaced = f, d
		}
		f.correctComments(module, hidden)
		for _, decl := range f.Decls {
			if m, ok := decl.(*ast.FuncDecl); ok && receiver(m) == module && m.Name.Name == "UseResources" {
				p.remark(f, f.text(m.Name), "UseResources is no longer called: Routes of kit.Deps calls routes in process, with Call")
			}
		}
	}
	at.needs[runtime+"/kit"] = true
	if strings.Contains(text, "context.Context") {
		at.needs["context"] = true
	}
	if replaced != nil {
		at.replace(replaced, text)
	} else {
		at.insert(at.FileEnd, "\n"+text+"\n")
	}
}

// declaration returns the file that declares a struct type, and the struct; nil if there is none.
func (p *pkg) declaration(name string) (in *file, of *ast.StructType) {
	for _, f := range p.files {
		ast.Inspect(f.File, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
				if s, ok := spec.Type.(*ast.StructType); ok {
					in, of = f, s
				}
			}
			return of == nil
		})
	}
	return in, of
}

// partsMethod returns a method Parts with the fields.
func partsMethod(receiver string, fields []string) string {
	before, list, after := "{ ", strings.Join(fields, ""), " }"
	if len(fields) > 1 {
		before, list, after = "{\n", "\n"+strings.Join(fields, ",\n")+",\n", "\n}"
	}
	return "// Parts implements kit.Module.\nfunc (m " + receiver + ") Parts() kit.Parts " + before + "return kit.Parts{" + list + "}" + after
}

// cutInterfaces deletes declarations such as var _ job.Module = (*Module)(nil). It returns the declaration that had kit.Module,
// for the caller to replace, unless other code is left of it.
func (f *file) cutInterfaces(module string) (replaced *ast.GenDecl) {
	for _, decl := range f.Decls {
		declaration, ok := decl.(*ast.GenDecl)
		if !ok || declaration.Tok != token.VAR {
			continue
		}
		var cut []ast.Spec
		hasModule := false
		for _, spec := range declaration.Specs {
			value := spec.(*ast.ValueSpec)
			if isIdent(value.Names[0], "_") && len(value.Values) == 1 && typeIn(value.Values[0]) == module && value.Type != nil && gone.MatchString(f.text(value.Type)) {
				cut = append(cut, spec)
				hasModule = hasModule || f.text(value.Type) == "kit.Module"
			}
		}
		switch {
		case len(cut) < len(declaration.Specs):
			for _, spec := range cut {
				f.cut(spec)
			}
		case hasModule:
			replaced = declaration
		default:
			f.cut(declaration)
		}
	}
	return replaced
}

// typeIn returns T of the expressions (*T)(nil), new(T), &T{} and T{}, or "".
func typeIn(e ast.Expr) string {
	name := ""
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name != "nil" && id.Name != "new" && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

// correctComments changes the comments of methods that implemented a former interface. hidden is a method that gets a small
// letter.
func (f *file) correctComments(module string, hidden *ast.FuncDecl) {
	for _, decl := range f.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Doc == nil || receiver(function) != module {
			continue
		}
		first := function.Doc.List[0]
		if match := implements.FindStringSubmatch(first.Text); match != nil && match[1] == function.Name.Name {
			name, verb := match[1], " is"
			if strings.HasSuffix(name, "s") {
				verb = " are"
			}
			if function == hidden {
				name = strings.ToLower(name)
			}
			f.replaceRange(first.Pos(), first.Pos()+token.Pos(len(match[0])), "// "+name+verb+" for Parts.")
		}
	}
}

// hideMigrations renames the method Migrations in a generated migrations.go to migrations, as the generator names it, unless
// other code of the package calls it. It reports whether it is renamed.
func (p *pkg) hideMigrations(method *ast.FuncDecl) bool {
	calls := func(f *file) (found bool) {
		ast.Inspect(f.File, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			found = found || ok && selector.Sel.Name == "Migrations"
			return true
		})
		return found
	}
	if slices.ContainsFunc(p.files, calls) {
		return false
	}
	for _, f := range p.files {
		if strings.HasSuffix(f.name, "/migrations.go") && slices.Contains(f.Decls, ast.Decl(method)) {
			f.replace(method.Name, "migrations")
			return true
		}
	}
	return false
}
