package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/command"
	trees "example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
)

// newRepository makes a project with a resource in a git repository.
func newRepository(t *testing.T, declaration ...string) string {
	t.Helper()
	dir := newProject(t)
	if got := run(dir, declaration...); got.code != command.ExitOK {
		t.Fatalf("%+v", got)
	}
	git(t, dir, "init", "--quiet")
	commit(t, dir)
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "--message", "change")
}

// edit replaces a string in a file and commits that.
func editFile(t *testing.T, file, from, to string) {
	t.Helper()
	source := read(t, file)
	if strings.Count(source, from) != 1 {
		t.Fatalf("%s has %q %d times:\n%s", file, from, strings.Count(source, from), source)
	}
	write(t, file, strings.Replace(source, from, to, 1))
	commit(t, filepath.Dir(file))
}

var declaredProduct = []string{"product", "name:string:required:search", "price:int:min=0:sort", "state:enum(a,b):filter", "note:text"}

// TestChange changes fields in every way. Without edits, the result is that of the new declaration.
func TestChange(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, declaredProduct...)
	args := []string{"product", "--add", "sku:string:filter", "--add", "size:int:readonly:default=3", "--change", "price:string:sort", "--rename", "state=status", "--drop", "note"}
	if got := run(dir, append(args, "--dry-run")...); got.code != command.ExitOK || !strings.Contains(got.out, "+++ b/modules/product/migrations.go") || git(t, dir, "status", "--porcelain") != "" {
		t.Errorf("--dry-run: %+v", got)
	}
	got := run(dir, args...)
	if got.code != command.ExitOK || !strings.Contains(got.out, "changed modules/product/model.go") || strings.Contains(got.out, "modules.go") {
		t.Fatalf("%+v", got)
	}
	other := newProject(t)
	want := run(other, "product", "name:string:required:search", "price:string:sort", "status:enum(a,b):filter", "sku:string:filter", "size:int:readonly:default=3")
	if want.code != command.ExitOK {
		t.Fatalf("%+v", want)
	}
	for _, name := range fileNames {
		a, b := read(t, filepath.Join(dir, "modules/product", name)), read(t, filepath.Join(other, "modules/product", name))
		if name == "module.go" {
			b = strings.Replace(b, "kit.Parts{}", "kit.Parts{Migrations: m.migrations()}", 1)
		}
		if a != b {
			t.Errorf("%s differs from that of the new declaration:\n%s", name, a)
		}
	}
	const migrations = `package product

import "example.com/ginseng/kit/migrate"

// migrations are for Parts. Add new ones at the end, also by hand, with the steps of package migrate (go doc
// example.com/ginseng/kit/migrate). Keep those that a database may still need.
func (m *Module) migrations() []migrate.Migration {
	return []migrate.Migration{
		{
			Name: "product-1", Collection: m.controller.service.products.Engine(),
			Steps: []migrate.Step{
				migrate.Rename("state", "status"),
				migrate.Convert[string]("price"),
				migrate.Default[string]("price", ""),
				migrate.Default[string]("sku", ""),
				migrate.Default[int64]("size", "3"),
				migrate.Drop("note"),
			},
		},
	}
}
`
	file := filepath.Join(dir, "modules/product", migrationsFile)
	if got := read(t, file); got != migrations {
		t.Errorf("migrations.go:\n%s", got)
	}
	commit(t, dir)
	before := files(t, dir)
	got = run(dir, "product", "--add", "sku:string:filter")
	if got.code != command.ExitUsage || got.err != "flag --add: the field sku exists; change it with --change\n" || !maps.Equal(files(t, dir), before) {
		t.Errorf("a second identical --add: %+v", got)
	}
	if got := run(dir, "product", "--add", "since:time:required", "--add", "kind:string:required:backfill=plain", "--add", "from:time:required:backfill=2026-01-02T03:04:05Z", "--add", "due:time:default=2026-01-02T03:04:05Z"); got.code != command.ExitOK || !strings.Contains(got.out, "replace migrate.Undecided in modules/product/migrations.go") {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{`Name: "product-2"`, `migrate.Undecided[store.Time]("since"),`, `migrate.Backfill[string]("kind", "plain"),`, `migrate.Backfill[store.Time]("from", "2026-01-02T03:04:05.000Z"),`, `migrate.Default[store.Time]("due", "2026-01-02T03:04:05.000Z"),`, `"example.com/ginseng/kit/store"`} {
		if got := read(t, file); !strings.Contains(got, want) {
			t.Errorf("no %s in migrations.go:\n%s", want, got)
		}
	}
	commit(t, dir)
	if got := run(dir, "--undo", "product"); got.code != command.ExitOK || !strings.Contains(got.out, "go run . migrate --forget product-1\n  go run . migrate --forget product-2\n") {
		t.Errorf("--undo: %+v", got)
	}
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("--undo leaves %v", err)
	}
}

