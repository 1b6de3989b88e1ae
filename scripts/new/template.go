package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/registry"
	"example.com/ginseng/scripts/internal/rewrite"
)

const (
	modulePath  = "example.com/ginseng"     // module path of the runtime
	runtimeDir  = "third_party/ginseng"     // a project's copy of the runtime
	sumFile     = "third_party/ginseng.sum" // checksums of the files in runtimeDir
	answersFile = ".ginseng.json"
	projectDir  = "scripts/new/project" // templates of project files that Ginseng itself does not have
)

// runtime describes which runtime a project uses: a module at a version or, if Path is empty, a copy.
type runtime struct {
	Path     string `json:"path,omitempty"`
	Version  string `json:"version"`
	Checksum string `json:"checksum,omitempty"` // SHA-256 of third_party/ginseng.sum, if the project has a copy
}

func (r runtime) String() string {
	if r.Path != "" {
		return r.Path + "@" + r.Version
	}
	return "a copy of " + modulePath + ", version " + r.Version
}

// source is Ginseng at one version.
type source struct {
	dir     string     // where files were read from
	runtime runtime    // how a project uses this version
	files   files.Tree // files of the runtime and of the template
}

// readSource reads the module r.Path at r.Version. If r.Path is "", it reads the version of example.com/ginseng that the Go
// module in dir uses.
func readSource(ctx context.Context, dir string, r runtime) (source, error) {
	s := source{runtime: r}
	var err error
	if r.Path == "" {
		s.dir, err = files.Run(ctx, dir, "go", "list", "-m", "-f", "{{.Dir}}", modulePath)
	} else {
		var raw string
		if raw, err = files.Run(ctx, os.TempDir(), "go", "mod", "download", "-json", r.Path+"@"+r.Version); err == nil {
			var downloaded struct{ Dir, Version string }
			err = json.Unmarshal([]byte(raw), &downloaded)
			s.dir, s.runtime.Version = downloaded.Dir, downloaded.Version
		}
	}
	if err != nil {
		return source{}, fmt.Errorf("cannot find the module %s: %w", modulePath, err)
	}
	if s.files, err = files.Read(s.dir, isRuntime); err != nil {
		return source{}, err
	}
	if s.files[projectDir+"/README.md"] == nil {
		return source{}, fmt.Errorf("%s has no %s: it is not Ginseng", s.dir, projectDir)
	}
	if r.Path == "" {
		s.runtime = runtime{Version: "unknown", Checksum: fmt.Sprintf("%x", sha256.Sum256(s.files.Sums(path.Base(runtimeDir))))}
		if _, statErr := os.Stat(filepath.Join(s.dir, ".git")); statErr == nil {
			s.runtime.Version, err = files.Run(ctx, s.dir, "git", "describe", "--tags", "--always", "--dirty")
		}
	}
	return s, err
}

// isRuntime reports whether a file belongs to a copy of the runtime. A copy has kit, middleware, server, testkit and the
// generators of scripts without their tests, the template with its tests, and the guides with their examples and
// the client that these import.
func isRuntime(name string) bool {
	parts := strings.Split(name, "/")
	tests := strings.HasSuffix(name, "_test.go") || slices.Contains(parts, "testdata")
	switch parts[0] {
	case "go.mod", "go.sum", "LICENSE", "main.go", "config", "modules":
		return true
	case "docs":
		return parts[1] == "examples" || len(parts) == 2 && slices.Contains([]string{".go", ".json", ".md"}, path.Ext(name))
	case "clients":
		return path.Ext(name) == ".js"
	case "kit", "middleware", "server", "testkit":
		return !tests
	case "scripts":
		return len(parts) > 2 && slices.Contains([]string{"new", "generate", "docs", "client", "internal"}, parts[1]) && !tests
	}
	return false
}

// withRuntime returns the files of a project. If the project has a copy of the runtime, withRuntime adds the copy.
func (s source) withRuntime(project files.Tree) files.Tree {
	project = maps.Clone(project)
	if s.runtime.Path == "" {
		project[sumFile] = s.files.Sums(path.Base(runtimeDir))
		for name, data := range s.files {
			project[runtimeDir+"/"+name] = data
		}
	}
	return project
}

