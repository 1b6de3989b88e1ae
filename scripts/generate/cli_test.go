package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/collections"
	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/documents"
	trees "example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
)

// newProject makes a project with the files that the command reads.
func newProject(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":                  "module example.com/shop\n\ngo 1.26\n",
		documents.SwaggerFile:     `{"paths": {"/auth": {}, "/users/{id}": {}}, "definitions": {"rest.Problem": {}, "Problem": {}}}`,
		"modules/auth/model.go":   "package auth\n\ntype Session struct {\n\tstore.Meta\n}\n\nvar spec = store.Spec{Name: \"sessions\"}\n",
		"modules/user/model.go":   "package user\n\n// User is a user.\ntype User struct {\n\tstore.Meta `bson:\",inline\"`\n}\n",
		"modules/user/module.go":  "package user\n\ntype Module struct {\n\tresource.Target\n}\n",
		"modules/policy/model.go": "package policy\n\ntype Policy struct {\n\tstore.Meta\n}\n",
		registry.Path: `package modules

import (
	"example.com/ginseng/kit"
	"example.com/shop/modules/user"
)

// Settings has the settings of every module.
type Settings struct {
	User user.Settings
}

// New creates the modules, dependencies first.
func New(d kit.Deps, s Settings) []kit.Module {
	users := user.New(d, s.User)
	return []kit.Module{
		users,
	}
}
`,
	} {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// files returns all files and directories with their content.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			out[path+"/"] = ""
		} else if err == nil {
			out[path] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// result is the result of a call.
type result struct {
	code     int
	out, err string
}

func run(dir string, args ...string) result { return callWith(cli{dir: dir}, args...) }

func callWith(c cli, args ...string) result {
	var out, errs bytes.Buffer
	if c.in == nil {
		c.in = strings.NewReader("")
	}
	if c.document == nil {
		c.document = func(string, string, map[string]string) (trees.Tree, error) { return nil, nil }
	}
	c.out, c.err = &out, &errs
	code := c.run(args)
	return result{code, out.String(), errs.String()}
}

// TestAddUndo adds a resource, fails to add it again, and removes it. Then the files are as before.
func TestAddUndo(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	before := files(t, dir)
	args := []string{"--plural", "octopuses", "octopus", "name:string:required:search", "--admin=create", "kind:enum(a,b):filter", "owner:ref(user)"}
	got := run(filepath.Join(dir, "modules", "user"), args...)
	if got.code != 0 || !strings.Contains(got.out, "written modules/octopus/module.go") || !strings.Contains(got.out, "octopus: /octopuses. Next:\n  go test ./modules/octopus/\n") {
		t.Fatalf("%+v", got)
	}
	after := files(t, dir)
	if want := len(before) + 1 + len(fileNames); len(after) != want {
		t.Errorf("%d files, want %d", len(after), want)
	}
	if modules := after[filepath.Join(dir, registry.Path)]; !strings.Contains(modules, "\toctopuses := octopus.New(d, users)\n\treturn") {
		t.Errorf("the registry is\n%s", modules)
	}
	want := "name octopus: modules/octopus exists; remove it with --undo, or choose another name\n"
	if got := run(dir, args...); got.code != command.ExitUsage || got.err != want || !maps.Equal(files(t, dir), after) {
		t.Errorf("again: %+v", got)
	}
	if got := run(dir, "octopus", "--undo", "--dry-run"); got.code != 0 || !strings.Contains(got.out, "\n+++ /dev/null\n") || !maps.Equal(files(t, dir), after) {
		t.Errorf("--undo --dry-run: %+v", got)
	}
	if got := run(dir, "--undo", "octopus"); got.code != 0 || !strings.Contains(got.out, "removed modules/octopus/module.go") || !strings.Contains(got.out, `in the collection "octopuses"`) || !strings.Contains(got.out, `db.getCollection("octopuses").drop()`) || !strings.Contains(got.out, "Restart the service.") || !maps.Equal(files(t, dir), before) {
		t.Errorf("--undo: %+v", got)
	}
	if got := run(dir, "--undo", "octopus"); got.code != command.ExitUsage || got.err != "name octopus: modules/octopus/module.go does not exist; use one of auth, policy, user\n" {
		t.Errorf("--undo again: %+v", got)
	}
}

// TestDryRun prints a diff and writes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	before := files(t, dir)
	got := run(dir, "note", "text", "--dry-run")
	if got.code != 0 || !maps.Equal(files(t, dir), before) {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{
		"--- /dev/null\n+++ b/modules/note/model.go\n@@ -0,0 +1,", "\n--- a/modules/modules.go\n+++ b/modules/modules.go\n@@ -",
		"\n+\tnotes := note.New(d, users)\n", "also generated: docs/swagger.json, docs/openapi.json. Nothing was written.\n",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing in\n%s", want, got.out)
		}
	}
}