// TestChangeUnique changes the records among which a field is unique: the index, and what the command says.
func TestChangeUnique(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, "product", "code:string:unique", "name", "--own", "list,show")
	model := filepath.Join(dir, "modules/product/model.go")
	for _, test := range []struct{ field, index, out string }{
		{"code:string:unique=global", `{Fields: []string{"code"}, Unique: true}`, "code is unique among all records"},
		{"code:string:unique", `{Fields: []string{"userId", "code"}, Unique: true}`, "code is unique per owner"},
		{"code:string:unique:doc=Of the label.", `{Fields: []string{"userId", "code"}, Unique: true}`, ""}, // the index is not new
	} {
		got := run(dir, "product", "--change", test.field)
		if source := read(t, model); got.code != command.ExitOK || !strings.Contains(source, "store.Index"+test.index) {
			t.Errorf("%s: %+v\n%s", test.field, got, source)
		}
		isNew := test.out != ""
		if !strings.Contains(got.out, test.out) || strings.Contains(got.out, "unique") != isNew || strings.Contains(got.out, "The next start makes the index") != isNew ||
			strings.Contains(got.out, migrationsFile) {
			t.Errorf("%s: %s", test.field, got.out)
		}
		commit(t, dir)
	}
}

// TestChangeKeepsEdits merges changes into files that were edited: beside the fields, in annotations, in tests.
func TestChangeKeepsEdits(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, declaredProduct...)
	module := filepath.Join(dir, "modules/product")
	edits := [][3]string{
		{"model.go", "Name string", "Hidden bool   `json:\"hidden\"`\n\tName   string"},
		{"model.go", `Name:   "products"`, `Name:   "wares"`},
		{"controller.go", `"path of the product"`, `"where the product is"`},
		{"service.go", "// Service has the business rules of products.", "// Service is edited."},
		{"module.go", "kit.Parts{}", "kit.Parts{\n\t\tWorkers: nil, // is edited\n\t}"},
		{fixturesFile, `"create": "user"`, `"create": "admin"`},
		{"router_test.go", "r := newResource()", "r := newResource()\n\tr.Field(\"name\").Valid = nil"},
	}
	for _, e := range edits {
		source := read(t, filepath.Join(module, e[0]))
		if e[1] == "Name string" { // aligned by gofmt
			at := strings.Index(source, "type Fields struct {\n") + len("type Fields struct {\n")
			write(t, filepath.Join(module, e[0]), source[:at]+"\tHidden bool `json:\"hidden\"`\n"+source[at:])
			commit(t, dir)
			continue
		}
		editFile(t, filepath.Join(module, e[0]), e[1], e[2])
	}
	write(t, filepath.Join(module, migrationsFile), "package product\n\nimport \"example.com/ginseng/kit/migrate\"\n\n"+
		"func (m *Module) migrations() []migrate.Migration { return []migrate.Migration{} }\n") // by hand, and not in Parts
	commit(t, dir)
	if got := run(dir, "product", "--add", "aVeryLongName:string:filter", "--drop", "price"); got.code != command.ExitOK {
		t.Fatalf("%+v", got)
	}
	for name, texts := range map[string][]string{
		"model.go":       {"`json:\"hidden\"`", `"wares"`, "AVeryLongName"},
		"controller.go":  {`"where the product is"`},
		"service.go":     {"// Service is edited."},
		"module.go":      {"// is edited", "\t\tMigrations: m.migrations(),\n"},
		"router_test.go": {"r.Field(\"name\").Valid = nil"},
		fixturesFile:     {`"create": "admin"`, "aVeryLongName"},
	} {
		source := read(t, filepath.Join(module, name))
		for _, text := range texts {
			if !strings.Contains(source, text) {
				t.Errorf("no %s in %s:\n%s", text, name, source)
			}
		}
		if strings.Contains(source, "price") {
			t.Errorf("price in %s:\n%s", name, source)
		}
	}
}

