package codemod

import (
	"fmt"
	"go/format"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/files"
)

// TestRoutes rewrites the lines of a router, each in a function of its own.
func TestRoutes(t *testing.T) {
	for _, test := range [][2]string{
		{`r.POST("/x", auth.User, mw.Idempotency, rest.Handle(c.create))`, `r.POST("/x", route.User, c.create, route.Idempotent)`},
		{`r.GET("/x", auth.Public, rest.Handle(c.list, rest.AnyQuery))`, `r.GET("/x", route.Public, c.list, route.AnyQuery)`},
		{`r.GET("/x/changes", auth.Admin, mw.Streams, rest.Handle(c.changes, rest.AnyQuery))`, `r.GET("/x/changes", route.Admin, c.changes, route.Stream)`},
		{`r.GET("/x/:id", auth.Public, rest.Handle(c.get, "expand", "full"))`, `r.GET("/x/:id", route.Public, c.get, route.Query("expand", "full"))`},
		{`r.PUT("/x", large.User, rest.Handle(c.update)) // a comment`, `r.PUT("/x", route.User, c.update, route.LargeBody) // a comment`},
		{`r.POST("/x", mw.Origin, auth.AllowAPIKey().AllowRestricted().StepUp, rest.Handle(c.create))`,
			`r.POST("/x", route.StepUp, c.create, route.AllowRestricted, route.AllowAPIKey, route.CheckOrigin)`},
		{`r.GET("/x", mw.Auth.Role(user.RolePacker, user.RoleClerk), rest.Handle(c.get))`, `r.GET("/x", route.Role(user.RolePacker, user.RoleClerk), c.get)`},
		{`r.POST("/x", m.users.SignUpAuth(large), rest.Handle(c.create))`, `r.POST("/x", m.users.SignUpCaller(route.Public), c.create, route.LargeBody)`},
		{`r.POST("/x", m.users.SignInAuth(auth), rest.Handle(c.create))`, `r.POST("/x", m.users.SignUpCaller(route.SignIn), c.create)`},
		{`r.DELETE("/x/:id", auth.StepUpSelf, rest.Handle(c.delete))`, `r.DELETE("/x/:id", route.StepUp, c.delete)`},
		{`r.DELETE("/x/:id", auth.Admin, auth.StepUp, rest.Handle(c.delete))`, `r.DELETE("/x/:id", route.StepUpAdmin, c.delete)`},
		{`r.POST("/x", limit(9), rest.Handle(c.create))`, `r.POST("/x", route.Open, c.create, route.With(limit(9)))`},
		{`r.Handle("PUT", "/x", auth.User, rest.Handle(func(g *gin.Context) error { return c.put(g, name) }))`,
			`r.Handle("PUT", "/x", route.User, func(g *gin.Context) error { return c.put(g, name) })`},
		{`r.GET("/x", gin.WrapH(h))`, "r.GET(\"/x\", route.Open, func(g *gin.Context) error {\n\t\t(gin.WrapH(h))(g)\n\t\treturn nil\n\t})"},
		{`r = mw.Resource(r, "things")`, `r = r.Resource(listing.Spec{Name: "things"})`},
		{`group := r.Group("/x")`, `group := r.Group("/x")`},
		{`other.GET("/x", auth.User)`, `other.GET("/x", auth.User)`},
	} {
		const head = "package x\n\nimport (\n\t\"example.com/ginseng/kit\"\n\t\"github.com/gin-gonic/gin\"\n\t\"example.com/ginseng/kit/rest\"\n)\n\n"
		source := head + "func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {\n\tc, auth, large := m.controller, mw.Auth, mw.Auth.AllowLargeBody()\n\t" + test[0] + "\n}\n"
		want := "Routes(r *route.Router) {\n\tc := m.controller\n\t" + test[1] + "\n}\n"
		if got := rewrite(t, files.Tree{"x/router.go": []byte(source)})["x/router.go"]; !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", test[0], got)
		}
	}
}

