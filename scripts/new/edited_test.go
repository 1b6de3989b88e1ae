package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// edits are edits of the module visit, as a project makes them: a rule, a route, a field of the view, a parameter of New, and
// tests. Each is a file with an old and a new text.
var edits = [][3]string{
	{"modules/visit/module.go", "service.New, nil)", "service.New, service.create)"},
	{"modules/visit/service.go", `// Get returns`, `func (s *Service) create(ctx context.Context, caller access.Principal, visit Visit) (Visit, error) {
	if err := s.check(ctx, visit); err != nil {
		return visit, err
	}
	return visit, s.visits.Create(ctx, caller, visit)
}

// check fails unless the visit is in the future, and its practitioner is free.
func (s *Service) check(ctx context.Context, v Visit) error {
	if !v.Starts.After(s.now()) || !v.Ends.After(v.Starts.Time) {
		return apperr.New(apperr.Conflict, "A visit is in the future, and ends after it starts.")
	}
	other := store.And(store.Eq("practitioner", v.Practitioner), store.Ne("id", v.ID), store.Lt("starts", v.Ends), store.Gt("ends", v.Starts))
	taken, err := s.visits.Unrestricted().Exists(ctx, other)
	if taken {
		return apperr.New(apperr.Conflict, "The practitioner has another visit at this time.")
	}
	return err
}

// Get returns`},
	{"modules/visit/service.go", `	return s.visits.Update(ctx, caller, id, expected, in.Changes()...)`, `	visit, err := s.visits.Get(ctx, caller, id)
	if err != nil {
		return visit, err
	}
	if in.Apply(&visit); in.Has("starts") || in.Has("ends") || in.Has("practitioner") {
		if err := s.check(ctx, visit); err != nil {
			return visit, err
		}
	}
	return s.visits.Update(ctx, caller, id, expected, in.Changes()...)`},
	{"modules/visit/service.go", "	\"example.com/ginseng/kit/access\"\n", "	\"example.com/ginseng/kit/access\"\n	\"example.com/ginseng/kit/apperr\"\n"},
	{"modules/visit/router.go", "	r.DELETE(", "	r.GET(\"/visits/:id/reminder\", route.User, c.reminder)\n	r.DELETE("},
	{"modules/visit/controller.go", "// delete deletes a visit.", `// reminder returns what a reminder of a visit says.
//
//	@Summary	Get the reminder of a visit
//	@Tags		visits
//	@Success	200	{object}	Reminder
//	@Security	UserToken
//	@Router		/visits/{id}/reminder [get]
func (c *controller) reminder(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	visit, err := c.service.Get(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	return rest.OK(g, Reminder{c.greeting + " " + visit.Starts.String()})
}

// delete deletes a visit.`},
	{"modules/visit/controller.go", "	service *Service\n", "	service  *Service\n	greeting string\n"},
	{"modules/visit/model.go", "	UpdatedAt store.Time `json:\"updatedAt\" swaggertype:\"string\" format:\"date-time\" example:\"2026-01-02T15:04:05.678Z\"`\n", `	UpdatedAt store.Time ` + "`json:\"updatedAt\" swaggertype:\"string\" format:\"date-time\" example:\"2026-01-02T15:04:05.678Z\"`" + `
	Minutes   int64      ` + "`json:\"minutes\"`" + `
`},
	{"modules/visit/model.go", "UpdatedAt: visit.UpdatedAt}", "UpdatedAt: visit.UpdatedAt, Minutes: int64(visit.Ends.Sub(visit.Starts.Time).Minutes())}"},
	{"modules/visit/model.go", "// View is the representation", "// Reminder is the reminder of a visit.\ntype Reminder struct {\n	Text string `json:\"text\"`\n}\n\n// View is the representation"},
	{"modules/visit/module.go", "func New(d kit.Deps, users resource.Target)", "func New(d kit.Deps, users resource.Target, greeting string)"},
	{"modules/visit/module.go", "&controller{service: service, ", "&controller{service: service, greeting: greeting, "},
	{"modules/modules.go", "visit.New(d, users)", `visit.New(d, users, "See you")`},
	{"modules/visit/router_test.go", `import "testing"`, `import (
	"strings"
	"testing"
	"time"

	"example.com/shop/modules/apitest"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
)

func times(api *testkit.API, n int, body map[string]any) {
	starts := api.Clock.Now().Add(time.Duration(n) * time.Hour)
	body["starts"], body["ends"] = store.At(starts).String(), store.At(starts.Add(30*time.Minute)).String()
}

// TestOverlap creates two visits at the same time.
func TestOverlap(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	practitioner, admin, body := api.SignUp("user"), api.SignUp("admin"), map[string]any{}
	body["practitioner"] = practitioner.ID
	times(api, 1, body)
	create := testkit.Request{Method: "POST", Path: "/visits", As: admin.Token, JSON: body}
	path := api.Do(create)
	if path.Status != 201 || path.JSON(201)["minutes"] != 30.0 {
		t.Fatalf("%s", path.Body)
	}
	if got := api.Do(create); got.Status != 409 {
		t.Errorf("%s", got.Body)
	}
	reminder := api.Do(testkit.Request{Method: "GET", Path: path.Header.Get("Location") + "/reminder", As: admin.Token}).JSON(200)
	if text := reminder["text"].(string); !strings.HasPrefix(text, "See you 20") {
		t.Errorf("%s", text)
	}
}`},
	{"modules/visit/router_test.go", "	r.Run(t)", "	r.Prepare, r.Derived = times, []string{\"minutes\"}\n	r.Run(t)"},
}

