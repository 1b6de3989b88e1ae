package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/documents"
	"example.com/ginseng/scripts/internal/files"
)

// The tests of the commands use a small Ginseng with the same layout: its projects build in a second. TestMatrix uses the
// real one.

const miniRegistry = `// Package modules is the registry.
package modules

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/modules/article"
	"example.com/ginseng/modules/auth"
	passwordreset "example.com/ginseng/modules/password-reset"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/modules/social"
	twofactor "example.com/ginseng/modules/two-factor"
	"example.com/ginseng/modules/user"
)

// Settings has the settings of every module.
type Settings struct {
	Auth          auth.Settings
	PasswordReset passwordreset.Settings
	Social        social.Settings
	TwoFactor     twofactor.Settings
	User          user.Settings
}

// New creates the modules, dependencies first.
func New(d kit.Deps, s Settings) []kit.Module {
	users := user.New(d, s.User)
	sessions := auth.New(d, s.Auth, users)
	socials := social.New(d, s.Social, users, sessions)
	resets := passwordreset.New(d, s.PasswordReset, users)
	factors := twofactor.New(d, s.TwoFactor, users, sessions)
	articles := article.New(d)
	policies := policy.New(d)
	return []kit.Module{
		users,
		sessions,
		socials,
		resets,
		factors,
		articles,
		policies,
	}
}
`

// miniDocs is scripts/docs of the small Ginseng: its documents list the modules and the settings.
const miniDocs = `package main

import (
	"os"
	"path/filepath"
	"strings"
)

func main() {
	fragments, _ := filepath.Glob("modules/*/.env.example*")
	env := "MASTER_KEY=change-me-to-a-master-key\n"
	for _, name := range fragments {
		text, _ := os.ReadFile(name)
		env += string(text)
	}
	dirs, _ := filepath.Glob("modules/*/*.go")
	document := "{\"modules\": \"" + strings.Join(dirs, " ") + "\"}\n"
	for name, text := range map[string]string{".env.example": env, "docs/openapi.json": document, "docs/swagger.json": document} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
}
`

const miniGenerate = `package main

import "os"

func main() {
	_ = os.MkdirAll("modules/article", 0o755)
	text := "package article\n\nimport \"example.com/ginseng/kit\"\n\n// Module is for the master key.\ntype Module struct{}\n\nfunc New(kit.Deps) Module { return Module{} }\n"
	_ = os.WriteFile("modules/article/article.go", []byte(text), 0o644)
}
`

const miniSocial = `// Package social is a module with providers.
package social

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/modules/auth"
	"example.com/ginseng/modules/user"
)

// Settings has the settings of the providers.
type Settings struct {
	Apple     AppleSettings
	Facebook  FacebookSettings
	GitHub    GitHubSettings
	GitLab    GitLabSettings
	Google    GoogleSettings
	Microsoft MicrosoftSettings
}

// Module is the module.
type Module struct{ Providers map[string]bool }

// New returns the module.
func New(_ kit.Deps, s Settings, _ user.Module, _ auth.Module) Module {
	return Module{map[string]bool{
		"apple":     newApple(s.Apple),
		"facebook":  newFacebook(s.Facebook),
		"github":    newGitHub(s.GitHub),
		"gitlab":    newGitLab(s.GitLab),
		"google":    newGoogle(s.Google),
		"microsoft": newMicrosoft(s.Microsoft),
	}}
}
`

// root is the checkout.
var root, _ = filepath.Abs("../..")

