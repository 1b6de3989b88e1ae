package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/ginseng/scripts/internal/documents"
	"example.com/ginseng/scripts/internal/files"
)

// tools are the tool directives of a project's go.mod.
var tools = []string{
	modulePath + "/scripts/client", modulePath + "/scripts/docs", modulePath + "/scripts/generate", modulePath + "/scripts/new",
	"github.com/swaggo/swag/cmd/swag", "honnef.co/go/tools/cmd/staticcheck",
}

// toolVersions are the versions of the tools that the runtime's go.mod does not require.
var toolVersions = map[string]string{"github.com/swaggo/swag": "v1.16.6", "honnef.co/go/tools": "v0.8.1"}

// create creates a project in r.dir, or changes nothing if it fails.
func (c cli) create(ctx context.Context, r request) error {
	if err := files.Restore(r.dir); err != nil {
		return err
	}
	t, err := checkTarget(r.dir, r.dirGiven)
	if err != nil {
		return mistakes{err.Error()}
	}
	for _, note := range r.notes {
		c.printf("%s\n", note)
	}
	s, err := readSource(ctx, ".", r.Runtime)
	if err != nil {
		return err
	}
	project, err := s.pristine(ctx, r.answers)
	if err != nil {
		return err
	}
	if r.dryRun {
		for _, name := range slices.Sorted(maps.Keys(project)) {
			c.printf("%s\n", name)
		}
		c.printf("generated: .env .env.example docs/openapi.json docs/swagger.json go.mod go.sum\nruntime: %s\nnothing was written\n", s.runtime)
		return nil
	}
	complete := finish
	if s.runtime.Path == "" {
		complete = c.finishCopy
	}
	if project, err = s.build(ctx, project, r.answers, complete); err != nil {
		return err
	}
	project[envFile] = addSecrets(fmt.Appendf(nil, newEnv, r.Name), project[envFile+".example"])
	if err := t.commit(project); err != nil {
		return err
	}
	c.printf("Created %s in %s. The runtime is %s. Next:\n  cd %s\n  make test\n  make run\n", r.Name, r.dir, s.runtime, r.dir)
	return nil
}

// pristine returns the files of a project as create writes them, before any change of the user: the files of render, with a
// generated module article if the project has no users.
func (s source) pristine(ctx context.Context, a answers) (files.Tree, error) {
	project, err := s.render(a)
	if err != nil || a.has("user") || !a.has("article") {
		return project, err
	}
	bare := a
	bare.Components = nil // article is the only component that does not need user
	other, err := s.render(bare)
	if err != nil {
		return nil, err
	}
	other, failed, err := s.generate(ctx, other, bare, [][]string{{"article", "title:string:required:search:sort", "content:text:search",
		"--changes", "--master", "create,update,delete"}})
	if err = errors.Join(err, failed["article"]); err != nil {
		return nil, err
	}
	isArticle := func(name string, _ []byte) bool { return strings.HasPrefix(name, "modules/article/") }
	maps.DeleteFunc(project, isArticle)
	maps.DeleteFunc(other, func(name string, _ []byte) bool { return !isArticle(name, nil) })
	maps.Copy(project, other)
	return project, err
}

// generate returns the files of a project after calls of the command generate of this version with the arguments. failed has
// the errors of calls by their first argument.
func (s source) generate(ctx context.Context, project files.Tree, a answers, calls [][]string) (_ files.Tree, failed map[string]error, err error) {
	project, failed = maps.Clone(project), map[string]error{}
	project[documents.SwaggerFile] = []byte("{}")
	s.runtime.Path = "" // a copy, because go.sum lacks the checksum of the runtime
	project, err = s.build(ctx, project, a, func(ctx context.Context, dir string) error {
		// Build generate in the runtime's own module, which needs no go mod tidy and whose packages are in the build cache.
		generate := filepath.Join(dir, ".generate")
		if _, err := files.Run(ctx, s.dir, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", generate, "./scripts/generate"); err != nil {
			return err
		}
		for _, args := range calls {
			if _, err := files.Run(ctx, dir, generate, args...); err != nil {
				failed[args[0]] = err
			}
		}
		return os.Remove(generate)
	})
	return project, failed, err
}