// TestEditedProject changes the fields of a module with the edits of a project, adds and removes a component, and upgrades: the
// edits stay, nothing conflicts, and the tests pass.
func TestEditedProject(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	t.Chdir(root)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_NAME", "you")
		t.Setenv("GIT_"+name+"_EMAIL", "you@example.com")
	}
	s, err := readSource(t.Context(), root, runtime{})
	if err != nil {
		t.Fatal(err)
	}
	temporary := resolved(t, t.TempDir())
	shop, newer := filepath.Join(temporary, "shop"), filepath.Join(temporary, "newer")
	must(t, "shop", "--dir", shop, "--with", "user")
	commit(t, shop)
	generate := func(args ...string) {
		t.Helper()
		shell(t, shop, "go", append([]string{"tool", "generate"}, args...)...)
		commit(t, shop)
	}
	generate("user", "--roles", "reception")
	generate("room", "name:string:required:unique", "--admin", "create,update,delete")
	generate("visit", "practitioner:ref(user):required:filter:onDelete=restrict", "starts:time:required:sort:filter", "ends:time:required", "note:string:max=500", "code:string:sort",
		"--role", "reception=create,list,show,update,delete")
	for _, e := range edits {
		edit(t, filepath.Join(shop, e[0]), e[1], e[2])
	}
	shell(t, shop, "gofmt", "-w", "modules/visit")
	shell(t, shop, "go", "tool", "docs")
	commit(t, shop)
	generate("visit", "--add", "room:ref(room):filter", "--add", "urgent:bool:default=false:filter", "--change", "remark:string:max=400:search", "--rename", "note=remark", "--drop", "code")
	must(t, "add", "policy", "--dir", shop)
	if out := must(t, "remove", "policy", "--dir", shop); !strings.Contains(out, `in the collections "policies", "policy-stamps"`) {
		t.Errorf("remove does not name the collection: %s", out)
	}
	write(t, newer, s.files)
	edit(t, filepath.Join(newer, "modules/user/module.go"), "package user\n", "package user // upgraded\n")
	edit(t, filepath.Join(newer, "kit/kit.go"), "package kit\n", "package kit // upgraded\n")
	edit(t, filepath.Join(newer, "scripts/generate/templates/service.go.tmpl"), "package {{.Package}}\n", "package {{.Package}} // upgraded\n")
	t.Chdir(newer)
	must(t, "upgrade", "--dir", shop)
	for _, name := range []string{"modules/user/module.go", "modules/visit/service.go", "third_party/ginseng/kit/kit.go"} {
		if !strings.Contains(read(t, filepath.Join(shop, name)), "// upgraded\n") {
			t.Errorf("%s is not upgraded", name)
		}
	}
	if status := shell(t, shop, "git", "status", "--porcelain"); status != "" {
		t.Errorf("git status: %s", status)
	}
	shell(t, shop, "go", "vet", "./...")
	shell(t, shop, "go", "tool", "docs", "-check")
	shell(t, shop, "go", "test", "-vet=off", ".", "./modules/visit", "./modules/room")
	if !strings.Contains(read(t, filepath.Join(shop, "modules/visit/router_test.go")), "func TestOverlap(") {
		t.Error("the test of the rule is lost")
	}
}
