package main

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/command"
)

// newOrganizations makes a project in a git repository, with the component organization.
func newOrganizations(t *testing.T) string {
	t.Helper()
	dir := newProject(t)
	for _, name := range []string{"profile.go", "roles.go"} {
		template := read(t, filepath.Join("../../modules/organization", name))
		empty, err := Resource{Name: "organization"}.renderFiles(name)
		if err != nil || string(empty[name]) != template {
			t.Errorf("%v; without fields and roles, %s is\n%s", err, name, empty[name])
		}
		write(t, filepath.Join(dir, "modules/organization", name), template)
	}
	write(t, filepath.Join(dir, "modules/organization/module.go"), "package organization\n\n// resource.Target\n")
	registry := filepath.Join(dir, "modules/modules.go")
	source := read(t, registry)
	for _, insert := range [][2]string{
		{"\"example.com/ginseng/kit\"\n", "\t\"example.com/shop/modules/organization\"\n"}, {"user.New(d, s.User)\n", "\torganizations := organization.New(d, users)\n"},
		{"\t\tusers,\n", "\t\torganizations,\n"},
	} {
		source = strings.Replace(source, insert[0], insert[0]+insert[1], 1)
	}
	write(t, registry, source)
	git(t, dir, "init", "--quiet")
	commit(t, dir)
	return dir
}

// TestOrganization declares roles, and generates resources that belong to organizations.
func TestOrganization(t *testing.T) {
	t.Parallel()
	dir := newOrganizations(t)
	fails := func(want string, args ...string) {
		t.Helper()
		if got := run(dir, args...); got.code != command.ExitUsage || got.err != want+"\n" {
			t.Errorf("%q: %+v, want %s", args, got, want)
		}
	}
	fails("flag --role: organizations have no role editor; use one of owner, admin, member. Declare it with: generate organization --roles editor",
		"event", "a", "--own", "organization", "--role", "org:editor=update")
	fails("flag --roles: owner is a role of every organization; omit it", "organization", "--roles", "owner")
	fails("field name: is a field of every organization; choose another name", "organization", "--add", "name")
	succeed(t, dir, "organization", "--roles", "editor,treasurer", "--add", "phone:string:max=30")
	for name, want := range map[string]string{
		"roles.go":   "var Roles = []access.Role{\"owner\", \"admin\", \"editor\", \"treasurer\", \"member\"}\n",
		"profile.go": "Phone string `json:\"phone\" validate:\"max=30\"",
	} {
		if got := read(t, filepath.Join(dir, "modules/organization", name)); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	out := succeed(t, dir, "event", "a:string:unique", "b:string:unique=global", "--own", "organization", "--role", "org:editor=update", "--role", "org:admin=delete", "--public", "list,show", "--changes")
	for _, want := range []string{"a is unique per organization", "b is unique among all records"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	for name, wants := range map[string][]string{
		"module.go": {
			"func New(d kit.Deps, organizations resource.Organizations, users resource.Target) *Module {", "resource.Public, resource.OrganizationMember(),",
			"events.Narrow(resource.Update, resource.OrganizationMember(\"editor\", \"admin\", \"owner\"))", "events.Narrow(resource.Delete, resource.OrganizationMember(\"admin\", \"owner\"))",
			"--own organization --role org:admin=delete --role org:editor=update --public list,show",
		},
		"model.go":         {"store.Index{Fields: []string{\"organizationId\", \"a\"}, Unique: true}", "store.Index{Fields: []string{\"b\"}, Unique: true}"},
		"controller.go":    {"rest.CheckReadOnly(g, e.InOrganization)", "c.lister.Parse(rest.Query(g))"},
		"fixtures_test.go": {"Organization: true", "\"update\": \"org=editor,admin,owner\""},
	} {
		source := strings.Join(strings.Fields(read(t, filepath.Join(dir, "modules/event", name))), " ")
		for _, want := range wants {
			if !strings.Contains(source, want) {
				t.Errorf("%s has no %s:\n%s", name, want, source)
			}
		}
	}
	if got := read(t, filepath.Join(dir, "modules/modules.go")); !strings.Contains(got, "events := event.New(d, organizations, users)") {
		t.Error(got)
	}
	fails("flag --roles: modules/event uses the role editor; keep it, or remove the resource first", "organization", "--roles", "treasurer")
	out = succeed(t, dir, "talk", "a:string:unique", "b:string:unique=global", "--under", "event")
	if !strings.Contains(out, "a is unique per event") {
		t.Error(out)
	}
	if got := read(t, filepath.Join(dir, "modules/talk/model.go")); !strings.Contains(got, `[]string{"eventId", "a"}, Unique: true`) || !strings.Contains(got, `[]string{"b"}, Unique: true`) {
		t.Errorf("the indexes of talks:\n%s", got)
	}
	if got := read(t, filepath.Join(dir, "modules/talk/fixtures_test.go")); !strings.Contains(got, `"create": "org"`) {
		t.Errorf("the callers of talks:\n%s", got)
	}
	succeed(t, dir, "event", "--add", "c:int")
}

// TestOrganizationMistakes checks the messages about flags that --own organization excludes.
func TestOrganizationMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"note a --role org:admin=delete":                     "flag --role: org:admin is a role in an organization; add --own organization",
		"note a --own organization --role nurse=delete":      "flag --role: nurse is a role of the service; with --own organization, write org:nurse for the role in the organization",
		"note a --own organization --role org:admin=list":    "flag --role: list is for all members; name create, update or delete",
		"note a --own organization --user create":            "flag --user: create is for members with --own organization; omit the flag",
		"note a --own organization --public update":          "flag --public: update is for members with --own organization; omit the flag",
		"note a --own organization --on-user-delete cascade": "flag --on-user-delete: excludes --own organization; userId is the user who created the record, and stays",
		"note a --own organization --under event":            "flag --under: excludes --own organization; the records under a parent belong to the organization of the parent",
		"note a --own organization,list":                     "flag --own: write either organization, or user",
		"note a --own organization --public list":            "flag --public: with --own organization, list and show are for the same callers; write --public list,show, or omit it",
		"note a --own organization --public show":            "flag --public: with --own organization, list and show are for the same callers; write --public list,show, or omit it",
		"note a --own organization --role org:member=update": "flag --role: org:member is every member, who may call update without the flag; omit it",
		"note organizationId --own organization":             "field organizationId: is a field of every record of an organization; choose another name",
	} {
		if _, err := tryDeclare(runtime, true, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	dir := newProject(t)
	if got := run(dir, "note", "a", "--own", "organization"); got.code != command.ExitUsage || !strings.Contains(got.err, "go tool new add organization") {
		t.Errorf("without the component: %+v", got)
	}
	if r := declareAll(t, "note", "a", "--own", "user"); strings.Join(r.Declaration(), " ") != "note a:string --own list,show" {
		t.Errorf("--own user: %q", r.Declaration())
	}
}
