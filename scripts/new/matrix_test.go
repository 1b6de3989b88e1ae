package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var matrix = flag.Bool("matrix", false, "make projects of many sets of components, and hold each to its own tests; takes minutes")

// sets are the components of the projects that the matrix makes, and the providers, if not all.
var sets = []struct{ with, providers string }{
	{"none", ""},
	{"user", ""},
	{"user,social", ""},
	{"user,social", "google"},
	{"user,password-reset", ""},
	{"article", ""},
	{"policy", ""},
	{"article,policy", ""},
	{"user,social,password-reset,policy", ""},
	{"all", ""},
}

// TestMatrix makes a project of each set, and holds it to what every project is held to: its format, go vet, staticcheck,
// its own tests, its documentation, and answers of the service that it is. All but one have the template's module path and
// stand in folders that -trimpath hides from the compiler, so that packages which are the same in many are compiled, and
// tested, once.
//
//	go test ./scripts/new -run TestMatrix -matrix -timeout 20m -v
func TestMatrix(t *testing.T) {
	if !*matrix {
		t.Skip("takes minutes: -matrix")
	}
	t.Setenv("GOFLAGS", "-trimpath")
	for _, set := range sets {
		name := set.with
		if set.providers != "" {
			name += "/" + set.providers
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "shop")
			args := []string{"shop", "--with", set.with, "--dir", dir}
			if set.providers != "" {
				args = append(args, "--providers", set.providers)
			}
			if set.with != "all" {
				args = append(args, "--module", "example.com/ginseng")
			}
			begun := time.Now()
			makeProject(t, args...)
			t.Logf("made in %.1fs", time.Since(begun).Seconds())
			hold(t, dir)
			t.Logf("held to everything in %.1fs", time.Since(begun).Seconds())
		})
	}
}

// makeProject makes a project.
func makeProject(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("%q: %d %s%s", args, code, &out, &errs)
	}
}

// hold holds a project to what every project is held to.
func hold(t *testing.T, dir string) {
	t.Helper()
	tool := []string{"tool", "-modfile=" + filepath.Join(dir, "scripts", "tools", "go.mod")}
	before := snapshot(t, dir)
	for _, args := range [][]string{
		{"gofmt", "-l", "."},
		{"go", "vet", "./..."},
		append(append([]string{"go"}, tool...), "staticcheck", "./..."),
		{"go", "test", "./..."},
		{"go", "run", "-buildvcs=false", "./scripts/envexample", "-check"},
		{"sh", "-c", "test ! -d scripts/protogen || go -C scripts/protogen run . -check"},
	} {
		out, err := command(t.Context(), dir, args[0], args[1:]...)
		if err != nil || args[0] == "gofmt" && out != "" {
			t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, failures(out))
		}
	}
	project, err := readTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := finish(t.Context(), dir, project); err != nil {
		t.Error(err)
	}
	if after := snapshot(t, dir); !maps.Equal(before, after) {
		for name := range after {
			if before[name] != after[name] {
				t.Errorf("%s is not what the project's own tools make of it", name)
			}
		}
	}
	noTrace(t, project)
	serve(t, dir)
}

// failures is what go test prints of tests that fail.
func failures(out string) string {
	return keepLines(out, func(line string) bool {
		return !strings.HasPrefix(line, "ok ") && !strings.Contains(line, "[no test files]")
	})
}

// snapshot is the content of every file.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// noTrace fails for every file that names a route, a setting or a path of a component that was left out.
func noTrace(t *testing.T, project tree) {
	t.Helper()
	var r record
	if err := json.Unmarshal(project[recordName].text, &r); err != nil {
		t.Fatal(err)
	}
	tpl := theTemplate(t)
	_, g := leaveOut(tpl.files, r.answers)
	quoted := regexp.MustCompile("[\"`](/[a-z][^\"`]*)[\"`]")
	setting := regexp.MustCompile(`\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b`)
	for name, e := range project {
		if !textual(e.text) || strings.HasPrefix(name, "scripts/generate/") || strings.HasPrefix(name, "config/load") || strings.HasPrefix(name, "scripts/readme/") || strings.HasSuffix(name, ".json") {
			continue // generic, with examples of their own
		}
		for i, line := range strings.Split(string(e.text), "\n") {
			for _, m := range quoted.FindAllStringSubmatch(line, -1) {
				if (strings.HasPrefix(name, "modules/") || !strings.Contains(name, "/")) && g.route(m[1]) {
					t.Errorf("%s:%d names a route that is gone: %s", name, i+1, line)
				}
			}
			for _, word := range setting.FindAllString(line, -1) {
				if g.settings[word] {
					t.Errorf("%s:%d names a setting that is gone: %s", name, i+1, line)
				}
			}
			if strings.Contains(line, "scripts/new") {
				continue // README tells of it
			}
			if strings.HasPrefix(name, ".") || name == "Makefile" || name == "Dockerfile" || strings.HasSuffix(name, ".md") {
				if g.names(line) {
					t.Errorf("%s:%d names a file that is gone: %s", name, i+1, line)
				}
			}
		}
	}
}