// TestRewrite rewrites a package: the files that change, and the notes.
func TestRewrite(t *testing.T) {
	got := rewrite(t, files.Tree{
		"x/model.go":      []byte("package x\n\nfunc spec() listing.Spec { return listing.Spec{} }\n"),
		"x/migrations.go": []byte("package x\n\n// Migrations implements migrate.Module. Add new ones.\nfunc (m *Module) Migrations() []migrate.Migration { return nil }\n\nvar _ migrate.Module = (*Module)(nil)\n"),
		"x/router.go": []byte("package x\n\nimport (\n\t\"github.com/gin-gonic/gin\"\n\n\t\"example.com/ginseng/kit\"\n)\n\n" +
			"func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {\n\tr = mw.Resource(r, \"xs\")\n\tr.GET(\"/xs\", mw.Auth.User, audit, rest.Handle(m.get))\n" +
			"\tr.GET(\"/ys\", mw.Auth.User, audit, rest.Handle(m.get))\n\tr.GET(\"/zs\", mw.Auth.User, mw.Auth.Master, rest.Handle(m.get))\n}\n"),
		"x/module.go": []byte("package x\n\nimport \"example.com/ginseng/kit\"\n\ntype Module struct {\n\t*Service\n\t*daily.Runner\n}\n\nfunc New(d kit.Deps) *Module { return &Module{newService(d.Recorded.All())} }\n\n" +
			"var (\n\t_ kit.Module = (*Module)(nil)\n\t_ job.Module = (*Module)(nil)\n)\n\nvar _ io.Reader = (*Module)(nil)\n"),
		"x/service.go": []byte("package x\n\n// Run implements kit.Worker.\nfunc (s *Service) Run(ctx context.Context) {}\n\nfunc (s *Service) Jobs() []job.Job { return nil }\n\n" +
			"func (s *Service) Close() {}\n\nfunc (s *Service) Update(in store.Patch[Fields]) { in.Apply(&s.x) }\n"),
		"x/controller.go": []byte("package x\n\n// create creates.\n//\n//\t@Param\t\tinput\t\t\tformData\tFields\ttrue\t\"x\"\n//\t@Param\t\tIdempotency-Key\theader\t\tstring\tfalse\t\"a key\"\n" +
			"//\t@Failure\t403\t{object}\trest.Problem\t\"forbidden: the caller is not an admin\"\n//\t@Security\tUserToken\n//\t@Router\t\t/xs [post]\nfunc (c *controller) create() {}\n\n" +
			"// cancel cancels.\n//\n//\t@Security\tUserToken\n//\t@Router\t\t/xs/cancel [post]\nfunc (c *controller) cancel() {}\n"),
		"x/x_test.go": []byte("package x_test\n\nfunc f() {\n\tr.Insert = func(api *testkit.API, record map[string]any) store.ID { return insert(api, record) }\n}\n"),
		"y/y.go":      []byte("package y\n\nimport \"example.com/ginseng/kit/emailaddress\"\n\nvar x = emailaddress.Normalize\n"),
		"z/z.go": []byte("package z\n\nfunc (m *Module) Routes(r gin.IRouter, mw kit.Middleware) { m.names = mw.Resources }\n\n" +
			"func f() {\n\tin, err := rest.BindPatch[Fields](g)\n\tin.Apply(&x)\n}\n\nfunc New(d kit.Deps) { resource.Open(d, spec) }\n"),
		"z/z_test.go": []byte("package z\n\nvar things = New(kit.Deps{DB: db, Now: time.Now})\n\nvar none = kit.Deps{Now: time.Now}\n"),
		"y/z.go":      []byte("package y\n\nimport \"example.com/ginseng/kit/emailaddress\"\n\nfunc f(address string) { emailaddress.Normalize(address) }\n"),
		// The new name of the package is declared in another file (a), in the test package or as a method or field (b).
		"a/a.go":      []byte("package a\n\nimport \"example.com/ginseng/kit/emaillink\"\n\nvar x = emaillink.Links{}\n"),
		"a/b.go":      []byte("package a\n\ntype link struct{}\n"),
		"b/a.go":      []byte("package b\n\nimport \"example.com/ginseng/kit/emaillink\"\n\nvar x = emaillink.New(a.link.b)\n"),
		"b/b.go":      []byte("package b\n\ntype a struct{ link int }\n\nfunc (a) link() { var link int }\n"),
		"b/b_test.go": []byte("package b_test\n\nvar link int\n"),
	})
	for name, want := range map[string]string{
		"x/migrations.go": "package x\n\n// migrations are for Parts. Add new ones.\nfunc (m *Module) migrations() []migrate.Migration { return nil }\n",
		"x/router.go": "package x\n\nimport (\n\t\"example.com/ginseng/kit/route\"\n)\n\nfunc (m *Module) Routes(r *route.Router) {\n\tr = r.Resource(spec())\n" +
			"\tr.GET(\"/xs\", route.User, m.get, route.With(audit))\n\tr.GET(\"/ys\", route.User, m.get, route.With(audit))\n" +
			"\tr.GET(\"/zs\", mw.Auth.User, mw.Auth.Master, rest.Handle(m.get))\n}\n",
		"x/module.go": "package x\n\nimport (\n\t\"context\"\n\t\"example.com/ginseng/kit\"\n)\n\ntype Module struct {\n\t*Service\n\t*daily.Runner\n}\n\n" +
			"func New(d kit.Deps) *Module { return &Module{newService(d.Resources.Recorded())} }\n\n" +
			"// Parts implements kit.Module.\nfunc (m *Module) Parts() kit.Parts {\n\treturn kit.Parts{\n\t\tJobs:       m.Jobs(),\n\t\tWorkers:    []func(context.Context){m.Run},\n" +
			"\t\tMigrations: m.migrations(),\n\t}\n}\n\nvar _ io.Reader = (*Module)(nil)\n",
		"x/controller.go": "package x\n\n// create creates.\n//\n//\t@Param\tinput\tformData\tFields\ttrue\t\"x\"\n//\t@Router\t/xs [post]\nfunc (c *controller) create() {}\n\n" +
			"// cancel cancels.\n//\n//\t@Security\tUserToken\n//\t@Router\t\t/xs/cancel [post]\nfunc (c *controller) cancel() {}\n",
		"x/x_test.go": "package x_test\n\nfunc f() {\n\tr.Insert = func(api *testkit.API, caller testkit.Caller, record map[string]any) store.ID {\n\t\treturn insert(api, caller, record)\n\t}\n}\n",
		"y/y.go":      "package y\n\nimport \"example.com/ginseng/kit/email/address\"\n\nvar x = address.Normalize\n",
		"y/z.go":      "package y\n\nimport emailaddress \"example.com/ginseng/kit/email/address\"\n\nfunc f(address string) { emailaddress.Normalize(address) }\n",
		"a/a.go":      "package a\n\nimport emaillink \"example.com/ginseng/kit/email/link\"\n\nvar x = emaillink.Links{}\n",
		"b/a.go":      "package b\n\nimport \"example.com/ginseng/kit/email/link\"\n\nvar x = link.New(a.link.b)\n",
		"z/z.go": "package z\n\nimport (\n\t\"example.com/ginseng/kit\"\n\t\"example.com/ginseng/kit/route\"\n)\n\nfunc (m *Module) Routes(r *route.Router) { m.names = mw.Resources }\n\n" +
			"func f() {\n\tin, err := rest.BindPatch[Fields](g)\n\tin.Apply(&x)\n}\n\nfunc New(d kit.Deps) { resource.Open(d, spec) }\n\n// Parts implements kit.Module.\nfunc (m *Module) Parts() kit.Parts { return kit.Parts{} }\n",
		"z/z_test.go": "package z\n\nvar things = New(kit.Deps{DB: db, Resources: &kit.Resources{}, Now: time.Now})\n\nvar none = kit.Deps{Now: time.Now}\n",
		"notes": "x/module.go:10: add to Parts the jobs, workers, closers, migrations, previews and metrics of daily.Runner, if it has any\n" +
			"x/router.go:9: audit runs before authentication now, when rest.Caller is not known\n" +
			"x/router.go:10: audit runs before authentication now, when rest.Caller is not known\n" +
			"x/router.go:11: has the callers route.User and route.Master; choose the one that accepts no more callers\n" +
			"x/service.go:10: Apply returns an error now, if an object breaks a limit: return it\n" +
			"z/z.go:8: mw.Resources is now Resources of the Routes of kit.Deps: keep d.Routes in the module\n" +
			"z/z.go:12: Apply returns an error now, if an object breaks a limit: return it\n",
	} {
		if got[name] != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("also changed: %v", slices.Sorted(maps.Keys(got)))
	}
}