// TestChangeConflict edits the lines that the command changes. Nothing is changed, even if the documents fail.
func TestChangeConflict(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, declaredProduct...)
	before := git(t, dir, "stash", "list")
	got := callWith(cli{dir: dir, document: func(string, string, map[string]string) (trees.Tree, error) { return nil, os.ErrInvalid }}, "product", "--add", "sku:string:filter")
	if status := git(t, dir, "status", "--porcelain"); got.code != command.ExitFailed || !strings.Contains(got.err, "nothing was changed: invalid argument") || status != before {
		t.Errorf("%+v, status %s", got, status)
	}
	editFile(t, filepath.Join(dir, "modules/product/model.go"), `Search: []string{"name"}`, `Search: []string{"name", "note"}`)
	got = run(dir, "product", "--rename", "name=title")
	if status := git(t, dir, "status", "--porcelain"); got.code != command.ExitFailed || status != "" ||
		!strings.Contains(got.err, "nothing was changed: you and the change edit the same lines. Run the command with --merge") || !strings.Contains(got.err, "modules/product/model.go:\n<<<<<<< yours") {
		t.Errorf("%+v, status %s", got, status)
	}
	editFile(t, filepath.Join(dir, "modules/product/module.go"), "// Parts implements kit.Module.\nfunc (m *Module) Parts() kit.Parts { return kit.Parts{} }\n", "")
	if got := run(dir, "product", "--drop", "note"); got.code != command.ExitFailed || !strings.Contains(got.err, "\treturn kit.Parts{Migrations: m.migrations()}") && !strings.Contains(got.err, "kit.Parts{Migrations: m.migrations()} }") {
		t.Errorf("without Parts in module.go: %+v", got)
	}
	write(t, filepath.Join(dir, "README.md"), "uncommitted")
	if got := run(dir, "product", "--add", "sku:string"); got.code != command.ExitFailed || !strings.Contains(got.err, "commit or stash your changes first:\n?? README.md") {
		t.Errorf("%+v", got)
	}
}

