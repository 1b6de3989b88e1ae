package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/ginseng/scripts/internal/files"
)

// tools are the tool directives of a project's go.mod.
var tools = []string{
	modulePath + "/scripts/docs", modulePath + "/scripts/generate", modulePath + "/scripts/new",
	"github.com/swaggo/swag/cmd/swag", "honnef.co/go/tools/cmd/staticcheck",
}

// toolVersions are the versions of the tools that the runtime's go.mod does not require.
var toolVersions = map[string]string{"github.com/swaggo/swag": "v1.16.6", "honnef.co/go/tools": "v0.8.1"}

// create creates a project in r.dir. It builds the project in a temporary directory, so that a failure leaves nothing
// behind.
func (c cli) create(ctx context.Context, r request) error {
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
	stage, err := t.stage()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(stage) }()
	if err := s.build(ctx, stage, project, r.answers); err != nil {
		return err
	}
	if err := addSecrets(stage); err != nil {
		return err
	}
	if err := t.commit(stage); err != nil {
		return err
	}
	c.printf("Created %s in %s. The runtime is %s. Next:\n  cd %s\n  go test ./...\n  go run .\n", r.Name, r.dir, s.runtime, r.dir)
	return nil
}

// pristine returns the files of a project as create writes them, before any change of the user. This is what render returns,
// except that the module article of a project without users is generated.
func (s source) pristine(ctx context.Context, a answers) (files.Tree, error) {
	project, err := s.render(a)
	if err != nil || a.has("user") || !a.has("article") {
		return project, err
	}
	dir, err := os.MkdirTemp("", "ginseng-new-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bare := a
	bare.Components = nil // article is the only component that does not need user
	other, err := s.render(bare)
	if err != nil {
		return nil, err
	}
	if err := s.build(ctx, dir, other, bare); err != nil {
		return nil, err
	}
	if _, err := files.Run(ctx, dir, "go", "tool", "generate", "article", "title:string:required:search:sort", "content:text:search",
		"--master", "create,update,delete"); err != nil {
		return nil, err
	}
	isArticle := func(name string) bool { return strings.HasPrefix(name, "modules/article/") }
	generated, err := files.Read(dir, isArticle)
	maps.DeleteFunc(project, func(name string, _ []byte) bool { return isArticle(name) })
	maps.Copy(project, generated)
	return project, err
}

// build writes a project and its runtime into dir, and generates go.mod, go.sum and the documents.
func (s source) build(ctx context.Context, dir string, project files.Tree, a answers) error {
	mod, err := s.goMod([]byte("module " + a.Module + "\n"))
	if err != nil {
		return err
	}
	project = s.withRuntime(project)
	project["go.mod"], project["go.sum"] = mod, s.files["go.sum"]
	if err := project.Write(dir); err != nil {
		return err
	}
	return finish(ctx, dir)
}

// finish updates the generated files of the project in dir: go.mod, go.sum, .env.example and the API documents.
func finish(ctx context.Context, dir string) error {
	if _, err := files.Run(ctx, dir, "go", "mod", "tidy"); err != nil {
		return err
	}
	_, err := files.Run(ctx, dir, "go", "tool", "docs")
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
	edits := []error{f.AddGoStmt(own.Go.Version), f.AddRequire(modulePath, required), f.AddReplace(modulePath, "", replaced, version)}
	if s.runtime.Path == modulePath {
		edits = append(edits, f.DropReplace(modulePath, ""))
	}
	for _, tool := range tools {
		edits = append(edits, f.AddTool(tool))
	}
	f.Cleanup()
	return modfile.Format(f.Syntax), errors.Join(edits...)
}

// addSecrets writes a random value for each secret of .env.example that .env does not have.
func addSecrets(dir string) error {
	example, err := os.ReadFile(filepath.Join(dir, ".env.example"))
	if err != nil {
		return err
	}
	file := filepath.Join(dir, ".env")
	env, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		env, err = []byte("# The settings of this machine. .env.example lists all settings.\n"), nil
	}
	for line := range strings.Lines(string(example)) {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasPrefix(value, "change-me") && !bytes.Contains(env, []byte(name+"=")) {
			env = fmt.Appendf(env, "%s=%s\n", name, rand.Text()+rand.Text())
		}
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, env, 0o600)
}
