package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	trees "example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/naming"
	"example.com/ginseng/scripts/internal/registry"
)

// planChange plans a change of a resource's fields. It generates the module with the old and with the new fields, and merges the
// difference into the current module.
func (p *project) planChange(c call) (*plan, error) {
	wrong := c.wrong
	for _, flag := range c.set {
		if flag == "roles" && len(c.args) == 1 && !isProfile(c.args[0]) {
			wrong.Add("flag --roles: is for users and organizations; write user --roles %s", strings.Join(c.projectRoles, ","))
		} else if !slices.Contains([]string{"add", "change", "rename", "drop", "roles", "dry-run", "merge"}, flag) {
			wrong.Add("flag --%s: cannot change; edit the module by hand", flag)
		}
	}
	if len(c.args) != 1 {
		wrong.Add("name: write one name, and the fields after --add and --change")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if of, ok := profileOf(c.args[0]); ok {
		return p.planProfile(c, of)
	}
	old, err := p.generated(c.args[0])
	if err != nil {
		return nil, err
	}
	next := old
	var steps []string
	next.Fields, steps = editFields(old.Fields, c, &wrong)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	checked, err := parseArguments(next.Declaration())
	if err != nil {
		return nil, err
	}
	next = declare(checked, p.module, p.hasUser(), &wrong)
	next.Migrated = old.Migrated || steps != nil
	modules, _, err := p.registry()
	if err != nil {
		return nil, err
	}
	p.resolve(&next, modules, &wrong)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	out, err := p.merged(c, old, next, steps, mergedFiles...)
	if err != nil {
		return nil, err
	}
	indexed := next.Uniques().only(func(f Field) bool {
		return !slices.ContainsFunc(old.Uniques(), func(o Field) bool { return o.Name == f.Name && o.Among == f.Among })
	})
	out.done = next.uniqueNotes(indexed) + out.done
	if indexed != nil {
		out.done += "The next start makes the index, and fails if stored records have the same value of a unique field.\n"
	}
	if old.entry() == next.entry() {
		return out, nil
	}
	return out, p.editRegistry(out, "change", next, func(m *registry.Registry) ([]byte, error) { return m.Replace(old.entry(), next.entry()) })
}

// merged returns a plan that merges the change from old to next into the files with the names. If there are steps, the plan adds
// a migration. If files conflict, merged fails, unless --merge is set. A fixtures_test.go that conflicts is written again.
func (p *project) merged(c call, old, next Resource, steps []string, names ...string) (*plan, error) {
	if err := trees.CheckClean(context.Background(), p.root); err != nil {
		return nil, err
	}
	before, err := old.renderFiles(names...)
	if err != nil {
		return nil, err
	}
	after, err := next.renderFiles(names...)
	if err != nil {
		return nil, err
	}
	out := &plan{root: p.root, done: fmt.Sprintf("%s is changed. Next:\n  git diff\n  go test ./modules/%s/\n", next.Name, next.Name)}
	var conflicts []string
	for _, name := range names {
		file := path.Join("modules", next.Name, name)
		current, err := os.ReadFile(p.path(file))
		if name == fixturesFile && errors.Is(err, fs.ErrNotExist) {
			continue // the project has deleted the generated tests
		}
		if err != nil {
			return nil, err
		}
		merged, conflict, err := mergeFile(name, current, before[name], after[name])
		if err != nil {
			return nil, err
		}
		if conflict != "" && name == fixturesFile { // edited, or of an earlier version; edits belong in router_test.go
			merged, conflict = after[name], ""
			out.done += file + " is written again, without your changes to it; make them in router_test.go.\n"
		}
		if conflict == "" {
			out.add("changed", file, current, merged)
			continue
		}
		conflicts = append(conflicts, file+":\n"+conflict)
		out.add("changed", file, before[name], after[name])
	}
	if out.conflicts = conflicts != nil; out.conflicts && (!c.merge || c.dryRun) {
		return nil, fmt.Errorf("nothing was changed: you and the change edit the same lines. Run the command with --merge to resolve the conflicts "+
			"with git, or undo your edits there and make them again afterwards:\n\n%s", strings.Join(conflicts, "\n"))
	}
	if steps != nil {
		file := path.Join("modules", next.Name, migrationsFile)
		current, err := os.ReadFile(p.path(file))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		changed, err := next.addMigration(current, steps)
		if err != nil {
			return nil, fmt.Errorf("nothing was changed: %s: %w", file, err)
		}
		out.add("changed", file, current, changed)
		out.done += "The next start changes the stored records; after a rename or a change of type, stop old instances first.\n"
		if strings.Contains(strings.Join(steps, "\n"), "migrate.Undecided") {
			out.done += "Stored records need a value for the new field: replace migrate.Undecided in " + file + ", or add the field with backfill=VALUE.\n"
		}
	}
	return out, nil
}

// editFields applies --drop, --rename, --change and --add to the fields old. It returns the new fields, and the Go code of the
// migration's steps; nil if stored records need no migration.
func editFields(old fieldList, c call, wrong *mistakes) (fields fieldList, steps []string) {
	fields = slices.Clone(old)
	at := func(flag, name string) int {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			wrong.Add("flag --%s: there is no field %s; %s", flag, quote(name), naming.Suggest(name, fields.Names()))
		}
		return i
	}
	var drops []string
	for _, name := range c.drops {
		if slices.ContainsFunc(c.renames, func(names string) bool { return strings.HasSuffix(names, "="+name) }) ||
			slices.ContainsFunc(c.adds, func(declaration string) bool { return strings.HasPrefix(declaration+":", name+":") }) {
			wrong.Add("flag --drop: another field gets the name %s; drop the old one first, in a separate run", quote(name))
		}
		if i := at("drop", name); i >= 0 {
			fields = slices.Delete(fields, i, i+1)
			drops = append(drops, fmt.Sprintf("migrate.Drop(%q)", name))
		}
	}
	for _, names := range c.renames {
		from, to, _ := strings.Cut(names, "=")
		checkFieldName(to, func(format string, args ...any) {
			wrong.Add("flag --rename %s: %s", quote(names), fmt.Sprintf(format, args...))
		})
		if slices.Contains(fields.Names(), to) {
			wrong.Add("flag --rename: the field %s exists", quote(to))
		} else if i := at("rename", from); i >= 0 {
			fields[i].Name = to
			steps = append(steps, fmt.Sprintf("migrate.Rename(%q, %q)", from, to))
		}
	}
	for _, declaration := range c.changes {
		f := parseField(declaration, wrong)
		i := at("change", f.Name)
		if i < 0 {
			continue
		}
		before := fields[i]
		if f.Backfill != "" && before.Required {
			wrong.Add("flag --change: %s is required already, so records have it; leave out backfill", f.Name)
		}
		if f.index = before.index; f.String() == before.String() {
			wrong.Add("flag --change: %s is declared so already", before)
		}
		checkConversion(before, f, wrong)
		fields[i] = f
		steps = append(steps, migrateField(before, f)...)
	}
	for _, declaration := range c.adds {
		f := parseField(declaration, wrong)
		if slices.ContainsFunc(fields, func(other Field) bool { return strings.EqualFold(other.Name, f.Name) }) {
			wrong.Add("flag --add: the field %s exists; change it with --change", quote(f.Name))
		}
		fields = append(fields, f)
		steps = append(steps, migrateField(Field{}, f)...)
	}
	if len(fields) == 0 {
		wrong.Add("flag --drop: a resource needs a field; remove the resource with --undo")
	}
	return fields, append(steps, drops...)
}

