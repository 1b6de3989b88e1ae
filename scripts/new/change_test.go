package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/files"
)

// edit replaces text in a file.
func edit(t *testing.T, file, old, text string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("%s does not have %q", file, old)
	}
	if err := os.WriteFile(file, bytes.Replace(raw, []byte(old), []byte(text), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestRemoveNeeded removes a component that others need: the error names them.
func TestRemoveNeeded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ project, remove, want string }{
		{"user article policy", "user", "user is needed by policy; to remove all: new remove user policy"},
		{"user social two-factor article", "article user", "user is needed by social, two-factor; to remove all: new remove article user social two-factor"},
		{"user policy", "user policy", ""},
	} {
		r := request{command: commandRemove, components: strings.Fields(test.remove)}
		_, err := cli{}.changedAnswers(answers{Components: strings.Fields(test.project)}, r)
		if got := fmt.Sprint(err); got != cmp.Or(test.want, "<nil>") {
			t.Errorf("%s without %s: %s, want %s", test.project, test.remove, got, test.want)
		}
	}
}

// TestChangeWithResources adds and removes a component of a project that added a resource.
func TestChangeWithResources(t *testing.T) {
	dir := ginseng(t)
	shop := filepath.Join(dir, "../shop")
	modules := filepath.Join(shop, "modules/modules.go")
	must(t, "shop", "--with", "user", "--dir", shop)
	write(t, shop, files.Tree{"modules/order/order.go": []byte("package order\n\n// New returns the module.\nfunc New() int { return 0 }\n")})
	edit(t, modules, "\t\"example.com/shop/modules/user\"\n", "\t\"example.com/shop/modules/order\"\n\t\"example.com/shop/modules/user\"\n")
	edit(t, modules, "\treturn", "\torders := order.New()\n\treturn")
	edit(t, modules, "\t\tsessions,\n", "\t\tsessions,\n\t\torders,\n")
	if code, out := try(t, "", "add", "policy", "--dir", shop); code != command.ExitFailed || !strings.Contains(out, "git") {
		t.Errorf("without a repository: exit code %d: %s", code, out)
	}
	shell(t, shop, "go", "tool", "docs")
	commit(t, shop)
	before := filesOf(t, shop)

	out := must(t, "add", "policy", "social", "--dir", shop, "--dry-run")
	for _, want := range []string{"A\tmodules/policy/policy.go\n", "+\tpolicies := policy.New(d)\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("add --dry-run does not print %q:\n%s", want, out)
		}
	}
	same(t, "add --dry-run", filesOf(t, shop), before)

	write(t, shop, files.Tree{ // as if generate was killed
		"modules/late.go":    []byte("package mod"),
		".ginseng-undo.json": []byte(`[{"Path": "modules/late.go", "After": "cGFja2FnZSBtb2R1bGVzCg=="}, {"Path": "modules/more.go", "After": ""}]`),
	})
	must(t, "add", "policy", "social", "--dir", shop)
	compiles(t, shop)
	if message := shell(t, shop, "git", "log", "-1", "--format=%s"); message != "Add policy, social" {
		t.Errorf("the commit is %q", message)
	}
	write(t, shop, files.Tree{"untracked.go": []byte("package main\n")})
	if code, out := try(t, "", "remove", "policy", "--dir", shop); code != command.ExitFailed || !strings.Contains(out, "commit or stash your changes first") {
		t.Errorf("with changes: exit code %d: %s", code, out)
	}
	if err := os.Remove(filepath.Join(shop, "untracked.go")); err != nil {
		t.Fatal(err)
	}
	write(t, shop, files.Tree{"modules/policy/own.go": []byte("package policy\n")})
	commit(t, shop)
	must(t, "remove", "policy", "social", "--dir", shop)
	same(t, "add and remove", filesOf(t, shop), before)

	write(t, shop, files.Tree{"modules/article/article.go": []byte("package article\n")})
	commit(t, shop)
	if code, out := try(t, "", "add", "article", "--dir", shop); code != command.ExitFailed || !strings.Contains(out, "modules/article/article.go\n") {
		t.Errorf("add of a directory that exists: exit code %d: %s", code, out)
	}
	shell(t, shop, "git", "cherry-pick", "--abort")

	for args, want := range map[string]string{
		"add user":      "the project already has user",
		"remove policy": "the project does not have policy",
		"add nothing":   `unknown name "nothing"`,
		"add":           "add requires a list of user",
		"upgrade now":   "upgrade accepts no arguments",
	} {
		if code, out := try(t, "", append(strings.Fields(args), "--dir", shop)...); code != command.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d: %s", args, code, out)
		}
	}

	edit(t, modules, "orders := order.New()", "orders := order.New()\n\t_ = users")
	commit(t, shop)
	before = filesOf(t, shop)
	if code, out := try(t, "", "remove", "user", "--dir", shop); code != command.ExitFailed || !strings.Contains(out, "uses users") {
		t.Errorf("a component in use: exit code %d: %s", code, out)
	}
	same(t, "a rejected remove", filesOf(t, shop), before)
}

