package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"example.com/ginseng/scripts/internal/files"
)

// publish writes a version of a module to a file-system module proxy.
func publish(t *testing.T, proxy, path, version, dir string) {
	t.Helper()
	at := filepath.Join(proxy, path, "@v")
	mod := read(t, filepath.Join(dir, "go.mod"))
	write(t, at, files.Tree{version + ".mod": []byte(mod), version + ".info": []byte(`{"Version":"` + version + `","Time":"` + time.Now().UTC().Format(time.RFC3339) + `"}`)})
	list, err := os.OpenFile(filepath.Join(at, "list"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = list.Close() }()
	if _, err := list.WriteString(version + "\n"); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	if err := zip.CreateFromDir(out, module.Version{Path: path, Version: version}, dir); err != nil {
		t.Fatal(err)
	}
}

// useProxy makes the go command download the modules from a new proxy, and removes them from the module cache afterwards.
func useProxy(t *testing.T, paths ...string) (proxy string) {
	t.Helper()
	proxy = filepath.Join(t.TempDir(), "proxy")
	cache := shell(t, ".", "go", "env", "GOMODCACHE")
	forget := func() {
		for _, path := range paths {
			old, _ := filepath.Glob(filepath.Join(cache, path+"@*"))
			for _, dir := range append(old, filepath.Join(cache, "cache/download", path)) {
				_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
					if err == nil && entry.IsDir() {
						_ = os.Chmod(name, 0o755) // the module cache is read-only
					}
					return nil
				})
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
		}
	}
	forget()
	t.Cleanup(forget)
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy)+","+shell(t, ".", "go", "env", "GOPROXY"))
	t.Setenv("GONOSUMDB", strings.Join(paths, ","))
	return proxy
}

// TestRuntimeModule makes projects whose runtime is a module of a proxy, and adds a component and upgrades there.
func TestRuntimeModule(t *testing.T) {
	const mirror = "ginseng.test/mirror"
	for _, path := range []string{mirror, modulePath} {
		t.Run(path, func(t *testing.T) {
			if testing.Short() && path != mirror {
				t.Skip("compiles the runtime again; make test-all runs it")
			}
			dir := ginseng(t)
			proxy := useProxy(t, path)
			// The go command never reads a version twice: each run has its own.
			first, second := fmt.Sprintf("v1.%d.0", time.Now().UnixNano()), fmt.Sprintf("v1.%d.1", time.Now().UnixNano())
			publish(t, proxy, path, first, dir)
			shop := filepath.Join(dir, "../shop")
			must(t, "shop", "--with", "user", "--runtime", path+"@latest", "--dir", shop)
			got := filesOf(t, shop)
			for name := range got {
				if strings.HasPrefix(name, "third_party") {
					t.Errorf("the project has %s", name)
				}
			}
			if strings.Contains(string(got["go.mod"]), "replace") != (path != modulePath) {
				t.Errorf("go.mod is\n%s", got["go.mod"])
			}
			compiles(t, shop)
			commit(t, shop)

			t.Chdir(shop)
			shell(t, shop, "go", "tool", "new", "add", "article")
			compiles(t, shop)
			commit(t, shop)
			if testing.Short() {
				return // the next command compiles the runtime again
			}

			edit(t, filepath.Join(shop, "modules/article/list.go"), "Page = 20\n", "Page = 20\n\n// Limit is mine.\nconst Limit = 100\n")
			commit(t, shop)
			edit(t, filepath.Join(dir, "modules/article/list.go"), "package article\n", "// Package article has pages.\npackage article\n")
			publish(t, proxy, path, second, dir)
			shell(t, shop, "go", "tool", "new", "upgrade")
			for name, want := range map[string]string{
				"modules/article/list.go": "// Package article has pages.\npackage article\n\n// Page is a size.\nconst Page = 20\n\n// Limit is mine.\n",
				answersFile:               second, "go.mod": " " + second,
			} {
				if got := read(t, filepath.Join(shop, name)); !strings.Contains(got, want) {
					t.Errorf("%s does not have %q:\n%s", name, want, got)
				}
			}
			compiles(t, shop)
		})
	}
}