// TestEdited removes edited files only with --force.
func TestEdited(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	before := files(t, dir)
	run(dir, "note", "text")
	write(t, filepath.Join(dir, "modules/note/more.go"), "package note\n")
	model := filepath.Join(dir, "modules/note/model.go")
	write(t, model, read(t, model)+"\n// mine\n")
	edited := files(t, dir)
	want := "file modules/note/model.go: was edited or added after it was generated; --force removes it\n" +
		"file modules/note/more.go: was edited or added after it was generated; --force removes it\n"
	if got := run(dir, "--undo", "note"); got.code != command.ExitUsage || got.err != want || !maps.Equal(files(t, dir), edited) {
		t.Errorf("%+v", got)
	}
	if got := run(dir, "--undo", "note", "--force"); got.code != 0 || !maps.Equal(files(t, dir), before) {
		t.Errorf("%+v", got)
	}
}

// TestCollisions rejects names that the project uses.
func TestCollisions(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	write(t, filepath.Join(dir, "modules/blogpost/x.go"), "package blogpost\n")
	write(t, filepath.Join(dir, "modules/policy/module.go"), "package policy\n")
	before := files(t, dir)
	for args, want := range map[string]string{
		"user a":                              "name user: modules/user exists; remove it with --undo, or choose another name\n",
		"blog-post a":                         "name blog-post: modules/blogpost has package blogpost; choose another name\n",
		"kit a":                               "name kit: is a package that every module imports; choose another name\n",
		"users a --plural people":             "name users: modules/modules.go uses the name users; choose another name\n",
		"person a --plural users":             "plural users: the API has the path /users; choose another with --plural\n",
		"answer a --plural limits":            "plural limits: the runtime has this collection; choose another with --plural\n",
		"answer a --plural sessions":          "plural sessions: modules/auth/model.go has this collection; choose another with --plural\n",
		"problem a":                           "name problem: the API document has the type Problem; choose another name\n",
		"login a --plural auth":               "plural auth: the API has the path /auth; choose another with --plural\n",
		"probe a --plural readyz":             "plural readyz: the API has the path /readyz; choose another with --plural\n",
		"sign-in a":                           "name sign-in: is reserved for a component of Ginseng; choose another name\n",
		"task a --plural jobs":                "plural jobs: is reserved for a component of Ginseng; choose another with --plural\n",
		"oauth a --plural grants":             "name oauth: is reserved for a component of Ginseng; choose another name\n",
		"note a:file b:image --public create": "fields a and b: files are not possible while everyone may create records, because files count toward the quota of a user; let others create\n",
		"note fileFields:file":                "field fileFields: is an embedded struct of resources with files; choose another name\n",
		"file-fields a:file":                  "name file-fields: is a type of modules with files; choose another name\n",
		"note a:ref(nobody)":                  "field a: unknown resource nobody; use one of user\n",
		"note a:ref(usr)":                     "field a: unknown resource usr; did you mean user?\n",
		"note a:ref(auth)":                    "field a: unknown resource auth; use one of user\n",
		"--undo user":                         "name user: modules/user/module.go has no go:generate line of this command; delete the module by hand\n",
		"--undo policy":                       "name policy: modules/policy/module.go has no go:generate line of this command; delete the module by hand\n",
		"--undo ../x":                         "name \"../x\": is not in kebab-case\n",
		"--undo":                              "name: is missing; write --undo NAME\n",
		"--undo user a":                       "fields: --undo reads the declaration from module.go; write only the name\n",
		"--undo user --owner":                 "flag --owner: --undo reads the declaration from module.go; omit the flag\n",
		"note a --force":                      "flag --force: needs --undo\n",
	} {
		if got := run(dir, strings.Fields(args)...); got.code != command.ExitUsage || got.err != want {
			t.Errorf("%s: %d\n%swant\n%s", args, got.code, got.err, want)
		}
	}
	if !maps.Equal(files(t, dir), before) {
		t.Error("something was written")
	}
}