// TestChangeMerge leaves git's merge state where edits conflict. Continuing the merge creates a commit; aborting it changes
// nothing.
func TestChangeMerge(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, declaredProduct...)
	git(t, dir, "config", "user.name", "a")
	git(t, dir, "config", "user.email", "a@example.com")
	model := filepath.Join(dir, "modules/product/model.go")
	editFile(t, model, `Search: []string{"name"}`, `Search: []string{"name", "note"}`)
	before := files(t, filepath.Join(dir, "modules"))
	for _, args := range [][]string{{"cherry-pick", "--abort"}, {"-c", "core.editor=true", "cherry-pick", "--continue"}} {
		got := run(dir, "product", "--rename", "name=title", "--merge")
		if got.code != command.ExitFailed || !strings.Contains(got.err, ":\nmodules/product/model.go\nResolve") || !strings.Contains(got.err, "  git add modules/product/model.go\n") {
			t.Fatalf("%+v", got)
		}
		if !strings.Contains(got.out, "have the old name") || !strings.Contains(got.out, `: Search: []string{"name", "note"}`) {
			t.Errorf("the old name is not listed: %s", got.out)
		}
		if source := read(t, model); !strings.Contains(source, "<<<<<<< ") || !strings.Contains(source, `[]string{"title"}`) {
			t.Errorf("no conflict in\n%s", source)
		}
		if args[0] == "-c" {
			resolved := read(t, model)
			for _, marker := range []string{"<<<<<<< ", ">>>>>>> "} {
				resolved = regexp.MustCompile(`(?m)^`+marker+`.*\n`).ReplaceAllString(resolved, "")
			}
			write(t, model, strings.ReplaceAll(resolved, "=======\n", ""))
			git(t, dir, "add", "modules/product/model.go")
		}
		git(t, dir, args...)
		if args[0] == "cherry-pick" && !maps.Equal(files(t, filepath.Join(dir, "modules")), before) {
			t.Error("--abort does not restore the files")
		}
	}
	if got := git(t, dir, "log", "-1", "--format=%s", "--name-only"); !strings.Contains(got, "Run generate product --rename name=title --merge") || !strings.Contains(got, "modules/product/migrations.go") {
		t.Errorf("the commit is %s", got)
	}
	if got := run(dir, "note", "a", "--merge"); got.code != command.ExitUsage || !strings.Contains(got.err, "flag --merge: needs --add") {
		t.Errorf("%+v", got)
	}
}

// TestOlderFixtures changes a resource with the table of an earlier version: the table is written again.
func TestOlderFixtures(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, declaredProduct...)
	file := filepath.Join(dir, "modules/product", fixturesFile)
	write(t, file, strings.ReplaceAll(read(t, file), `Type: "`, `Kind: "`))
	commit(t, dir)
	got := run(dir, "product", "--add", "sku:string")
	if source := read(t, file); got.code != command.ExitOK || !strings.Contains(source, `{Name: "sku", Type: "string"}`) || strings.Contains(source, "Kind") {
		t.Errorf("%+v\n%s", got, source)
	}
	if !strings.Contains(got.out, "fixtures_test.go is written again") {
		t.Errorf("%s", got.out)
	}
}

// TestDeletedTests changes a resource whose generated tests the project has deleted.
func TestDeletedTests(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, declaredProduct...)
	for _, name := range []string{fixturesFile, "router_test.go"} {
		if err := os.Remove(filepath.Join(dir, "modules/product", name)); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, dir)
	got := run(dir, "product", "--add", "sku:string")
	if got.code != command.ExitOK || strings.Contains(got.out, "test.go") || strings.Contains(got.out, "tests") {
		t.Errorf("%+v", got)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "modules/product/*_test.go")); found != nil {
		t.Errorf("the command writes %q", found)
	}
}

// TestChangeMistakes has calls that are rejected with one line per mistake.
func TestChangeMistakes(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, append(declaredProduct, "tags:[]string", "code:string:unique")...)
	for args, want := range map[string]string{
		"--drop note --rename name=note": "flag --drop: another field gets the name note; drop the old one first, in a separate run",
		"--drop note --add note:int":     "flag --drop: another field gets the name note; drop the old one first, in a separate run",
		"--drop nme --rename prise=cost": "flag --drop: there is no field nme; did you mean name?\nflag --rename: there is no field prise; did you mean price?",
		"--rename price=name":            "flag --rename: the field name exists",
		"--rename price=id":              "flag --rename \"price=id\": is a field of every resource; choose another name",
		"--change price:int:min=0:sort":  "flag --change: price:int:sort:min=0 is declared so already",
		"--change tags:string":           "flag --change: values of []string cannot become string; drop the field and add another",
		"--change note:json":             "flag --change: values of text cannot become json; drop the field and add another",
		"--change note:string:unique":    "flag --change: note cannot become unique, because records without it have the same value; add another field",
		"--change code:int:unique":       "flag --change: code is unique, and values can become equal when the type changes; add another field",
		"--add sku:sting":                `field sku: unknown type sting; did you mean string?`,
		"--add maker:ref(company)":       "field maker: unknown resource company; use one of product, user",
		"--add sku --plural wares":       "flag --plural: cannot change; edit the module by hand",
		"sku --add sku":                  "name: write one name, and the fields after --add and --change",
	} {
		got := run(dir, append([]string{"product"}, strings.Fields(args)...)...)
		if got.code != command.ExitUsage || strings.TrimSpace(got.err) != want {
			t.Errorf("%s: %+v, want %s", args, got, want)
		}
	}
	if got := run(dir, "prodct", "--drop", "note"); got.code != command.ExitUsage || !strings.Contains(got.err, "did you mean product?") {
		t.Errorf("%+v", got)
	}
}