// checkConversion reports a change of a field that a migration of the stored records cannot make.
func checkConversion(old, next Field, wrong *mistakes) {
	switch {
	case old.Type != next.Type && (!old.kind().converts || !next.kind().converts):
		wrong.Add("flag --change: values of %s cannot become %s; drop the field and add another", old.Type, next.Type)
	case next.Unique && !old.Unique && !old.Required && old.IsText():
		wrong.Add("flag --change: %s cannot become unique, because records without it have the same value; add another field", old.Name)
	case next.Unique && old.Type != next.Type:
		wrong.Add("flag --change: %s is unique, and values can become equal when the type changes; add another field", next.Name)
	}
}

// migrateField returns the steps of the migration from the field old to the field next. If next is a new field, old has no name.
func migrateField(old, next Field) (steps []string) {
	step := func(format string, args ...any) { steps = append(steps, "migrate."+fmt.Sprintf(format, args...)) }
	goType, added := next.kind().goType, old.Name == ""
	retyped := !added && old.Type != next.Type && (old.kind().goType != goType || next.Values != nil)
	narrowed := slices.ContainsFunc(old.Values, func(v string) bool { return !slices.Contains(next.Values, v) })
	switch {
	case next.Values != nil && (retyped || narrowed):
		step(`OneOf(%q, "%s")`, next.Name, strings.Join(next.Values, `", "`))
	case retyped:
		step("Convert[%s](%q)", goType, next.Name)
	}
	sorted := next.IsText() && !next.Required && (next.Sort || next.Filter)
	switch {
	case next.HasDefault() && (added || !old.HasDefault() || retyped):
		step("Default[%s](%q, %q)", goType, next.Name, next.Default)
	case next.Backfill != "":
		step("Backfill[%s](%q, %q)", goType, next.Name, next.Backfill)
	case next.Required && added:
		step("Undecided[%s](%q)", goType, next.Name)
	case next.Required && !old.Required:
		step("Require(%q)", next.Name)
	case sorted && (added || !old.IsText() || !old.Sort && !old.Filter):
		step(`Default[string](%q, "")`, next.Name) // lists sort by the stored value, and a missing value is not ""
	}
	return steps
}