// TestFilePaths rejects files of a resource, and a resource under it, that would have the same path.
func TestFilePaths(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	git(t, dir, "init", "--quiet")
	for _, args := range []string{"order scans:[]file", "scan-page text --under order"} {
		commit(t, dir)
		if got := run(dir, strings.Fields(args)...); got.code != command.ExitOK {
			t.Fatalf("%s: %+v", args, got)
		}
	}
	commit(t, dir)
	for args, want := range map[string]string{
		"scan text --under order":                               "plural scans: order has files at the same path, /orders/:id/scans; choose another with --plural\n",
		"page text --under order --public create,update,delete": "",
	} {
		if got := run(dir, strings.Fields(args)...); got.err != want {
			t.Errorf("%s: %d\n%swant\n%s", args, got.code, got.err, want)
		}
	}
	commit(t, dir)
	want := "field pages: the resource page is at the same path, /orders/:id/pages; choose another name\n"
	if got := run(dir, "order", "--add", "pages:file"); got.err != want {
		t.Errorf("%+v", got)
	}
	if got := run(dir, "page", "--add", "scan:file"); !strings.HasPrefix(got.err, "fields scan: files are not possible while everyone may create") {
		t.Errorf("%+v", got)
	}
}

// TestTakenVariable adds, changes and removes a resource whose plural is the variable of another module. The path is that of the
// plural. If the other variable is also taken, the message has two remedies.
func TestTakenVariable(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	git(t, dir, "init", "--quiet")
	path := filepath.Join(dir, registry.Path)
	write(t, path, strings.Replace(read(t, path), "\treturn []", "\ttools := mcp.New(d)\n\treturn []", 1))
	commit(t, dir)
	before := read(t, path)
	if got := run(dir, "tool", "name"); got.code != command.ExitOK || !strings.Contains(got.out, "tool: /tools.") {
		t.Fatalf("%+v", got)
	}
	commit(t, dir)
	if got := run(dir, "tool", "--add", "user:ref(user)"); got.code != command.ExitOK || !strings.Contains(read(t, path), "\ttoolsModule := tool.New(d, users)\n") {
		t.Errorf("--add: %+v\n%s", got, read(t, path))
	}
	commit(t, dir)
	if got := run(dir, "loan", "tool:ref(tool)"); got.code != command.ExitOK || !strings.Contains(read(t, path), "loan.New(d, toolsModule, users)") {
		t.Errorf("ref: %+v\n%s", got, read(t, path))
	}
	for _, name := range []string{"loan", "tool"} {
		if got := run(dir, "--undo", name); got.code != command.ExitOK {
			t.Errorf("--undo: %+v", got)
		}
	}
	if got := read(t, path); got != before {
		t.Errorf("the registry is\n%s", got)
	}
	write(t, path, strings.Replace(before, "\ttools := mcp.New(d)\n", "\ttools := mcp.New(d)\n\ttoolsModule := tools\n", 1))
	want := "plural tools: modules/modules.go uses the name toolsModule; rename the variable there, or choose another with --plural\n"
	if got := run(dir, "tool", "name"); got.code != command.ExitUsage || got.err != want {
		t.Errorf("%+v", got)
	}
}

// TestUnknownRegistry prints the lines to add by hand.
func TestUnknownRegistry(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	path := filepath.Join(dir, registry.Path)
	write(t, path, strings.Replace(read(t, path), "func New(", "func Assemble(", 1))
	before := files(t, dir)
	got := run(dir, "note", "text")
	if under := run(dir, "note", "text", "--under", "article"); !strings.Contains(under.err, "unknown resource article") {
		t.Errorf("under an article: %+v", under)
	}
	for _, want := range []string{
		"nothing was changed", "no func New(d kit.Deps, s Settings)", `"example.com/shop/modules/note"`, "notes := note.New(d, users)", "notes,",
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("%q is missing in\n%s", want, got.err)
		}
	}
	if got.code != command.ExitFailed || !maps.Equal(files(t, dir), before) {
		t.Errorf("exit code %d", got.code)
	}
}