// TestSteps checks which changes of a field need a migration.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ old, next, want string }{
		{"", "a:int", ""}, {"", "a:string", ""}, {"", "a:string:sort", `migrate.Default[string]("a", "")`}, {"", "a:string:unique:sort", ""},
		{"", "a:int:required", `migrate.Undecided[int64]("a")`}, {"", "a:bool:default=true", `migrate.Default[bool]("a", "true")`},
		{"a:int", "a:int:max=5", ""}, {"a:int", "a:int:required", `migrate.Require("a")`}, {"a:int:default=1", "a:int:default=2", ""},
		{"", "a:int:required:backfill=3", `migrate.Backfill[int64]("a", "3")`}, {"a:text", "a:text:required:backfill=none", `migrate.Backfill[string]("a", "none")`},
		{"a:string", "a:text", ""}, {"a:string", "a:int", `migrate.Convert[int64]("a")`}, {"a:int", "a:string", `migrate.Convert[string]("a")`},
		{"a:string", "a:enum(x,y)", `migrate.OneOf("a", "x", "y")`}, {"a:enum(x,y)", "a:enum(x,y,z)", ""}, {"a:enum(x,y)", "a:enum(x)", `migrate.OneOf("a", "x")`},
		{"a:string", "a:int:default=1", `migrate.Convert[int64]("a"); migrate.Default[int64]("a", "1")`},
		{"a:int", "a:decimal", `migrate.Convert[store.Decimal]("a")`}, {"", "a:decimal:default=1.5", `migrate.Default[store.Decimal]("a", "1.5")`},
		{"a:string", "a:date", `migrate.Convert[store.Date]("a")`}, {"a:uuid", "a:string", `migrate.Convert[string]("a")`}, {"", "a:[]int:filter", ""}, {"", "a:json", ""}, {"a:int", "a:int:readonly", ""},
		{"a:string", "a:time:required", `migrate.Convert[store.Time]("a"); migrate.Require("a")`},
	} {
		var wrong mistakes
		var fields fieldList
		c := call{adds: []string{test.next}}
		if test.old != "" {
			fields, c = fieldList{parseField(test.old, &wrong)}, call{changes: []string{test.next}}
		}
		_, steps := editFields(fields, c, &wrong)
		got := strings.Join(steps, "; ")
		if got != test.want || wrong != nil {
			t.Errorf("%s becomes %s: %s, %v, want %s", test.old, test.next, got, wrong, test.want)
		}
	}
}