// build returns the files of a project with its runtime, go.mod and go.sum. It calls complete, which changes the files in a
// temporary directory.
func (s source) build(ctx context.Context, project files.Tree, a answers, complete func(ctx context.Context, dir string) error) (files.Tree, error) {
	mod, err := s.goMod([]byte("module " + a.Module + "\n"))
	if err != nil {
		return nil, err
	}
	project = s.withRuntime(project)
	project["go.mod"], project["go.sum"] = mod, s.files["go.sum"]
	dir, err := os.MkdirTemp("", "ginseng-new-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := project.Write(dir); err != nil {
		return nil, err
	}
	if err := complete(ctx, dir); err != nil {
		return nil, err
	}
	return files.Read(dir, func(string) bool { return true })
}

// finish updates the generated files of the project in dir: go.mod, go.sum, .env.example and the API documents. It runs the tool
// docs of the project's runtime.
func finish(ctx context.Context, dir string) error {
	if err := tidy(ctx, dir); err != nil {
		return err
	}
	_, err := files.Run(ctx, dir, "go", "tool", "docs")
	return err
}

// finishCopy is like finish, for a project with a copy of this command's own runtime. It does not compile the tool docs.
func (c cli) finishCopy(ctx context.Context, dir string) error {
	if err := tidy(ctx, dir); err != nil {
		return err
	}
	generated, err := c.document(dir, filepath.Join(dir, runtimeDir))
	if err != nil {
		return err
	}
	return generated.Write(dir)
}

func tidy(ctx context.Context, dir string) error {
	_, err := files.Run(ctx, dir, "go", "mod", "tidy")
	return err
}

// goMod returns a project's go.mod with the runtime and the tools. If src requires nothing yet, goMod adds the libraries of
// the runtime in the runtime's versions.
func (s source) goMod(src []byte) ([]byte, error) {
	f, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		return nil, err
	}
	own, err := modfile.Parse(modulePath+"/go.mod", s.files["go.mod"], nil)
	if err != nil {
		return nil, err
	}
	if len(f.Require) == 0 {
		versions := maps.Clone(toolVersions)
		for _, r := range own.Require {
			versions[r.Mod.Path] = r.Mod.Version
		}
		for path, version := range versions {
			f.AddNewRequire(path, version, true)
		}
	}
	required, replaced, version := "v0.0.0", s.runtime.Path, s.runtime.Version
	if s.runtime.Path == modulePath {
		required = version
	} else if s.runtime.Path == "" {
		replaced, version = "./"+runtimeDir, ""
	}
	edits := []error{f.AddGoStmt(own.Go.Version), f.AddRequire(modulePath, required), f.AddReplace(modulePath, "", replaced, version),
		f.AddIgnore("node_modules")} // packages of npm can contain Go files
	if s.runtime.Path == modulePath {
		edits = append(edits, f.DropReplace(modulePath, ""))
	}
	for _, tool := range tools {
		edits = append(edits, f.AddTool(tool))
	}
	f.Cleanup()
	return modfile.Format(f.Syntax), errors.Join(edits...)
}

const envFile = ".env"

// newEnv is the beginning of a new project's .env. %s is the project's name.
const newEnv = `# The settings of this machine. .env.example lists all settings.
DATABASE_URL=sqlite:data/%s.db
`

// addSecrets returns the content of .env with a random value for each secret of .env.example that env lacks.
func addSecrets(env, example []byte) []byte {
	if env == nil {
		env = []byte("# The settings of this machine. .env.example lists all settings.\n")
	}
	for line := range strings.Lines(string(example)) {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasPrefix(value, "change-me") && !bytes.Contains(env, []byte(name+"=")) {
			env = fmt.Appendf(env, "%s=%s\n", name, rand.Text()+rand.Text())
		}
	}
	return env
}