// mini returns the files of the small Ginseng, with the real command and the real templates of a project's other files.
func mini(t *testing.T) files.Tree {
	t.Helper()
	all, err := files.Read(root, func(name string) bool {
		return (strings.HasPrefix(name, "scripts/new/") || strings.HasPrefix(name, "scripts/internal/") || strings.HasPrefix(name, "kit/suggest/") || strings.HasPrefix(name, "kit/command/")) && isRuntime(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	module := "package %s\n\nimport %s\n\n// Settings is empty.\ntype Settings struct{}\n\n// Module is the module.\ntype Module struct{}\n\n// New returns the module.\nfunc New(%s) Module { return Module{} }\n"
	const kit, user = `"example.com/ginseng/kit"`, "(\n\t\"example.com/ginseng/kit\"\n\t\"example.com/ginseng/modules/user\"\n)"
	maps.Copy(all, files.Tree{
		"kit/kit.go":                      []byte("// Package kit is the runtime.\npackage kit\n\n// Deps is empty.\ntype Deps struct{}\n\n// Module is anything.\ntype Module any\n"),
		"kit/kit_test.go":                 []byte("package kit\n"),
		"middleware/middleware.go":        []byte("package middleware\n"),
		"scripts/docs/main.go":            []byte(miniDocs),
		"scripts/generate/main.go":        []byte(miniGenerate),
		"scripts/client/main.go":          []byte("package main\n\nfunc main() {}\n"),
		"scripts/tools/go.mod":            []byte("module example.com/ginseng/scripts/tools\n"),
		"config/config.go":                []byte("package config\n\nimport \"example.com/ginseng/modules\"\n\n// Settings has all settings.\ntype Settings struct{ Modules modules.Settings }\n"),
		"docs/docs.go":                    []byte("package docs\n\nimport _ \"embed\"\n\n//go:embed openapi.json\nvar OpenAPI []byte\n"),
		"docs/openapi.json":               []byte("{}\n"),
		"docs/guide.md":                   []byte("# A guide of Ginseng\n"),
		"docs/examples/shop/_files/a.go":  []byte("package a\n"),
		"main.go":                         []byte("// Ginseng is a service.\npackage main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/ginseng/config\"\n\t\"example.com/ginseng/docs\"\n\t\"example.com/ginseng/kit\"\n\t\"example.com/ginseng/modules\"\n)\n\n//\t@title\tGinseng\nfunc main() {\n\ts := struct{ Name string }{\n\t\tName: \"ginseng\",\n\t}\n\tvar c config.Settings\n\tfmt.Println(s.Name, len(modules.New(kit.Deps{}, c.Modules)), len(docs.OpenAPI))\n}\n"),
		"main_test.go":                    []byte("package main\n"),
		"modules/modules.go":              []byte(miniRegistry),
		"modules/user/user.go":            fmt.Appendf(nil, module, "user", kit, "kit.Deps, Settings"),
		"modules/user/user_test.go":       []byte("package user_test\n\nimport _ \"example.com/ginseng/modules/user\"\n"),
		"modules/user/emails/layout.html": []byte("<p>Ginseng</p>\n"),
		"modules/auth/auth.go":            fmt.Appendf(nil, module, "auth", user, "kit.Deps, Settings, user.Module"),
		"modules/auth/.env.example":       []byte("JWT_SECRET=change-me-to-a-secret\n"),
		"modules/password-reset/r.go":     fmt.Appendf(nil, module, "passwordreset", user, "kit.Deps, Settings, user.Module"),
		"modules/two-factor/factor.go":    fmt.Appendf(nil, module, "twofactor", user, "kit.Deps, Settings, user.Module, any"),
		"modules/article/article.go":      fmt.Appendf(nil, module, "article", kit, "kit.Deps"),
		"modules/article/list.go":         []byte("package article\n\n// Page is a size.\nconst Page = 20\n"),
		"modules/policy/policy.go":        fmt.Appendf(nil, module, "policy", kit, "kit.Deps"),
		"modules/policy/type/number.go":   []byte("package number\n"),
		"modules/social/social.go":        []byte(miniSocial),
	})
	for name, provider := range map[string]string{
		"apple": "Apple", "facebook": "Facebook", "github": "GitHub", "gitlab": "GitLab", "google": "Google", "microsoft": "Microsoft",
	} {
		all["modules/social/"+name+".go"] = fmt.Appendf(nil, "package social\n\n// %[1]sSettings is empty.\ntype %[1]sSettings struct{}\n\nfunc new%[1]s(%[1]sSettings) bool { return true }\n", provider)
		all["modules/social/"+name+"_test.go"] = fmt.Appendf(nil, "package social\n\nvar _ = new%s\n", provider)
		all["modules/social/.env.example."+name] = []byte("#" + strings.ToUpper(name) + "_ID=1\n")
	}
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	all["go.mod"] = own
	all["go.sum"], err = os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ginseng writes the small Ginseng to a directory and makes it the working directory.
func ginseng(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(resolved(t, t.TempDir()), "ginseng")
	write(t, dir, mini(t))
	t.Chdir(dir)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_NAME", "you")
		t.Setenv("GIT_"+name+"_EMAIL", "you@example.com")
	}
	return dir
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, dir string, all files.Tree) {
	t.Helper()
	if err := all.Write(dir); err != nil {
		t.Fatal(err)
	}
}

// filesOf returns the files of a project except .env, which has secrets.
func filesOf(t *testing.T, dir string) files.Tree {
	t.Helper()
	got, err := files.Read(dir, func(name string) bool { return name != ".env" })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// must runs the command and returns its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out := try(t, "", args...)
	if code != command.ExitOK {
		t.Fatalf("new %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

func try(t *testing.T, input string, args ...string) (code int, out string) {
	t.Helper()
	var b bytes.Buffer
	c := cli{in: bufio.NewReader(strings.NewReader(input)), out: &b, err: &b, document: document}
	return c.main(t.Context(), args), b.String()
}

// document generates the documents of a project; those of the small Ginseng with its scripts/docs.
func document(dir, runtime string) (files.Tree, error) {
	if _, err := os.Stat(filepath.Join(runtime, "server")); err == nil {
		return documents.All(dir, runtime)
	}
	if _, err := files.Run(context.Background(), dir, "go", "run", "./third_party/ginseng/scripts/docs/main.go"); err != nil {
		return nil, err
	}
	return files.Read(dir, func(name string) bool {
		return slices.Contains([]string{".env.example", documents.SwaggerFile, documents.OpenAPIFile}, name)
	})
}

// shell runs a command that must succeed, and returns its output.
func shell(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := files.Run(t.Context(), dir, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compiles checks that a project compiles, with its tests, and passes them. go vet would first analyze the standard library.
func compiles(t *testing.T, dir string) {
	t.Helper()
	shell(t, dir, "go", "build", "./...")
	shell(t, dir, "go", "test", "-vet=off", "./...")
}

func commit(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		shell(t, dir, "git", "init", "--quiet")
	}
	shell(t, dir, "git", "add", "--all")
	shell(t, dir, "git", "commit", "--quiet", "--allow-empty", "-m", "Change")
}

// same reports the files that differ.
func same(t *testing.T, what string, got, want files.Tree) {
	t.Helper()
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is superfluous", what, name)
		}
	}
	for name := range want {
		if have, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if !bytes.Equal(have, want[name]) {
			t.Errorf("%s: %s is\n%s\nwant\n%s", what, name, have, want[name])
		}
	}
}