// TestAsk asks at a terminal, and repeats a question after a mistake.
func TestAsk(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	if got := run(dir); got.code != command.ExitUsage || got.err != usage() || got.out != "" {
		t.Errorf("no terminal: %+v", got)
	}
	if got := callWith(cli{dir: dir, terminal: true}); got.code != command.ExitUsage || got.err != usage() {
		t.Errorf("no answer: %+v", got)
	}
	got := callWith(cli{dir: dir, terminal: true, in: strings.NewReader("My Note\nnote\ntext:txt\ntext:text due:time\n")}, "--dry-run")
	for _, want := range []string{"is not in kebab-case; write my-note\nName", "unknown type txt; did you mean text?\nFields", "generate note text:text due:time\n"} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("%q is missing in %+v", want, got)
		}
	}
	if got := run(dir, "--help"); got.code != 0 || got.out != usage() {
		t.Errorf("%+v", got)
	}
	if got := run(t.TempDir(), "note", "text"); got.code != command.ExitFailed || !strings.Contains(got.err, "no go.mod with modules/modules.go") {
		t.Errorf("outside of a project: %+v", got)
	}
}

// TestDirective runs go generate on an existing module.
func TestDirective(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	before := files(t, dir)
	if got := callWith(cli{dir: dir, directive: true}, "user", "name"); got.code != 0 || !strings.HasPrefix(got.out, "user: not generated again") || !maps.Equal(files(t, dir), before) {
		t.Errorf("%+v", got)
	}
}

// TestDocumentFails changes nothing if the document cannot be generated.
func TestDocumentFails(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	before := files(t, dir)
	fails := func(string, string, map[string]string) (trees.Tree, error) { return nil, errors.New("no swag") }
	want := "generate: nothing was changed: no swag\n"
	if got := callWith(cli{dir: dir, document: fails}, "note", "text"); got.code != command.ExitFailed || got.err != want || !maps.Equal(files(t, dir), before) {
		t.Errorf("add: %+v", got)
	}
	run(dir, "note", "text")
	before = files(t, dir)
	if got := callWith(cli{dir: dir, document: fails}, "--undo", "note"); got.code != command.ExitFailed || got.err != want || !maps.Equal(files(t, dir), before) {
		t.Errorf("--undo: %+v", got)
	}
}

// TestUndocumented keeps the documents if the project does not compile.
func TestUndocumented(t *testing.T) {
	t.Parallel()
	dir := newProject(t)
	before := files(t, dir)
	fails := func(string, string, map[string]string) (trees.Tree, error) {
		return nil, fmt.Errorf("%w: undefined: x", documents.ErrRoutes)
	}
	got := callWith(cli{dir: dir, document: fails}, "note", "text")
	after := files(t, dir)
	mismatch := func(string, string, map[string]string) (trees.Tree, error) { return nil, documents.ErrMismatch }
	if other := callWith(cli{dir: dir, document: mismatch}, "--undo", "note"); other.code != command.ExitOK || !strings.Contains(other.out, "then run make docs") {
		t.Errorf("%+v", other)
	}
	if got.code != command.ExitOK || !strings.Contains(got.out, "undefined: x\nCorrect the errors, then run make docs.") || strings.Contains(got.out, "written docs/") {
		t.Errorf("%+v", got)
	}
	if document := filepath.Join(dir, documents.OpenAPIFile); after[document] != before[document] || len(after) <= len(before) {
		t.Error("the document is changed, or the resource is missing")
	}
}

// TestRuntimeCollections compares the list with the source of the runtime.
func TestRuntimeCollections(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"kit", "middleware", "server"} {
		found, err := collections.In(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range found {
			if !slices.Contains(runtimeCollections, name) && !strings.Contains(file, "test/") {
				t.Errorf("%s has the collection %s, which is missing in runtimeCollections", file, name)
			}
		}
	}
}
