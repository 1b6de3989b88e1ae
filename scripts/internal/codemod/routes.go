package codemod

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// router has what is known in the body of a function that mounts routes.
type router struct {
	*file
	pkg     *pkg
	mw      string            // the parameter of type kit.Middleware
	routers map[string]bool   // variables of type gin.IRouter
	auth    map[string]caller // variables with a kit.Auth or one of its fields
	hasSpec bool              // the package has a function spec
}

// caller is who may call a route: the Caller of package route, "" for a kit.Auth, and options.
type caller struct {
	name    string
	options []string
}

// callers are the fields of kit.Auth, and the callers of package route that replace them. StepUp is stricter than StepUpSelf
// for the accounts of others, as Ginseng's own routes are.
var callers = map[string]string{
	"Public": "route.Public", "SignIn": "route.SignIn", "Master": "route.Master", "User": "route.User", "Admin": "route.Admin",
	"Provider": "route.Provider", "StepUp": "route.StepUp", "StepUpSelf": "route.StepUp",
}

// allowed has the options that replace methods of kit.Auth, in the order of the templates.
var allowed = []struct{ method, option string }{
	{"AllowRestricted", "route.AllowRestricted"}, {"AllowLargeBody", "route.LargeBody"}, {"AllowAPIKey", "route.AllowAPIKey"},
}

// rewriteRoutes rewrites the functions with parameters of the types gin.IRouter and kit.Middleware.
func rewriteRoutes(p *pkg) {
	hasSpec := slices.ContainsFunc(p.files, func(f *file) bool {
		return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
			function, ok := d.(*ast.FuncDecl)
			return ok && function.Recv == nil && function.Name.Name == "spec" && len(function.Type.Params.List) == 0
		})
	})
	for _, f := range p.files {
		for _, decl := range f.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Body != nil {
				p.rewriteRouter(f, function, hasSpec)
			}
		}
	}
}

func (p *pkg) rewriteRouter(f *file, function *ast.FuncDecl, hasSpec bool) {
	r := router{file: f, pkg: p, routers: map[string]bool{}, auth: map[string]caller{}, hasSpec: hasSpec}
	var kept []string
	for _, field := range function.Type.Params.List {
		switch {
		case len(field.Names) != 1:
			return
		case isSelector(field.Type, "gin", "IRouter"):
			r.routers[field.Names[0].Name] = true
			kept = append(kept, field.Names[0].Name+" *route.Router")
		case isSelector(field.Type, "kit", "Middleware"):
			r.mw = field.Names[0].Name
		default:
			kept = append(kept, f.text(field))
		}
	}
	if len(r.routers) == 0 || r.mw == "" {
		return
	}
	f.replace(function.Type.Params, "("+strings.Join(kept, ", ")+")")
	f.needs[runtime+"/kit/route"] = true
	ast.Inspect(function.Body, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && isSelector(selector, r.mw, "Resources") {
			p.remark(f, f.text(selector), f.text(selector)+" is now Resources of the Routes of kit.Deps: keep d.Routes in the module")
		}
		return true
	})
	ast.Inspect(function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return r.assign(n)
		case *ast.CallExpr:
			return !r.add(n)
		}
		return true
	})
}

// assign rewrites r = mw.Resource(r, NAME), and deletes variables with a kit.Auth. It reports whether there can be other code to
// rewrite in the statement.
func (r router) assign(n *ast.AssignStmt) bool {
	if len(n.Lhs) != len(n.Rhs) {
		return true
	}
	var left, right []string
	for i, value := range n.Rhs {
		name, isVariable := n.Lhs[i].(*ast.Ident)
		if who, ok := r.resolve(value); ok && isVariable && n.Tok == token.DEFINE {
			r.auth[name.Name] = who
			continue
		}
		if resource, ok := r.resource(value); ok && isVariable {
			r.routers[name.Name] = true
			left, right = append(left, name.Name), append(right, resource)
			continue
		}
		left, right = append(left, r.text(n.Lhs[i])), append(right, r.text(value))
	}
	switch text := strings.Join(left, ", ") + " " + n.Tok.String() + " " + strings.Join(right, ", "); {
	case left == nil:
		r.cut(n)
	case text != r.text(n):
		r.replace(n, text)
	default:
		return true
	}
	return false
}

// resource returns the call that replaces mw.Resource(r, NAME).
func (r router) resource(e ast.Expr) (string, bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok || !isSelector(call.Fun, r.mw, "Resource") || len(call.Args) != 2 {
		return "", false
	}
	r.pkg.resource = true
	spec := "spec()"
	if !r.hasSpec {
		spec = "listing.Spec{Name: " + r.text(call.Args[1]) + "}"
		r.needs[runtime+"/kit/listing"] = true
	}
	return r.text(call.Args[0]) + ".Resource(" + spec + ")", true
}

