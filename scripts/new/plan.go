package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/ginseng/scripts/internal/codemod"
	"example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
)

// upgraded has the file trees of an upgrade. The Go files of own and before are rewritten for the new version, so that the merge of the
// difference between before and after has few conflicts.
type upgraded struct {
	current       files.Tree // the project's Go files, unchanged
	own           files.Tree // the project's Go files, rewritten
	before, after files.Tree // the unmodified project in both versions, with its generated resources; before is rewritten, too
	notes         []string   // for the user
}

const fixturesFile = "fixtures_test.go"

// planUpgrade computes an upgrade of the project. It writes nothing to the project.
func (p project) planUpgrade(ctx context.Context, old, next source) (u upgraded, err error) {
	// third_party has the copy of the runtime, which withRuntime replaces
	if u.current, err = files.Read(p.dir, func(name string) bool { return path.Ext(name) == ".go" && !strings.HasPrefix(name, "third_party/") }); err != nil {
		return u, err
	}
	u.own = maps.Clone(u.current)
	if u.before, err = old.pristine(ctx, p.answers); err != nil {
		return u, err
	}
	if u.after, err = next.pristine(ctx, p.answers); err != nil {
		return u, err
	}
	resources, err := u.addResources(ctx, p, old, next)
	if err != nil {
		return u, err
	}
	changed, notes, err := codemod.Rewrite(u.own)
	if err != nil {
		return u, err
	}
	maps.Copy(u.own, changed)
	if changed, _, err = codemod.Rewrite(u.before); err != nil {
		return u, err
	}
	maps.Copy(u.before, changed)
	for _, note := range notes {
		if !bytes.Equal(u.own[note.File], u.before[note.File]) { // otherwise the merge replaces the file
			u.notes = append(u.notes, note.String())
		}
	}
	for _, name := range resources {
		if err := u.matchResource(name); err != nil {
			return u, err
		}
	}
	u.before, u.after = old.withRuntime(u.before), next.withRuntime(u.after)
	if u.before["go.mod"], err = os.ReadFile(filepath.Join(p.dir, "go.mod")); err != nil {
		return u, err
	}
	u.after["go.mod"], err = next.goMod(u.before["go.mod"])
	return u, err
}

// addResources adds the generated resources of the project to before and after, as the generators of both versions write them.
// It returns their names in the order of the registry. A resource that one of the versions cannot generate stays as it is, with
// a note. If the registry cannot be parsed, no resource is upgraded, and a note has the reason.
func (u *upgraded) addResources(ctx context.Context, p project, old, next source) (names []string, err error) {
	calls, err := p.resources(u.own)
	if err != nil {
		u.notes = append(u.notes, fmt.Sprintf("generated resources are not upgraded: %v", err))
		return nil, nil
	}
	if len(calls) == 0 {
		return nil, nil
	}
	const roles = "modules/user/roles.go" // access rules of resources can name the roles of the project
	var trees [2]files.Tree
	failed := map[string]error{}
	for i, version := range []struct {
		source
		tree files.Tree
	}{{old, u.before}, {next, u.after}} {
		tree := maps.Clone(version.tree)
		if u.own[roles] != nil {
			tree[roles] = u.own[roles]
		}
		var wrong map[string]error
		if trees[i], wrong, err = version.generate(ctx, tree, p.answers, calls); err != nil {
			return nil, err
		}
		maps.Copy(failed, wrong)
	}
	for _, args := range calls {
		if err := failed[args[0]]; err != nil {
			u.notes = append(u.notes, fmt.Sprintf("modules/%s: is not upgraded, because it cannot be generated from its go:generate line: %v", args[0], err))
			continue
		}
		names = append(names, args[0])
		for i, tree := range []files.Tree{u.before, u.after} {
			for name, data := range trees[i] {
				if strings.HasPrefix(name, "modules/"+args[0]+"/") {
					tree[name] = data
				}
			}
		}
	}
	return names, nil
}

// resources returns the arguments of generate for each generated resource, in the order of the registry.
func (p project) resources(own files.Tree) (calls [][]string, err error) {
	modules, err := registry.Parse(own[registry.Path])
	if err != nil {
		return nil, err
	}
	for _, m := range modules.Modules() {
		name := path.Base(m.Import)
		args := registry.ReadDirective(string(own["modules/"+name+"/module.go"]))
		if len(args) > 0 && args[0] == name && componentOf(name) == "" { // the template has the components
			calls = append(calls, args)
		}
	}
	return calls, nil
}

