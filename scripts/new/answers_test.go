package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/files"
)

func parse(input string, terminal bool, args ...string) (request, string, error) {
	var out bytes.Buffer
	c := cli{in: bufio.NewReader(strings.NewReader(input)), out: &out, err: &out, terminal: terminal}
	r, err := c.parse(args)
	return r, out.String(), err
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	every := "user social password-reset email-verification email-code two-factor passkey api-key organization article policy mcp webhook admin"
	allProviders := strings.Join(providers, " ")
	for _, test := range []struct {
		args, input, components, providers, notes string
	}{
		{"shop", "", every, allProviders, ""},
		{"shop --with all --providers all", "", every, allProviders, ""},
		{"shop --with none", "", "", "", ""},
		{"shop --without all", "", "", "", ""},
		{"shop --without none", "", every, allProviders, ""},
		{"shop --with article", "", "article", "", ""},
		{"--with policy,article shop", "", "user article policy", "", "user is included because other components need it."},
		{"shop --with social,user --providers google,facebook", "", "user social", "facebook google", ""},
		{"shop --without user", "", "article", "", "social is left out because it needs user. password-reset is left out because it needs user. email-verification is left out because it needs user. email-code is left out because it needs user. two-factor is left out because it needs user. passkey is left out because it needs user. api-key is left out because it needs user. organization is left out because it needs user. policy is left out because it needs user. mcp is left out because it needs user. webhook is left out because it needs user. admin is left out because it needs user."},
		{"shop --without article,policy", "", "user social password-reset email-verification email-code two-factor passkey api-key organization mcp webhook admin", allProviders, ""},
		{"--config -", `{"name": "shop", "with": ["user", "article"]}`, "user article", "", ""},
		{"--config -", `{"name": "shop", "without": "social"}`, "user password-reset email-verification email-code two-factor passkey api-key organization article policy mcp webhook admin", "", ""},
		{"shop --with user --config -", `{"name": "other", "without": "user"}`, "user", "", ""},
		{"--config -", `{"name": "shop", "with": []}`, "", "", ""},
	} {
		r, _, err := parse(test.input, false, strings.Fields(test.args)...)
		if err != nil || r.Name != "shop" || r.Module != "example.com/shop" || r.dir != "../shop" {
			t.Errorf("%s: %+v %v", test.args, r, err)
		}
		got := []string{strings.Join(r.Components, " "), strings.Join(r.Providers, " "), strings.Join(r.notes, " ")}
		if want := []string{test.components, test.providers, test.notes}; !slices.Equal(got, want) {
			t.Errorf("%s %s: %q, want %q", test.args, test.input, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args, input string
		want        []string
	}{
		{"", "", []string{"NAME is missing"}},
		{"Shop", "", []string{`name "Shop" must be`}},
		{"ad b", "", []string{"a new project has one NAME, and ad is not a command; did you mean add?"}},
		{"docs", "", []string{`name "docs" is the name of a directory`}},
		{"shop --nothing", "", []string{"unknown flag: --nothing; use one of --config, --dir, --dry-run, --module, --name, --providers, --runtime, --with, --without"}},
		{"shop --module", "", []string{"flag needs an argument: --module"}},
		{"shop --module shop", "", []string{`"shop" must start with a domain`}},
		{"shop --module example.com/ginseng", "", []string{"example.com/ginseng is the runtime"}},
		{"shop --module https://example.com", "", []string{"is not a module path"}},
		{"shop --with user --without article", "", []string{"--with and --without exclude each other"}},
		{"-x --with users", "", []string{"unknown shorthand flag: 'x'"}},
		{"Shop --with users,all --runtime x", "", []string{`name "Shop"`, `--with: unknown name "users"`, `--with: unknown name "all"`, `--runtime: "x" must be PATH@VERSION`}},
		{"shop --with ,", "", []string{"--with requires a list"}},
		{"shop --with article --providers google", "", []string{"--providers requires the component social"}},
		{"shop --providers none", "", []string{`--providers: unknown name "none"`}},
		{"add policy --with user", "", []string{"add does not accept --with"}},
		{"upgrade --runtime x", "", []string{`--runtime: "x" must be PATH@VERSION`}},
		{"shop --config -", "{", []string{"--config: unexpected end of JSON input"}},
		{"shop --config missing.json", "", []string{"--config: open missing.json"}},
		{"shop --config -", `{"wiht": "user", "dry-run": "x"}`, []string{"--config: ", "--config: "}},
	} {
		_, _, err := parse(test.input, false, strings.Fields(test.args)...)
		if err == nil {
			t.Errorf("%s: no error", test.args)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		ok := len(lines) == len(test.want)
		for i := range min(len(lines), len(test.want)) {
			ok = ok && strings.Contains(lines[i], test.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", test.args, lines, test.want)
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	input := "My Shop\nshop\ngithub.com/you/shop\n" + dir + "\nsocial,users\nsocial\n\n"
	r, out, err := parse(input, true)
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "shop" || r.Module != "github.com/you/shop" || r.dir != dir || !slices.Equal(r.Components, []string{"user", "social"}) || !slices.Equal(r.Providers, providers) {
		t.Errorf("got %+v", r)
	}
	for _, want := range []string{"Name [shop]: ", `name "My Shop" must be`, "Module path [example.com/shop]: ", `unknown name "users"`, "[all]: "} {
		if !strings.Contains(out, want) {
			t.Errorf("the questions lack %q:\n%s", want, out)
		}
	}
	if _, _, err := parse("My Shop", true); err == nil || !strings.Contains(err.Error(), "input ended") {
		t.Errorf("after an incomplete input: %v", err)
	}
	if _, out, err := parse("\n", true, "shop", "--module", "example.com/a", "--dir", dir, "--without", "social"); err != nil || out != "" {
		t.Errorf("questions although nothing is missing: %v %s", err, out)
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, files.Tree{
		"module/go.mod": nil, "empty/.git/HEAD": nil, "empty/LICENSE": nil, "full/.git/HEAD": nil, "full/main.go": nil,
	})
	for _, test := range []struct {
		dir   string
		given bool
		want  string
	}{
		{"missing", false, ""},
		{"missing/deep", false, ""},
		{"empty", false, ""},
		{"full", true, "already has main.go"},
		{"module/shop", false, "is in the Go module of"},
		{"module/shop", true, ""},
		{"module/go.mod/x", true, "go.mod"},
	} {
		_, err := checkTarget(filepath.Join(root, test.dir), test.given)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.dir, err, test.want)
		}
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	project := files.Tree{".gitignore": []byte("/shop\n"), "main.go": []byte("package main\n"), "modules/modules.go": nil, answersFile: nil}
	write(t, filepath.Join(root, ".new.ginseng-new"), files.Tree{"main.go": []byte("package late"), "late.go": nil}) // of a killed run
	for dir, existing := range map[string]files.Tree{
		"new": {}, "cloned": {".git/HEAD": nil, "LICENSE": []byte("MIT\n"), ".gitignore": []byte("*.log\n.env")},
	} {
		write(t, filepath.Join(root, dir), existing)
		to, err := checkTarget(filepath.Join(root, dir), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := to.commit(project); err != nil {
			t.Fatal(err)
		}
		want := "/shop\n"
		if dir == "cloned" {
			want = "*.log\n.env\ndata/\n"
			if read(t, filepath.Join(root, dir, "LICENSE")) != "MIT\n" {
				t.Error("the license was changed")
			}
		}
		if got := read(t, filepath.Join(root, dir, ".gitignore")); got != want {
			t.Errorf("%s: .gitignore is %q, want %q", dir, got, want)
		}
		if read(t, filepath.Join(root, dir, "main.go")) != "package main\n" {
			t.Errorf("%s: no main.go", dir)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "new/late.go")); err == nil {
		t.Error("the project has a file of a killed run")
	}

	// A directory that another process fills meanwhile is not changed.
	write(t, filepath.Join(root, "late"), files.Tree{"LICENSE": nil})
	to, err := checkTarget(filepath.Join(root, "late"), true)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "late"), files.Tree{"modules/own.go": nil})
	if err := to.commit(project); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(root, "late/main.go")); err == nil {
		t.Error("main.go was left behind")
	}
	if _, err := os.Stat(filepath.Join(root, "late/modules/own.go")); err != nil {
		t.Error(err)
	}

	write(t, filepath.Join(root, "filled"), files.Tree{"LICENSE": nil})
	if err := (target{path: filepath.Join(root, "filled")}).commit(project); err == nil {
		t.Error("a directory that was filled meanwhile was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(root, ".*")); left != nil {
		t.Errorf("left beside the projects: %q", left)
	}
}

// TestCommitTogether commits to one directory several times at once: one succeeds.
func TestCommitTogether(t *testing.T) {
	t.Parallel()
	root, project := t.TempDir(), files.Tree{answersFile: nil}
	for i := range 200 {
		project[fmt.Sprintf("modules/a%d/a.go", i)] = []byte("package a\n")
	}
	errs := make(chan error)
	for range 4 {
		go func() { errs <- target{path: filepath.Join(root, "shop")}.commit(project) }()
	}
	done := 0
	for range 4 {
		if err := <-errs; err == nil {
			done++
		} else if !strings.Contains(err.Error(), "already has") {
			t.Error(err)
		}
	}
	if got, err := files.Read(filepath.Join(root, "shop"), func(string) bool { return true }); err != nil || done != 1 || len(got) != len(project) {
		t.Errorf("%v; %d succeeded, and there are %d files, want %d", err, done, len(got), len(project))
	}
}