// render returns the files of a project that are copied or made from templates, without the runtime and without generated files.
// The module article is Ginseng's own, which requires users.
func (s source) render(a answers) (files.Tree, error) {
	a.Runtime = s.runtime
	raw, err := json.MarshalIndent(a, "", "  ")
	project := files.Tree{answersFile: append(raw, '\n')}
	for name, data := range s.files {
		own, isProject := strings.CutPrefix(name, projectDir+"/")
		switch {
		case err != nil:
			return nil, err
		case isProject:
			own = strings.TrimPrefix(strings.ReplaceAll("/"+own, "/dot-", "/."), "/")
			project[own], err = execute(name, data, a)
		case isTemplate(name, a) && path.Ext(name) == ".go":
			project[name], err = s.rewrite(name, data, a)
		case isTemplate(name, a) && path.Base(path.Dir(name)) == "emails":
			project[name] = bytes.ReplaceAll(data, []byte("Ginseng"), []byte(title(a.Name)))
		case isTemplate(name, a):
			project[name] = data
		}
	}
	return project, err
}

// execute executes a template. Its delimiters are [[ and ]], because CI workflows use braces.
func execute(name string, text []byte, a answers) ([]byte, error) {
	parsed, err := template.New(name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{"Name": a.Name, "Title": title(a.Name), "Copied": a.Runtime.Path == "", "HasUser": a.has("user")})
	return out.Bytes(), err
}

// title returns a name such as "Web Shop" for web-shop.
func title(name string) string {
	return cases.Title(language.English).String(strings.ReplaceAll(name, "-", " "))
}

// isTemplate reports whether a file of the runtime is also a file of the project.
func isTemplate(name string, a answers) bool {
	parts := strings.Split(name, "/")
	switch parts[0] {
	case "main.go", "config":
		return true
	case "docs":
		return len(parts) == 2 && path.Ext(name) == ".go"
	case "modules":
		component := componentOf(parts[1])
		return name == registry.Path || len(parts) > 2 && (component == "" || a.has(component) && (component != "social" || !omitsProvider(parts[2], a)))
	}
	return false
}

// ownedArticles and plainArticles create the module article in the registry: articles have owners in a project with users.
var ownedArticles, plainArticles = []byte("article.New(d, users)"), []byte("article.New(d)")

// keeps reports whether the project has a module of the registry.
func (a answers) keeps(m registry.Module) bool {
	component := componentOf(path.Base(m.Import))
	return component == "" || a.has(component)
}

// componentOf returns the component of a directory in modules, or "".
func componentOf(dir string) string {
	for _, c := range components {
		if slices.Contains(c.dirs, dir) {
			return c.name
		}
	}
	return ""
}

// omitsProvider reports whether the name of a file in the module social contains a provider that was not chosen: google.go,
// .env.example.google and github_google_test.go contain google.
func omitsProvider(file string, a answers) bool {
	words := strings.FieldsFunc(file, func(r rune) bool { return r == '.' || r == '_' })
	return slices.ContainsFunc(providers, func(provider string) bool {
		return slices.Contains(words, provider) && !slices.Contains(a.Providers, provider)
	})
}

// rewrite returns a Go file of the template with the project's import paths and name, and without the modules and providers
// that were not chosen.
func (s source) rewrite(name string, src []byte, a answers) ([]byte, error) {
	file, err := rewrite.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file.Imports(modulePath, a.Module, "config", "docs", "modules")
	if name == "main.go" {
		file.Name(a.Name)
		file.Annotation("@title", title(a.Name))
	}
	if path.Dir(name) == "modules/social" && !omitsProvider(path.Base(name), answers{}) { // a file that the providers share
		gone := map[string]bool{}
		for other, src := range s.files {
			if path.Dir(other) == "modules/social" && path.Ext(other) == ".go" && omitsProvider(path.Base(other), a) {
				provider, err := rewrite.Parse(src)
				if err != nil {
					return nil, err
				}
				for _, declared := range provider.Declared() {
					gone[declared] = true
				}
			}
		}
		file.Without(gone)
	}
	src, err = file.Bytes()
	if err == nil && name == registry.Path {
		if !a.has("user") {
			src = bytes.Replace(src, ownedArticles, plainArticles, 1)
		}
		src, err = registry.Keep(src, a.keeps)
	}
	return src, err
}
