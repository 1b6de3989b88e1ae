package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// project makes a small copy of this one: what the generator reads of it, and no more.
func project(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{
		"go.mod", "main.go", registryPath, swaggerPath, "middleware/idempotency.go",
		"modules/user/model.go", "modules/policy/model.go", "modules/auth/model.go",
	} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, name), string(content))
	}
	return dir
}

func put(t testing.TB, path, content string) {
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

// files are all files and folders of a project, with their content.
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

// names stands in for swag: it lists the modules, as the documentation would.
func names(tr *tree, changes []change) (map[string][]byte, error) {
	old, err := os.ReadFile(tr.path(swaggerPath))
	if err != nil {
		return nil, err
	}
	text, _, _ := strings.Cut(string(old), "\n\n")
	modules := slices.Clone(tr.modules)
	for _, c := range changes {
		if module, ok := strings.CutSuffix(strings.TrimPrefix(c.Path, "modules/"), "/module.go"); ok {
			modules = slices.DeleteFunc(modules, func(name string) bool { return name == module })
			if c.New != nil {
				modules = append(modules, module)
			}
		}
	}
	if slices.Sort(modules); len(modules) > 3 {
		text = strings.TrimRight(text, "\n") + "\n\n" + strings.Repeat("\n", len(modules))
	}
	return map[string][]byte{swaggerPath: []byte(text)}, nil
}

// result is what a call did.
type result struct {
	code     int
	out, err string
}

func call(dir string, args ...string) result { return callWith(cli{dir: dir}, args...) }

func callWith(c cli, args ...string) result {
	var out, errs bytes.Buffer
	if c.in == nil {
		c.in = strings.NewReader("")
	}
	if c.step == nil {
		c.step = func() error { return nil }
	}
	if c.renew == nil {
		c.renew = names
	}
	c.out, c.err = &out, &errs
	code := c.run(args)
	return result{code, out.String(), errs.String()}
}

// TestThereAndBack generates, is refused a second time, and takes back: the same bytes, and no folder more.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	dir := project(t)
	before := files(t, dir)
	args := []string{"--plural", "cacti", "cactus", "name:string:required:search", "--admin=create", "kind:enum(a,b):filter", "owner:ref(user)"}
	if got := call(filepath.Join(dir, "modules", "user"), args...); got.code != 0 || !strings.Contains(got.out, "written modules/cactus/module.go") ||
		!strings.HasSuffix(got.out, "Cacti are at /cacti. Next:\n  go test ./modules/cactus/\n  go run .\n  open http://localhost:9000/docs/\n") {
		t.Fatalf("%+v", got)
	}
	after := files(t, dir)
	if len(after) != len(before)+1+len(fileNames) {
		t.Errorf("%d files, %d before", len(after), len(before))
	}
	want := "name cactus: modules/cactus is there already; take it back with --undo, or choose another name\n"
	if got := call(dir, args...); got.code != exitUsage || got.err != want || !same(files(t, dir), after) {
		t.Errorf("a second time: %+v", got)
	}
	if got := call(dir, "cactus", "--undo", "--dry-run"); got.code != 0 || !strings.Contains(got.out, "\n+++ /dev/null\n") || !same(files(t, dir), after) {
		t.Errorf("a dry undo: %+v", got)
	}
	if got := call(dir, "--undo", "cactus"); got.code != 0 || !strings.Contains(got.out, "removed modules/cactus/module.go") || !same(files(t, dir), before) {
		t.Errorf("undo: %+v", got)
	}
	if got := call(dir, "--undo", "cactus"); got.code != exitUsage || got.err != "name cactus: there is no modules/cactus/module.go to take back\n" {
		t.Errorf("a second undo: %+v", got)
	}
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, content := range a {
		if other, there := b[name]; !there || other != content {
			return false
		}
	}
	return true
}

// TestDryRun prints every file and a diff, and writes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	dir := project(t)
	before := files(t, dir)
	got := call(dir, "note", "text", "--dry-run")
	if got.code != 0 || !same(files(t, dir), before) {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{
		"--- /dev/null\n+++ b/modules/note/model.go\n@@ -0,0 +1,", "\n--- a/modules/modules.go\n+++ b/modules/modules.go\n@@ -",
		"\n+\tnotes := note.New(note.Options{", "10 files; nothing was written\n",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("there is no %q in\n%s", want, got.out)
		}
	}
}

