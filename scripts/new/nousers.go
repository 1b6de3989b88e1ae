package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// withoutUsers changes the modules that stay where there are no users: their routes take the master key where they asked
// for a user or an admin, and so do the annotations and tests. The example of a resource is generated anew, since it has no
// author then. dir is a folder to work in.
func (t template) withoutUsers(ctx context.Context, dir string, kept tree) error {
	if kept.hasFolder("modules/article") {
		if err := t.ownerless(ctx, dir, kept); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if !kept.isMainModule(name) || strings.HasPrefix(name, "scripts/") {
			continue
		}
		e := kept[name]
		if strings.HasPrefix(name, "modules/") {
			e.text = routeRule.ReplaceAll(e.text, []byte("${1}access.Master"))
			e.text = userSecurity.ReplaceAll(e.text, []byte("${1}MasterKey"))
			e.text = forbiddenAnswer.ReplaceAll(e.text, nil)
		}
		if strings.HasSuffix(name, "_test.go") {
			text, err := asMaster(name, e.text)
			if err != nil {
				return err
			}
			e.text = text
		}
		kept[name] = e
	}
	forgetSecurity(kept)
	for name, e := range kept {
		if strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md") {
			e.text = userVariable.ReplaceAll(e.text, []byte("$$MASTER_KEY"))
			kept[name] = e
		}
	}
	return nil
}

// forgetSecurity takes the credentials out of main.go's annotations that no route asks for, but for the master key: every
// project has one, and the first resource that is generated asks for it.
func forgetSecurity(kept tree) {
	used := map[string]bool{"MasterKey": true}
	for name, e := range kept {
		if strings.HasPrefix(name, "modules/") {
			for _, m := range security.FindAllSubmatch(e.text, -1) {
				for _, scheme := range strings.Split(string(m[1]), "&&") {
					used[strings.TrimSpace(scheme)] = true
				}
			}
		}
	}
	e := kept["main.go"]
	e.text = securityDefinition.ReplaceAllFunc(e.text, func(block []byte) []byte {
		if used[string(securityDefinition.FindSubmatch(block)[1])] {
			return block
		}
		return nil
	})
	kept["main.go"] = e
}

var (
	routeRule       = regexp.MustCompile(`(\.(?:GET|POST|PUT|PATCH|DELETE)\("[^"]*", )access\.(?:User|Admin)\b`)
	userSecurity    = regexp.MustCompile(`(?m)^(//\s*@Security\s+)UserToken$`)
	forbiddenAnswer = regexp.MustCompile(`(?m)^//\s*@Failure\s+403\s.*\n`)
	security        = regexp.MustCompile(`(?m)^//\s*@Security\s+(.*)$`)
	// A definition and what follows it, up to an empty line of the comment, which is before it.
	securityDefinition = regexp.MustCompile(`(?m)^//\n//\s*@securityDefinitions\.\w+\s+(\w+)\n(?://[ \t].*\n)*`)
	userVariable       = regexp.MustCompile(`\$(?:ADMIN|TOKEN)\b`)
	declaration        = regexp.MustCompile(`(?m)^//go:generate go run \S+ (article .*)$`)
)

// ownerless generates the module article as it is where only the bearer of the master key writes, with the tree's own
// generator.
func (t template) ownerless(ctx context.Context, dir string, kept tree) error {
	m := declaration.FindSubmatch(t.files["modules/article/module.go"].text)
	if m == nil {
		return fmt.Errorf("modules/article/module.go has no line //go:generate …, which says how it is generated")
	}
	scratch, err := os.MkdirTemp(dir, "scratch-")
	if err != nil {
		return err
	}
	if err := writeTree(scratch, kept); err != nil { // the generator sees that there are no users
		return err
	}
	if _, err := command(ctx, scratch, "go", "build", "-buildvcs=false", "-o", "generate", "./scripts/generate"); err != nil {
		return err
	}
	declared := strings.Fields(string(m[1]))
	generate := func(args ...string) error {
		_, err := command(ctx, scratch, filepath.Join(scratch, "generate"), args...)
		return err
	}
	if err := generate("--undo", "--force", declared[0]); err != nil {
		return err
	}
	if err := generate(append(declared, "--master", "create,update,delete")...); err != nil {
		return err
	}
	maps.DeleteFunc(kept, func(name string, _ entry) bool { return strings.HasPrefix(name, "modules/article/") })
	files, err := filepath.Glob(filepath.Join(scratch, "modules", "article", "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		kept["modules/article/"+filepath.Base(file)] = entry{text, 0o644}
	}
	return os.RemoveAll(scratch)
}

// asMaster changes tests: who was signed up with a role is the bearer of the master key, and the rows of tables that ask
// what a user may not, or what the master key is not good for, are taken out.
func asMaster(name string, text []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	r := &remover{source: &source{name: name, text: text, file: file}, fset: fset}
	signedUp := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) == len(assign.Rhs) {
			for i, right := range assign.Rhs {
				call, isCall := right.(*ast.CallExpr)
				if who, isName := assign.Lhs[i].(*ast.Ident); isCall && isName && strings.HasSuffix(called(call), ".SignUp") {
					signedUp[who.Name] = true
				}
			}
		}
		return true
	})
	var edits []edit
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			for i, row := range n.Elts {
				if asksOfUsers(row) {
					edits = append(edits, r.of(&element{list: n, index: i, nodes: nodesOf(n.Elts)}))
				}
			}
		case *ast.SelectorExpr:
			if who, ok := n.X.(*ast.Ident); ok && signedUp[who.Name] && n.Sel.Name == "Token" {
				edits = append(edits, edit{r.offset(n.Pos()), r.offset(n.End()), "testkit.MasterKey"})
			}
		}
		return true
	})
	if len(edits) == 0 {
		return text, nil
	}
	changed := apply(text, edits)
	if pretty, err := formatted(changed); err == nil {
		changed = pretty
	}
	return bytes.Clone(changed), nil
}

// asksOfUsers reports whether a row wants the status 403, or 401 for the master key.
func asksOfUsers(row ast.Expr) bool {
	var parts []ast.Expr
	switch row := row.(type) {
	case *ast.CallExpr:
		if name := called(row); name != "row" && name != "testkit.Row" {
			return false
		}
		parts = row.Args
	case *ast.CompositeLit:
		parts = row.Elts
	default:
		return false
	}
	status := ""
	for _, part := range parts {
		if pair, ok := part.(*ast.KeyValueExpr); ok {
			part = pair.Value
		}
		if literal, ok := part.(*ast.BasicLit); ok && literal.Kind == token.INT && (literal.Value == "401" || literal.Value == "403") {
			status = literal.Value
		}
	}
	if status != "401" {
		return status == "403"
	}
	master := false
	ast.Inspect(row, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "MasterKey" {
			master = true
		}
		return true
	})
	return master
}