// profile is a component to which a project can add fields and roles: users, or organizations.
type profile struct {
	name, plural string
	fields       []string                            // of every record
	roles        func(*project) []string             // that the project declares
	check        func(*project, []string, *mistakes) // of new roles
	note         string                              // for removed roles
}

// profiles are the components to which a project can add fields and roles. profile.go of a component has the fields, and roles.go the
// roles; other files belong to the component.
var profiles = []profile{
	{
		name: "user", plural: "users", roles: (*project).roles, check: (*project).checkProjectRoles,
		fields: []string{"email", "name", "picture", "pictureFile", "role", "password", "epoch", "linksFrom", "undoFrom", "emailWords", "emailVerified", "hasPassword", "suspended", "keysFrom", "sessions", "twoFactor", "passkeys", "apiKeys"},
		note:   "Users keep a removed role, which allows nothing more, until an admin gives them another: GET /users?role[ne]=user lists them.\n",
	},
	{
		name: "organization", plural: "organizations", roles: (*project).orgRoles, check: (*project).checkProjectOrgRoles,
		fields: []string{"name", "role", "ownerIds"},
		note:   "Members keep a removed role, which allows what every member may, until they get another.\n",
	},
}

// profileOf returns the profile with the name; ok is false if there is none.
func profileOf(name string) (profile, bool) {
	i := slices.IndexFunc(profiles, func(p profile) bool { return p.name == name })
	if i < 0 {
		return profile{}, false
	}
	return profiles[i], true
}

func isProfile(name string) bool { _, ok := profileOf(name); return ok }

// planProfile plans new fields and other roles of users or organizations.
func (p *project) planProfile(c call, of profile) (*plan, error) {
	var wrong mistakes
	directory := "modules/" + of.name + "/"
	for _, flag := range c.set {
		if flag != "add" && flag != "roles" && flag != "dry-run" && flag != "merge" {
			wrong.Add("flag --%s: is not for %s; edit %sprofile.go", flag, of.plural, directory)
		}
	}
	current, err := os.ReadFile(p.path(directory + "profile.go"))
	if errors.Is(err, os.ErrNotExist) {
		wrong.Add("name %s: %sprofile.go does not exist; add %s with go tool new add %s", of.name, directory, of.plural, of.name)
	} else if err != nil {
		return nil, err
	}
	before := Resource{Module: p.module, Name: of.name, Plural: of.plural, Roles: of.roles(p)}
	if args := registry.ReadDirective(string(current)); len(args) > 1 {
		before.Fields = parseFields(args[1:], &wrong)
	}
	after := before
	if c.has("add") {
		after.Fields, _ = editFields(before.Fields, c, &wrong)
	}
	for _, f := range after.Fields {
		if f.Required || f.Unique || f.Search || f.Sort || f.Filter || f.ReadOnly || f.IsRef() || f.IsFile() {
			wrong.Add("field %s: a field of %s must be optional, and cannot have unique, search, sort, filter, readonly, ref or files; edit modules/%s for these", f.Name, of.plural, of.name)
		}
		if slices.Contains(of.fields, f.Name) {
			wrong.Add("field %s: is a field of every %s; choose another name", f.Name, of.name)
		}
	}
	files := []string{"profile.go"}
	if c.has("roles") {
		after.Roles = c.projectRoles
		of.check(p, after.Roles, &wrong)
		files = append(files, "roles.go")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	out, err := p.merged(c, before, after, nil, files...)
	if err == nil {
		out.done = fmt.Sprintf("%s are changed. Next:\n  git diff\n  go test ./modules/%s/\n", strings.ToUpper(of.plural[:1])+of.plural[1:], of.name)
	}
	if removed := slices.DeleteFunc(slices.Clone(before.Roles), func(role string) bool { return slices.Contains(after.Roles, role) }); err == nil && len(removed) > 0 {
		out.done += of.note
	}
	return out, err
}