// serve builds the service and starts it with the project's own .env: it is ready, and each list answers the master key
// with its rows, or with what it wants instead.
func serve(t *testing.T, dir string) {
	t.Helper()
	work := t.TempDir()
	binary := filepath.Join(work, "service")
	if _, err := command(t.Context(), dir, "go", "build", "-buildvcs=false", "-o", binary, "."); err != nil {
		t.Fatal(err)
	}
	env, err := os.ReadFile(filepath.Join(dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(work, ".env"), string(env))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Dir = work
	cmd.Env = []string{"PORT=0", "HOST=127.0.0.1"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // told to stop
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the service ends with %d\n%s", code, &stderr)
		}
	}()
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	base := regexp.MustCompile(`http://[^,\s]+`).FindString(line)
	if base == "" {
		t.Fatalf("it does not listen: %s\n%s", line, &stderr)
	}
	key := regexp.MustCompile(`(?m)^MASTER_KEY=(.*)$`).FindSubmatch(env)
	get := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if path != "/readyz" {
			request.Header.Set("Authorization", "Bearer "+string(key[1]))
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var body bytes.Buffer
		_, _ = body.ReadFrom(answer.Body)
		return answer.StatusCode, body.String()
	}
	if status, body := get("/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d %s", status, body)
	}
	for path, asks := range lists(t, dir) {
		want := http.StatusOK
		if asks != "" && asks != "MasterKey" {
			want = http.StatusUnauthorized
		}
		if status, body := get(path); status != want || want == http.StatusOK && !strings.Contains(body, `"rows":[]`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// lists are the paths of the project's lists, with the credential that each asks for.
func lists(t *testing.T, dir string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "docs", "swagger.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Security  []map[string][]string
			Responses map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				}
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for path, methods := range doc.Paths {
		op, ok := methods["get"]
		if !ok || !strings.HasPrefix(op.Responses["200"].Schema.Ref, "#/definitions/listing.Page") {
			continue
		}
		out[path] = ""
		for _, s := range op.Security {
			out[path] = fmt.Sprint(slices.Collect(maps.Keys(s))[0])
		}
	}
	return out
}

// TestAddAndRemove adds components to a project that was made without them, and takes them away again: the bytes are
// those of a project that was made so.
func TestAddAndRemove(t *testing.T) {
	if !*matrix {
		t.Skip("takes a minute: -matrix")
	}
	t.Setenv("GOFLAGS", "-trimpath")
	root := t.TempDir()
	small, large := filepath.Join(root, "small", "shop"), filepath.Join(root, "large", "shop")
	makeProject(t, "shop", "--with", "user,article", "--dir", small)
	makeProject(t, "shop", "--with", "user,article,social,policy", "--dir", large)
	was := contents(t, small)
	commit(t, small)
	makeProject(t, "add", "social,policy", "--dir", small)
	equal(t, "added", contents(t, small), contents(t, large))
	commit(t, small)
	makeProject(t, "remove", "social,policy", "--dir", small)
	equal(t, "removed", contents(t, small), was)
	commit(t, small)
	// An edit of the project's own stays through an addition, where both sides changed the file.
	registry := filepath.Join(small, "modules", "modules.go")
	text, err := os.ReadFile(registry)
	if err != nil {
		t.Fatal(err)
	}
	const mine = "// Package modules is the registry, and mine:"
	write(t, registry, strings.Replace(string(text), "// Package modules is the registry:", mine, 1))
	if _, err := git(t.Context(), small, "branch", "-D", "ginseng-add-social-policy"); err != nil {
		t.Fatal(err)
	}
	makeProject(t, "add", "policy", "--dir", small)
	text, err = os.ReadFile(registry)
	if err != nil || !strings.Contains(string(text), mine) || !strings.Contains(string(text), "policy.New(") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := command(t.Context(), small, "go", "vet", "./..."); err != nil {
		t.Error(err)
	}
	makeProject(t, "upgrade", "--dir", small) // to the same
}

// contents are a project's files, but for what is of one moment.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := readTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, e := range files {
		out[name] = fmt.Sprintf("%o %s", e.mode, e.text)
	}
	return out
}

func equal(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %s is not there", when, name)
		}
	}
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs", when, name)
		}
	}
}

func commit(t *testing.T, dir string) {
	t.Helper()
	if _, err := git(t.Context(), dir, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "--all"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message", "x"}} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
}