// TestEdited takes back what was edited only if it is forced to.
func TestEdited(t *testing.T) {
	t.Parallel()
	dir := project(t)
	before := files(t, dir)
	call(dir, "note", "text")
	put(t, filepath.Join(dir, "modules/note/more.go"), "package note\n")
	model := filepath.Join(dir, "modules/note/model.go")
	put(t, model, read(t, model)+"\n// mine\n")
	edited := files(t, dir)
	want := "file modules/note/model.go: was edited, or added, since it was generated; --force takes it away all the same\n" +
		"file modules/note/more.go: was edited, or added, since it was generated; --force takes it away all the same\n"
	if got := call(dir, "--undo", "note"); got.code != exitUsage || got.err != want || !same(files(t, dir), edited) {
		t.Errorf("%+v", got)
	}
	if got := call(dir, "--undo", "note", "--force"); got.code != 0 || !same(files(t, dir), before) {
		t.Errorf("%+v", got)
	}
}

// TestCollisions refuses what the tree would not bear.
func TestCollisions(t *testing.T) {
	t.Parallel()
	dir := project(t)
	before := files(t, dir)
	put(t, filepath.Join(dir, "modules/blogpost/x.go"), "package blogpost\n")
	taken := "names something in modules/modules.go already; choose another"
	for args, want := range map[string]string{
		"user a":      "name user: modules/user is there already; take it back with --undo, or choose another name\n",
		"blog-post a": "name \"blog-post\": modules/blogpost is a package blogpost already; choose another name\n",
		"ratelimit a": "name ratelimit: ratelimit " + taken + " name\n",
		"email a":     "name email: email " + taken + " name\n",
		"answer a --plural idempotency": "plural idempotency: " + taken + " with --plural\n" +
			"plural idempotency: is a collection already, of middleware/idempotency.go; choose another with --plural\n",
		"problem a":               "name problem: Problem is an object of the API's documentation already; choose another name\n",
		"sign-in a --plural auth": "plural auth: " + taken + " with --plural\nplural auth: /auth is a path of the API already; choose another with --plural\n",
		"probe a --plural readyz": "plural readyz: /readyz is a path of the API already; choose another with --plural\n",
		"note a:ref(nobody)":      "field a: there is no resource nobody to refer to; refer to one of policy, user\n",
		"note a:ref(polcy)":       "field a: there is no resource polcy to refer to; did you mean policy?\n",
		"note a:ref(auth)":        "field a: there is no resource auth to refer to; refer to one of policy, user\n",
		"--undo user":             "name user: there is no modules/user/module.go to take back\n",
		"--undo polcy":            "name polcy: there is no modules/polcy/module.go to take back; did you mean policy?\n",
		"--undo ../x":             "name \"../x\": is not kebab-case, so it is no resource\n",
		"--undo":                  "name: is missing; write --undo NAME\n",
		"--undo user a":           "fields: do not go with --undo, which reads the declaration from module.go; write the name alone\n",
		"--undo user --owner":     "flag --owner: does not go with --undo, which reads the declaration from module.go; leave it out\n",
		"note a --force":          "flag --force: goes with --undo; leave it out\n",
	} {
		if got := call(dir, strings.Fields(args)...); got.code != exitUsage || got.err != want {
			t.Errorf("%s: %d\n%swant\n%s", args, got.code, got.err, want)
		}
	}
	put(t, filepath.Join(dir, "modules/user/module.go"), "package user\n")
	if got := call(dir, "--undo", "user"); got.code != exitUsage || !strings.Contains(got.err, "has no go:generate line") {
		t.Errorf("%+v", got)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "modules/blogpost")), os.Remove(filepath.Join(dir, "modules/user/module.go"))); err != nil {
		t.Fatal(err)
	}
	if !same(files(t, dir), before) {
		t.Error("something was written")
	}
}

