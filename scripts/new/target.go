package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"example.com/ginseng/scripts/internal/files"
)

// reserved are the names of the files and directories at the top of a project, except .gitignore: a directory that has one
// can become a project, and commit adds the missing lines.
var reserved = []string{
	answersFile, ".dockerignore", ".env", ".env.example", ".gitattributes", ".github", "Dockerfile", "Makefile", "README.md",
	"compose.yaml", "config", "docs", "go.mod", "go.sum", "main.go", "modules", "third_party",
}

const gitignore = ".gitignore"

// target is the directory of a new project.
type target struct {
	path     string   // absolute
	existing []string // names of the files and directories that it already has
}

// checkTarget fails if the directory has one of the reserved names. Unless given is true, which means that the user named
// the directory, it also fails if the directory is in a Go module.
func checkTarget(dir string, given bool) (target, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return target{}, err
	}
	t := target{path: path}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return target{}, err
	}
	for _, entry := range entries {
		t.existing = append(t.existing, entry.Name())
		if slices.Contains(reserved, entry.Name()) {
			return target{}, fmt.Errorf("directory %s already has %s; choose another with --dir", dir, entry.Name())
		}
	}
	for parent := filepath.Dir(path); !given && parent != filepath.Dir(parent); parent = filepath.Dir(parent) {
		if _, err := os.Stat(filepath.Join(parent, "go.mod")); err == nil {
			return target{}, fmt.Errorf("directory %s is in the Go module of %s; name it with --dir to use it anyway", dir, parent)
		}
	}
	return t, nil
}

// stage creates a temporary directory beside the target, from which commit can rename files.
func (t target) stage() (string, error) {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(t.path), "."+filepath.Base(t.path)+".new-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	return dir, err
}

// commit moves the staged files into the target: by renaming the directory or, if the target has files, by renaming one file
// after the other, .ginseng.json last. If that fails, it removes what it has moved.
func (t target) commit(stage string) (err error) {
	if len(t.existing) == 0 {
		if err := os.Remove(t.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Rename(stage, t.path)
	}
	for _, name := range append(slices.Clone(reserved[1:]), gitignore, answersFile) {
		from, to := filepath.Join(stage, name), filepath.Join(t.path, name)
		if name == gitignore && slices.Contains(t.existing, gitignore) {
			if err := files.AppendMissing(to, ".env", "data/"); err != nil {
				return err
			}
			continue
		}
		if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, os.RemoveAll(to))
			}
		}()
	}
	return nil
}