// resolve returns what an expression says about callers, and false if it says nothing.
func (r router) resolve(e ast.Expr) (caller, bool) {
	if isSelector(e, r.mw, "Auth") {
		return caller{}, true
	}
	switch e := e.(type) {
	case *ast.Ident:
		who, ok := r.auth[e.Name]
		return who, ok
	case *ast.SelectorExpr:
		who, ok := r.resolve(e.X)
		name, isCaller := callers[e.Sel.Name]
		if !ok || !isCaller || who.name != "" {
			return caller{}, false
		}
		who.name = name
		return who, true
	case *ast.CallExpr:
		return r.resolveCall(e)
	}
	return caller{}, false
}

func (r router) resolveCall(call *ast.CallExpr) (caller, bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return caller{}, false
	}
	if name := method.Sel.Name; (name == "SignUpAuth" || name == "SignInAuth") && len(call.Args) == 1 {
		who, ok := r.resolve(call.Args[0])
		kind := map[string]string{"SignUpAuth": "route.Public", "SignInAuth": "route.SignIn"}[name]
		who.name = r.text(method.X) + ".SignUpCaller(" + kind + ")"
		return who, ok
	}
	who, ok := r.resolve(method.X)
	if !ok || who.name != "" {
		return caller{}, false
	}
	if method.Sel.Name == "Role" {
		who.name = "route.Role" + string(r.source[r.offset(call.Lparen):r.offset(call.End())])
		return who, true
	}
	for _, a := range allowed {
		if a.method == method.Sel.Name {
			who.options = append(slices.Clone(who.options), a.option)
			return who, true
		}
	}
	return caller{}, false
}

// add rewrites a call that adds a route. It returns false if the call does something else.
func (r router) add(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	paths := 1
	if ok && method.Sel.Name == "Handle" {
		paths = 2
	}
	if !ok || !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE", "Handle"}, method.Sel.Name) || len(call.Args) <= paths {
		return false
	}
	if variable, ok := method.X.(*ast.Ident); !ok || !r.routers[variable.Name] {
		return false
	}
	who, options := caller{name: "route.Open"}, []string(nil)
	last := len(call.Args) - 1
	for _, middleware := range call.Args[paths:last] {
		if found, ok := r.resolve(middleware); ok && found.name != "" {
			if !who.combine(found) {
				r.pkg.remark(r.file, r.text(call), "has the callers "+who.name+" and "+found.name+"; choose the one that accepts no more callers")
				return false
			}
			continue
		}
		option := r.option(middleware)
		if options = append(options, option); strings.HasPrefix(option, "route.With(") && who.name != "route.Open" {
			r.pkg.remark(r.file, option, r.text(middleware)+" runs before authentication now, when rest.Caller is not known")
		}
	}
	handler, query := r.handler(call.Args[last], slices.Contains(options, "route.Stream"))
	slices.SortStableFunc(who.options, func(a, b string) int { return orderOf(a) - orderOf(b) })
	options = slices.Concat([]string{who.name, handler}, who.options, options, query)
	r.replaceRange(call.Args[paths].Pos(), call.Args[last].End(), strings.Join(options, ", "))
	return true
}

// combine adds a second authentication of a route, which accepts only callers that both accept. It returns false if package route
// has no such caller.
func (c *caller) combine(next caller) bool {
	switch {
	case c.name == "route.Open" || c.name == next.name:
		c.name = next.name
	case c.name+next.name == "route.Adminroute.StepUp" || c.name+next.name == "route.StepUproute.Admin":
		c.name = "route.StepUpAdmin"
	default:
		return false
	}
	c.options = append(slices.Clone(c.options), next.options...)
	return true
}

func orderOf(option string) int {
	for i, a := range allowed {
		if a.option == option {
			return i
		}
	}
	return len(allowed)
}

// option returns the option that replaces a middleware.
func (r router) option(middleware ast.Expr) string {
	for field, option := range map[string]string{"Idempotency": "Idempotent", "Streams": "Stream", "Origin": "CheckOrigin"} {
		if isSelector(middleware, r.mw, field) {
			return "route." + option
		}
	}
	if isSelector(middleware, "rest", "JSONOnly") {
		return "route.JSONOnly"
	}
	return "route.With(" + r.text(middleware) + ")"
}

// handler returns the handler in rest.Handle and the option for its query parameters. Another handler is wrapped.
func (r router) handler(e ast.Expr, stream bool) (string, []string) {
	call, ok := e.(*ast.CallExpr)
	if !ok || !isSelector(call.Fun, "rest", "Handle") || len(call.Args) == 0 {
		return fmt.Sprintf("func(g *gin.Context) error {\n(%s)(g)\nreturn nil\n}", r.text(e)), nil
	}
	var names []string
	for _, name := range call.Args[1:] {
		names = append(names, r.text(name))
	}
	switch {
	case slices.Contains(names, "rest.AnyQuery") && stream: // route.Stream includes it
		names = nil
	case slices.Contains(names, "rest.AnyQuery"):
		names = []string{"route.AnyQuery"}
	case names != nil:
		names = []string{"route.Query(" + strings.Join(names, ", ") + ")"}
	}
	return r.text(call.Args[0]), names
}