// TestRewritten checks that code of this version does not change.
func TestRewritten(t *testing.T) {
	source, err := files.Read("../../..", func(name string) bool {
		return path.Ext(name) == ".go" && slices.Contains([]string{"modules", "server", "testkit"}, strings.Split(name, "/")[0])
	})
	if err != nil || len(source) < 100 {
		t.Fatalf("%d files, %v", len(source), err)
	}
	changed, notes, err := Rewrite(source)
	if len(changed) > 0 || notes != nil || err != nil {
		t.Errorf("%v, %v, %v", slices.Sorted(maps.Keys(changed)), notes, err)
	}
}

// TestMoveCreate brings Create over in a project that has changed other code of the module, and keeps a Create that it has
// changed.
func TestMoveCreate(t *testing.T) {
	tree := func(fields, methods, assign, create string) files.Tree {
		return files.Tree{
			"m/service.go":    formatted(t, "package m\n\ntype Service struct {\n"+fields+"}\n\n"+methods+"\n"),
			"m/module.go":     formatted(t, "package m\n\nfunc New(d kit.Deps) *Module {\n"+assign+"\treturn &Module{&controller{service: service}}\n}\n"),
			"m/controller.go": formatted(t, "package m\n\nfunc (c *controller) create(g *gin.Context) error {\n\t_, err := "+create+"\n\treturn err\n}\n"),
		}
	}
	const (
		create = "// Create creates.\nfunc (s *Service) Create(parent store.ID, in Fields) (D, error) { return D{in}, nil }"
		build  = "// New returns.\nfunc (s *Service) New(in Fields) (D, error) { return D{in}, nil }"
		made   = "\tservice := &Service{all: all}\n"
		set    = "\tservice.Creator = resource.NewCreator(all, service.New, nil)\n"
		old    = "c.service.Create(parent, in)"
		next   = "c.service.Under(parent).Create(in)"
	)
	before := func() files.Tree { return tree("all *all\n", create, made, old) }
	after := func() files.Tree { return tree("*resource.Creator[D, Fields]\nall *all\n", build, made+set, next) }

	own := tree("all *all\nmine int\n", create+"\n\nfunc other() {}", "\tservice := &Service{all: all, mine: 1}\n\tmine()\n", old)
	r := Resource{"m", own, before(), after()}
	if line, err := r.MoveCreate(); line != 0 || err != nil {
		t.Fatal(line, err)
	}
	want := tree("*resource.Creator[D, Fields]\nall *all\nmine int\n", build+"\n\nfunc other() {}", "\tservice := &Service{all: all, mine: 1}\n"+set+"\tmine()\n", next)
	equal(t, own, want)
	equal(t, r.Before, after())

	r = Resource{"m", own, before(), after()} // again, after a kill
	if line, err := r.MoveCreate(); line != 0 || err != nil {
		t.Fatal(line, err)
	}
	equal(t, own, want)
	equal(t, r.Before, after())

	changed := strings.Replace(create, "return D{in}", "return D{check(in)}", 1)
	own = tree("all *all\n", changed, made, old)
	r = Resource{"m", own, before(), after()}
	if line, err := r.MoveCreate(); line != 8 || err != nil {
		t.Fatal(line, err)
	}
	equal(t, own, tree("all *all\n", changed, made, old))
	equal(t, r.After, before())
}

func equal(t *testing.T, got, want files.Tree) {
	t.Helper()
	for name := range want {
		if string(got[name]) != string(want[name]) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got[name], want[name])
		}
	}
}

func formatted(t *testing.T, source string) []byte {
	t.Helper()
	out, err := format.Source([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rewrite returns the files that Rewrite changes, and the notes. A second Rewrite changes nothing.
func rewrite(t *testing.T, source files.Tree) map[string]string {
	t.Helper()
	changed, notes, err := Rewrite(source)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, data := range changed {
		got[name] = string(data)
	}
	for _, note := range notes {
		got["notes"] += fmt.Sprintln(note)
	}
	maps.Copy(source, changed)
	if again, _, err := Rewrite(source); len(again) > 0 || err != nil {
		t.Errorf("a second Rewrite changes %v, %v", slices.Sorted(maps.Keys(again)), err)
	}
	return got
}