// TestUpgradeReserved upgrades a project with a resource whose name the new version reserves: the upgrade names the resource, and
// leaves it as it is.
func TestUpgradeReserved(t *testing.T) {
	dir := ginseng(t)
	shop := filepath.Join(dir, "../shop")
	modules := filepath.Join(shop, "modules/modules.go")
	must(t, "shop", "--with", "user", "--dir", shop)
	const module = "package job\n\n//go:generate go run example.com/ginseng/scripts/generate job title\n\n// New returns the module.\nfunc New() int { return 0 }\n"
	write(t, shop, files.Tree{"modules/job/module.go": []byte(module)})
	edit(t, modules, "\t\"example.com/shop/modules/user\"\n", "\t\"example.com/shop/modules/job\"\n\t\"example.com/shop/modules/user\"\n")
	edit(t, modules, "\treturn", "\tjobs := job.New()\n\treturn")
	edit(t, modules, "\t\tsessions,\n", "\t\tsessions,\n\t\tjobs,\n")
	shell(t, shop, "go", "tool", "docs")
	commit(t, shop)
	const reserved = "name job: is reserved for a component of Ginseng; choose another name"
	edit(t, filepath.Join(dir, "scripts/generate/main.go"), "import \"os\"\n", "import (\n\t\"log\"\n\t\"os\"\n)\n")
	edit(t, filepath.Join(dir, "scripts/generate/main.go"), "func main() {\n", "func main() {\n\tif len(os.Args) > 1 && os.Args[1] == \"job\" {\n\t\tlog.Fatal(\""+reserved+"\")\n\t}\n")
	out := must(t, "upgrade", "--dir", shop)
	if !strings.Contains(out, "modules/job: is not upgraded, because") || !strings.Contains(out, reserved) {
		t.Errorf("upgrade: %s", out)
	}
	if got := read(t, filepath.Join(shop, "modules/job/module.go")); got != module {
		t.Errorf("the resource is %s", got)
	}
}

// TestUpgrade upgrades a project with hand edits, once without and once with a conflict.
func TestUpgrade(t *testing.T) {
	dir := ginseng(t)
	repository := filepath.Join(dir, "../repository")
	shop := filepath.Join(repository, "services/shop")
	must(t, "shop", "--with", "user,article", "--dir", shop)
	edit(t, filepath.Join(shop, "modules/article/list.go"), "const Page = 20\n", "const Page = 20\n\n// Limit is mine.\nconst Limit = 100\n")
	edit(t, filepath.Join(shop, "Makefile"), "go test ./...", "go test -race ./...")
	if err := os.Remove(filepath.Join(shop, "compose.yaml")); err != nil {
		t.Fatal(err)
	}
	commit(t, repository)
	if out := must(t, "upgrade", "--dir", shop); !strings.Contains(out, "The project is up to date.") {
		t.Errorf("upgrade to the same version: %s", out)
	}

	edit(t, filepath.Join(dir, "modules/article/list.go"), "package article\n", "// Package article has pages.\npackage article\n")
	edit(t, filepath.Join(dir, "kit/kit.go"), "type Deps struct{}", "type Deps struct{ Name string }")
	edit(t, filepath.Join(dir, "scripts/new/project/Makefile"), "## list the commands", "## print the commands")
	write(t, dir, files.Tree{"modules/article/more.go": []byte("package article\n")})
	before := filesOf(t, shop)
	if out := must(t, "upgrade", "--dir", shop, "--dry-run"); !strings.Contains(out, "+// Package article has pages.") || strings.Contains(out, "third_party/ginseng/kit") {
		t.Errorf("upgrade --dry-run: %s", out)
	}
	same(t, "upgrade --dry-run", filesOf(t, shop), before)
	must(t, "upgrade", "--dir", shop)
	for name, want := range map[string]string{
		"modules/article/list.go":                          "// Package article has pages.\npackage article\n\n// Page is a size.\nconst Page = 20\n\n// Limit is mine.\nconst Limit = 100\n",
		"modules/article/more.go":                          "package article\n",
		"third_party/ginseng/kit/kit.go":                   "type Deps struct{ Name string }",
		"Makefile":                                         "## print the commands",
		"docs/openapi.json":                                "modules/article/more.go",
		"third_party/ginseng.sum":                          "ginseng/modules/article/more.go",
		"third_party/ginseng/scripts/new/project/Makefile": "## print the commands",
	} {
		if got := read(t, filepath.Join(shop, name)); !strings.Contains(got, want) {
			t.Errorf("%s does not have %q:\n%s", name, want, got)
		}
	}
	if _, err := os.Stat(filepath.Join(shop, "compose.yaml")); err == nil || !strings.Contains(read(t, filepath.Join(shop, "Makefile")), "-race") {
		t.Error("the upgrade undid hand edits")
	}
	if status := shell(t, shop, "git", "status", "--porcelain"); status != "" {
		t.Errorf("git status: %s", status)
	}
	compiles(t, shop)

	edit(t, filepath.Join(dir, "modules/article/list.go"), "Page = 20", "Page = 30")
	edit(t, filepath.Join(shop, "modules/article/list.go"), "Page = 20", "Page = 40")
	commit(t, repository)
	before = filesOf(t, shop)
	if code, out := try(t, "", "upgrade", "--dir", shop); code != command.ExitFailed || !strings.Contains(out, ":\nmodules/article/list.go\nResolve") || !strings.Contains(out, "  git add modules/article/list.go\n") {
		t.Fatalf("a conflict: exit code %d: %s", code, out)
	}
	if got := read(t, filepath.Join(shop, "modules/article/list.go")); !strings.Contains(got, "<<<<<<<") {
		t.Errorf("no conflict in %s", got)
	}
	shell(t, shop, "git", "cherry-pick", "--abort")
	same(t, "git cherry-pick --abort", filesOf(t, shop), before)

	write(t, shop, files.Tree{"third_party/ginseng/kit/kit.go": []byte("package kit\n"), "third_party/ginseng/kit/own.go": []byte("package kit\n")})
	commit(t, repository)
	if code, out := try(t, "", "upgrade", "--dir", shop); code != command.ExitFailed || !strings.Contains(out, "ginseng/kit/kit.go\nginseng/kit/own.go\n") {
		t.Errorf("an edited runtime: exit code %d: %s", code, out)
	}
}