// matchResource prepares the merge of a generated resource. It leaves out the files that the project has deleted, replaces the fixtures
// of the project by generated ones, and converts Create to New, unless the project has changed Create.
func (u *upgraded) matchResource(name string) error {
	dir := "modules/" + name
	for file := range u.before {
		if path.Dir(file) == dir && u.own[file] == nil { // the project has deleted it
			delete(u.before, file)
			delete(u.after, file)
		}
	}
	if file := dir + "/" + fixturesFile; !bytes.Equal(u.own[file], u.before[file]) {
		u.own[file] = u.before[file]
		u.notes = append(u.notes, file+": your changes are replaced by generated code; repeat them in router_test.go.")
	}
	line, err := codemod.Resource{Dir: dir, Own: u.own, Before: u.before, After: u.after}.MoveCreate()
	if err != nil {
		return err
	}
	if line > 0 {
		u.notes = append(u.notes, fmt.Sprintf("%s/service.go:%d: you have changed Create, so it is not converted. Records of this module cannot be "+
			"imported until its Service has New: see docs/modules.md of Ginseng", dir, line))
	}
	return nil
}

// rewrite commits the rewritten Go files of the project, before the merge of the new version. With --dry-run, it prints the differences
// instead.
func (c cli) rewrite(ctx context.Context, p project, u upgraded, r request) error {
	before, after := files.Tree{}, files.Tree{}
	for name, data := range u.own {
		if !bytes.Equal(u.current[name], data) {
			before[name], after[name] = u.current[name], data
		}
	}
	base, result, err := files.Commits(ctx, p.dir, before, after, "Rewrite code for the new version of Ginseng")
	switch {
	case err != nil || base == result:
		return err
	case r.dryRun:
		return c.show(ctx, p, base, result)
	}
	if err := files.CherryPick(ctx, p.dir, result); err != nil {
		return err
	}
	c.printf("Your code is rewritten for the new version. To undo the whole upgrade: git reset --hard %s\n", p.commit)
	return nil
}

// reportLeft prints the lines of an upgraded project that do not compile, with a remedy if it is known. unfinished is the error
// of the upgrade, or nil. If all lines compile, reportLeft returns unfinished.
func (c cli) reportLeft(ctx context.Context, p project, unfinished error) error {
	_, err := files.Run(ctx, p.dir, "go", "build", "-gcflags=-e", "./...") // vet prints only the first error of a package
	_, vetErr := files.Run(ctx, p.dir, "go", "vet", "./...")
	if err = errors.Join(err, vetErr); err == nil {
		return unfinished
	}
	left := explain(err.Error())
	if left == "" {
		return errors.Join(err, unfinished)
	}
	c.printf("%s", left)
	return errors.Join(unfinished, errors.New("these lines are errors, and lines that depend on them can follow. Change them, commit, and run upgrade "+
		"again, until it prints no more lines. Then run go mod tidy and make docs"))
}

// explain returns the first error at each position in the output of the compiler and of vet, each followed by its known remedies.
func explain(output string) string {
	var out strings.Builder
	seen := map[string]bool{}
	for line := range strings.Lines(output) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "vet: ")
		at := position.FindString(line)
		if at == "" || seen[at] { // vet repeats errors of the compiler, with longer names of types
			continue
		}
		seen[at] = true
		fmt.Fprintf(&out, "%s\n", line)
		for _, r := range remedies {
			if r.error.MatchString(line) {
				fmt.Fprintf(&out, "\t%s\n", r.remedy)
			}
		}
	}
	return out.String()
}

// position matches the beginning of an error of the compiler, such as modules/shop/shop.go:12:3:.
var position = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)

// remedies has what to do about errors of the compiler.
var remedies = []struct {
	error  *regexp.Regexp
	remedy string
}{
	{regexp.MustCompile(`kit\.(Middleware|Auth)\b|undefined: (mw|auth)\b|wrong type for method Routes`),
		"pass the caller and the limits of a route as arguments: go doc example.com/ginseng/kit/route.Router"},
	{regexp.MustCompile(`\*route\.Router has no field or method`),
		"a Router has GET, POST, PUT, PATCH, DELETE and Handle; write whole paths instead of groups"},
	{regexp.MustCompile(`missing method Parts|kit\.(Closer|Worker|EmailPreviewer)|(job|migrate)\.Module|telemetry\.Metered`),
		"jobs, workers and the like are fields of the result of Parts: go doc example.com/ginseng/kit.Parts"},
	{regexp.MustCompile(`kit\.(Recorded|RecordedResource)\b`), "go doc example.com/ginseng/kit.Resources"},
	{regexp.MustCompile(`kit\.Resource(s|User)\b|m\.resources`), "use Routes of kit.Deps: Call calls a route in process, Resources lists the resources"},
	{regexp.MustCompile(`user\.User has no field or method (View|Public)\b`), "the module user returns views: users.View(u) and users.Public(u)"},
	{regexp.MustCompile(`repeats json tag "\w+" also at profile\.go`),
		"users have this field of Ginseng now: rename yours in modules/user/profile.go, also in its go:generate line, and stored values with migrate.Rename"},
	{regexp.MustCompile(`undefined: listing\.Collection\b`), "listing.Source replaces it"},
	{regexp.MustCompile(`arguments in call to .*\.Create`), "to create a record under another, call service.Under(parent).Create(ctx, caller, in)"},
}
