package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/files"
)

// reserved are the names of the files and directories at the top of a project, except .gitignore: a directory with a .gitignore
// can become a project, and commit adds the missing lines.
var reserved = []string{
	answersFile, ".dockerignore", ".env", ".env.example", ".gitattributes", ".github", "Dockerfile", "Makefile", "README.md",
	"compose.yaml", "config", "docs", "go.mod", "go.sum", "main.go", "modules", "third_party",
}

const gitignore = ".gitignore"

// target is the directory of a new project.
type target struct {
	path     string   // absolute
	existing []string // names of the files and directories that path already has
}

// checkTarget fails if the directory has one of the reserved names. If the user did not name the directory (given is false), it
// also fails if the directory is in a Go module.
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

// commit writes the project to the target: all files or none. If the process is killed, the next run removes the written files.
func (t target) commit(project files.Tree) error {
	parent := filepath.Dir(t.path)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	defer files.Lock(parent)()
	if _, err := checkTarget(t.path, true); err != nil {
		return err
	}
	if len(t.existing) > 0 {
		return t.add(project)
	}
	stage := filepath.Join(parent, "."+filepath.Base(t.path)+".ginseng-new")
	if err := os.RemoveAll(stage); err != nil {
		return err
	}
	err := project.Write(stage)
	if err == nil {
		_ = os.Remove(t.path) // an empty directory, if it exists
		err = os.Rename(stage, t.path)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(stage))
	}
	return err
}

// add adds the project to a target that has files. An existing .gitignore gets the lines that it lacks.
func (t target) add(project files.Tree) error {
	var changes []files.Change
	for name, data := range project {
		c := files.Change{Path: name, After: append([]byte{}, data...)}
		if name == gitignore && slices.Contains(t.existing, gitignore) {
			var err error
			if c.Before, err = os.ReadFile(filepath.Join(t.path, gitignore)); err != nil {
				return err
			}
			c.After = appendMissing(c.Before, ".env", "data/")
		}
		changes = append(changes, c)
	}
	return files.Apply(t.path, changes)
}

// appendMissing appends the lines that text lacks. It treats /LINE and LINE as the same line.
func appendMissing(text []byte, lines ...string) []byte {
	out := strings.TrimSuffix(string(text), "\n")
	for _, line := range lines {
		if have := strings.Fields(out); !slices.Contains(have, line) && !slices.Contains(have, "/"+line) {
			out += "\n" + line
		}
	}
	return []byte(strings.TrimPrefix(out, "\n") + "\n")
}
