package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/command"
)

// newRoles makes a project in a git repository, with the declaration of its roles.
func newRoles(t *testing.T) string {
	t.Helper()
	template := read(t, filepath.Join("../..", rolesFile))
	empty, err := Resource{Name: "user"}.renderFiles("roles.go")
	if err != nil || string(empty["roles.go"]) != template {
		t.Errorf("%v; without roles, %s is\n%s", err, rolesFile, empty["roles.go"])
	}
	dir := newProject(t)
	write(t, filepath.Join(dir, rolesFile), template)
	write(t, filepath.Join(dir, "modules/user/profile.go"), read(t, filepath.Join("../..", "modules/user/profile.go")))
	git(t, dir, "init", "--quiet")
	commit(t, dir)
	return dir
}

// succeed runs the command, and commits what it writes.
func succeed(t *testing.T, dir string, args ...string) (out string) {
	t.Helper()
	got := run(dir, args...)
	if got.code != command.ExitOK {
		t.Fatalf("%q: %+v", args, got)
	}
	commit(t, dir)
	return got.out
}

// TestRoles declares roles, uses them in the rules of a resource, and removes them.
func TestRoles(t *testing.T) {
	t.Parallel()
	dir := newRoles(t)
	fails := func(want string, args ...string) {
		t.Helper()
		if got := run(dir, args...); got.code != command.ExitUsage || got.err != want+"\n" {
			t.Errorf("%q: %+v, want %s", args, got, want)
		}
	}
	fails("flag --role: unknown role reception; the project has none. Declare it with: generate user --roles ROLE,ROLE", "note", "a", "--role", "reception=create")
	succeed(t, dir, "user", "--roles", "practitioner,front-desk", "--add", "phone")
	for name, wants := range map[string][]string{
		rolesFile: {
			"generate user --roles practitioner,front-desk\n", "var Roles = []string{\"user\", \"admin\", \"practitioner\", \"front-desk\"}\n",
			"\tRoleFrontDesk    access.Role = \"front-desk\"\n", "`json:\"role\" validate:\"required,oneof=user admin practitioner front-desk\" enums:\"user,admin,practitioner,front-desk\"`",
		},
		"modules/user/profile.go": {"generate user phone:string\n"},
	} {
		for _, want := range wants {
			if got := read(t, filepath.Join(dir, name)); !strings.Contains(got, want) {
				t.Errorf("no %s in\n%s", want, got)
			}
		}
	}
	fails("flag --role: unknown role frontdesk; did you mean front-desk?", "note", "a", "--role", "frontdesk=create")
	fails("flag --role: admin is a role of every project; use --admin", "note", "a", "--role", "admin=create")
	for args, want := range map[string]string{
		"user --roles a,user":   "flag --roles: user names other callers; choose another name",
		"user --roles a,A":      `flag --roles: "A" is not in kebab-case; write a`,
		"user --roles a,b,a":    "flag --roles: a is given twice",
		"user --roles a --drop": "flags: flag needs an argument: --drop",
		"note --roles a":        "flag --roles: is for users and organizations; write user --roles a",
	} {
		fails(want, strings.Fields(args)...)
	}
	before := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	succeed(t, dir, "note", "a", "--role", "front-desk=create,update", "--role", "practitioner=update,list", "--admin", "delete")
	declared := "note a:string --admin delete --role front-desk=create,update --role practitioner=list,update"
	for name, want := range map[string]string{
		"module.go":  declared + "\n",
		"router.go":  `r.PATCH("/notes/:id", route.Role(user.RoleFrontDesk, user.RolePractitioner), c.update)`,
		fixturesFile: `"list": "role=practitioner"`,
	} {
		if got := read(t, filepath.Join(dir, "modules/note", name)); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	succeed(t, dir, "note", "--rename", "a=b", "--add", "c:int")
	if got := read(t, filepath.Join(dir, "modules/note/module.go")); !strings.Contains(got, "note b:string c:int --admin delete --role front-desk=create,update --role practitioner=list,update\n") {
		t.Errorf("a change loses roles:\n%s", got)
	}
	fails("flag --roles: modules/note uses the role practitioner; keep it, or remove the resource first", "user", "--roles", "front-desk")
	succeed(t, dir, "--undo", "note")
	if left := git(t, dir, "diff", "--stat", before); left != "" {
		t.Errorf("--undo leaves\n%s", left)
	}
	if out := succeed(t, dir, "user", "--roles", "front-desk"); !strings.Contains(out, "Users keep a removed role") {
		t.Errorf("%s", out)
	}
	succeed(t, dir, "user", "--roles", "")
	if got, want := read(t, filepath.Join(dir, rolesFile)), read(t, filepath.Join("../..", rolesFile)); got != want {
		t.Errorf("without roles:\n%s", got)
	}
}

// TestRolesOfParents checks that callers with a role can see what they refer to, and the parents of what they write.
func TestRolesOfParents(t *testing.T) {
	t.Parallel()
	dir := newRoles(t)
	succeed(t, dir, "user", "--roles", "doctor,nurse")
	succeed(t, dir, "visit", "a", "--role", "doctor=create,list,show,update,delete")
	succeed(t, dir, "diary", "a", "--own", "list,show")
	for args, want := range map[string]string{
		"line a --under visit --role nurse=create,update,delete":                     "these callers may create lines, and cannot see visits",
		"line a --under visit --user create,update,delete":                           "these callers may create lines, and cannot see visits",
		"line a --under diary --role nurse=create,update,delete":                     "these callers may create lines, and cannot see diaries",
		"line a b:ref(visit) --role nurse=create":                                    "--role may create lines, and cannot see visits",
		"line a b:ref(visit)":                                                        "--user may create lines, and cannot see visits",
		"line a --role nurse=delete":                                                 "delete is for roles, and update for the owner; give update to roles or admins too, or add --no-owner",
		"line a --role nurse=list,show --admin update":                               "flag --role: list is for roles, and delete for the owner",
		"line a --own list,show --role nurse=delete":                                 "flag --role: excludes --own, with which only the owner and admins see a record; omit --role, and write resource.OwnOr(user.RoleNurse) instead",
		"line a --own list,show --role nurse=list --role doctor=show,list":           "resource.OwnOr(user.RoleDoctor, user.RoleNurse)",
		"line a --role nurse":                                                        "write ROLE=METHODS",
		"line a --role nurse=create --role nurse=create":                             "create is given twice to nurse",
		"line a --role nurse=create --admin create":                                  "create is also given to --admin",
		"line a --role nurse=creat":                                                  "did you mean create?",
		"line a --under visit --role doctor=create,update,delete --role doctor=list": "callers that may read visit may list",
	} {
		if got := run(dir, strings.Fields(args)...); got.code != command.ExitUsage || !strings.Contains(got.err, want) || strings.Contains(args, "--own") && strings.Count(got.err, "\n") != 1 {
			t.Errorf("%s: %+v, want %s", args, got, want)
		}
	}
	for _, args := range []string{
		"line a b:ref(visit) --role doctor=create,update --admin delete", "note a --under visit --role doctor=create,update,delete", "item a --under visit", "page a --role nurse=update,delete",
	} {
		succeed(t, dir, strings.Fields(args)...)
	}
	if got := read(t, filepath.Join(dir, "modules/item/router.go")); strings.Count(got, "route.Role(user.RoleDoctor)") != 6 {
		t.Errorf("the parent's rule is missing:\n%s", got)
	}
}

// TestWeakestRole checks which callers can see and change records.
func TestWeakestRole(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][2]string{
		"note a --role x=create":                                   {"resource.Public", "resource.Users"},
		"note a --role x=create,list,show,update,delete":           {"resource.Roles(user.RoleX)", "resource.Roles(user.RoleX)"},
		"note a --role y=list,show,update --role x=delete":         {"resource.Roles(user.RoleX, user.RoleY)", "resource.Roles(user.RoleX, user.RoleY)"},
		"note a --role x=list,show,update --admin create,delete":   {"resource.Roles(user.RoleX)", "resource.Roles(user.RoleX)"},
		"note a --role x=list --admin show --master update,delete": {"resource.Roles(user.RoleX)", "resource.Master"},
		"note a --user list --role x=create --methods create,list": {"resource.Users", "resource.Roles(user.RoleX)"},
	} {
		r := declareAll(t, strings.Fields(args)...)
		if got := [2]string{r.See(), r.Change()}; !slices.Equal(got[:], want[:]) {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
	}
}