// TestUnknownRegistry prints the lines to add by hand.
func TestUnknownRegistry(t *testing.T) {
	t.Parallel()
	dir := project(t)
	path := filepath.Join(dir, registryPath)
	put(t, path, strings.Replace(read(t, path), "func New(", "func Assemble(", 1))
	before := files(t, dir)
	got := call(dir, "note", "text")
	for _, want := range []string{
		"nothing was changed", "no func New(h Host, …)", `"example.com/ginseng/modules/note"`,
		"notes := note.New(note.Options{DB: h.DB, Cursors: cursors, Now: h.Now, NewID: h.NewID})", "notes,",
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("there is no %q in\n%s", want, got.err)
		}
	}
	if got.code != exitFailed || !same(files(t, dir), before) {
		t.Errorf("exit code %d", got.code)
	}
}

// TestAsk asks where a terminal is there, and explains itself where none is.
func TestAsk(t *testing.T) {
	t.Parallel()
	dir := project(t)
	if got := call(dir); got.code != exitUsage || got.err != usage || got.out != "" {
		t.Errorf("no terminal: %+v", got)
	}
	if got := callWith(cli{dir: dir, asks: true}); got.code != exitUsage || got.err != usage {
		t.Errorf("no answer: %+v", got)
	}
	got := callWith(cli{dir: dir, asks: true, in: strings.NewReader("note\ntext:text due:time\n")}, "--dry-run")
	if got.code != 0 || !strings.Contains(got.out, "Name of the resource") || !strings.Contains(got.out, "generate note text:text due:time\n") {
		t.Errorf("%+v", got)
	}
	if got := call(dir, "--help"); got.code != 0 || got.out != usage {
		t.Errorf("%+v", got)
	}
	if got := call(t.TempDir(), "note", "text"); got.code != exitFailed || !strings.Contains(got.err, "there is no go.mod with modules/modules.go") {
		t.Errorf("elsewhere: %+v", got)
	}
}

// TestDirective is go generate, which meets the line of a module that is there.
func TestDirective(t *testing.T) {
	t.Parallel()
	dir := project(t)
	before := files(t, dir)
	if got := callWith(cli{dir: dir, directive: true}, "user", "name"); got.code != 0 || !strings.HasPrefix(got.out, "user: generated before") || !same(files(t, dir), before) {
		t.Errorf("%+v", got)
	}
}

// TestDocsFail has the documentation fail: nothing is written.
func TestDocsFail(t *testing.T) {
	t.Parallel()
	dir := project(t)
	before := files(t, dir)
	fails := func(*tree, []change) (map[string][]byte, error) { return nil, errors.New("no swag here") }
	got := callWith(cli{dir: dir, renew: fails}, "note", "text")
	if got.code != exitFailed || got.err != "generate: nothing was changed: the documentation could not be made: no swag here\n" || !same(files(t, dir), before) {
		t.Errorf("%+v", got)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	lines := func(text string) []byte { return []byte(strings.ReplaceAll(text, " ", "\n")) }
	for _, test := range []struct{ old, now, want string }{
		{"a b c ", "a x c ", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"1 2 3 4 5 6 7 8 9 ", "1 2 3 4 5 6 7 8 9 10 ", "@@ -7,3 +7,4 @@\n 7\n 8\n 9\n+10\n"},
		{"1 2 3 4 5 6 7 8 9 10 ", "0 1 2 3 4 5 6 7 8 9 ", "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -7,4 +8,3 @@\n 7\n 8\n 9\n-10\n"},
		{"a", "a ", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
	} {
		if got := (change{"x", lines(test.old), lines(test.now)}).diff(); got != "--- a/x\n+++ b/x\n"+test.want {
			t.Errorf("%s to %s:\n%s", test.old, test.now, got)
		}
	}
}

// TestAnotherCall refuses to work in a project in which another call is at work, and leaves its journal alone.
func TestAnotherCall(t *testing.T) {
	t.Parallel()
	dir := project(t)
	put(t, filepath.Join(dir, journalDir, "0"), "half written")
	before := files(t, dir)
	lock := flock.New(filepath.Join(dir, "main.go"), flock.SetFlag(os.O_RDONLY))
	if free, err := lock.TryLock(); err != nil || !free {
		t.Fatal(free, err)
	}
	for _, args := range [][]string{{"note", "text"}, {"note", "text", "--dry-run"}, {"--undo", "note"}} {
		if got := call(dir, args...); got.code != exitFailed || !strings.Contains(got.err, "another call is at work") || !same(files(t, dir), before) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if got := call(dir, "note", "text", "--dry-run"); got.code != 0 || same(files(t, dir), before) {
		t.Errorf("afterwards: %+v", got)
	}
}