// TestUserFields adds fields to users. The file of the template is what the generator makes without fields.
func TestUserFields(t *testing.T) {
	t.Parallel()
	template := read(t, filepath.Join("../..", "modules/user/profile.go"))
	empty, err := Resource{Name: "user"}.renderFiles("profile.go")
	if err != nil || string(empty["profile.go"]) != template {
		t.Errorf("%v; without fields, %s is\n%s", err, "modules/user/profile.go", empty["profile.go"])
	}
	dir := newProject(t)
	file := filepath.Join(dir, "modules/user/profile.go")
	write(t, file, template)
	git(t, dir, "init", "--quiet")
	commit(t, dir)
	args := []string{"user", "--add", "phone:string:max=30", "--add", "newsletter:bool:default=false"}
	if got := run(dir, args...); got.code != command.ExitOK || !strings.Contains(got.out, "changed modules/user/profile.go") {
		t.Fatalf("%+v", got)
	}
	commit(t, dir)
	if got := run(dir, args...); got.code != command.ExitUsage || !strings.Contains(got.err, "flag --add: the field phone exists; change it with --change") {
		t.Errorf("again: %+v", got)
	}
	editFile(t, file, "`json:\"phone\"", "`json:\"phone\" own:\"yes\"")
	if got := run(dir, "user", "--add", "born:time"); got.code != command.ExitOK || strings.Contains(got.out, "removed role") {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{
		"//go:generate go run example.com/ginseng/scripts/generate user phone:string:max=30 newsletter:bool:default=false born:time\n",
		"\tPhone      string      `json:\"phone\" own:\"yes\" validate:\"max=30\"", "\tNewsletter bool        `json:\"newsletter\" default:\"false\"",
		"\tBorn       *store.Time `json:\"born\"", `extensions:"x-nullable,x-omitempty"`,
	} {
		if got := read(t, file); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	commit(t, dir)
	for args, want := range map[string]string{
		"--add a:string:required": "a field of users must be optional", "--add role:string": "is a field of every user", "--drop phone": "is not for users",
	} {
		if got := run(dir, append([]string{"user"}, strings.Fields(args)...)...); got.code != command.ExitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// TestChangeReferences adds and drops a reference, whose target the registry passes to the module.
func TestChangeReferences(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, "maker", "name:string:required")
	if got := run(dir, declaredProduct...); got.code != command.ExitOK {
		t.Fatalf("%+v", got)
	}
	commit(t, dir)
	modules := filepath.Join(dir, registry.Path)
	if got := run(dir, "product", "--add", "maker:ref(maker)"); got.code != command.ExitOK || !strings.Contains(got.out, "written modules/modules.go") {
		t.Errorf("%+v", got)
	}
	if got := read(t, modules); !strings.Contains(got, "products := product.New(d, makers, users)") {
		t.Errorf("the registry is\n%s", got)
	}
	commit(t, dir)
	editFile(t, modules, "product.New(d, makers, users)", "product.New(d, makers, users, 30)")
	module := filepath.Join(dir, "modules/product/module.go")
	editFile(t, module, "users resource.Target)", "users resource.Target, length int)")
	if got := run(dir, "product", "--add", "other:ref(maker)", "--add", "author:ref(user)"); got.code != command.ExitOK {
		t.Errorf("with another parameter of New: %+v", got)
	}
	commit(t, dir)
	if got := run(dir, "product", "--drop", "maker", "--drop", "other"); got.code != command.ExitOK {
		t.Errorf("%+v", got)
	}
	if got := read(t, modules); !strings.Contains(got, "products := product.New(d, users, 30)\n") {
		t.Errorf("the registry is\n%s", got)
	}
	commit(t, dir)
	if got := run(dir, "product", "--add", "maker:ref(maker)"); got.code != command.ExitOK {
		t.Errorf("a reference after another parameter of New: %+v", got)
	}
	if got := read(t, module); !strings.Contains(got, "func New(d kit.Deps, users resource.Target, makers resource.Target, length int) *Module {") {
		t.Errorf("module.go is\n%s", got)
	}
}

// TestPartsOfModule has other methods and comments with the names that the command looks for.
func TestPartsOfModule(t *testing.T) {
	t.Parallel()
	const before = `package note

// Migrations: see migrations.go.
type controller struct{}

func (c *controller) parts() []int { return []int{1} }

func (c controller) Parts() []int { return []int{1} }

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{Jobs: jobs()} }
`
	if hasMigrations([]byte(before)) {
		t.Error("a comment counts as migrations")
	}
	after := string(addMigrationsPart([]byte(before)))
	if want := strings.Replace(before, "kit.Parts{Jobs", "kit.Parts{Migrations: m.migrations(), Jobs", 1); after != want || !hasMigrations([]byte(after)) {
		t.Errorf("%s", after)
	}
	if addMigrationsPart([]byte("package note\n\nfunc (c *controller) Parts() []int { return []int{1} }\n")) != nil {
		t.Error("another type has the method")
	}
}
