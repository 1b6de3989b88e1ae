package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tree has files by path, with slashes.
type tree map[string][]byte

// readTree reads the files in dir whose path matches. It skips .git and directories of which no file can match.
func readTree(dir string, match func(string) bool) (tree, error) {
	files := tree{}
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules" || name == "data"):
			return filepath.SkipDir
		case entry.Type().IsRegular() && match(name):
			files[name], err = os.ReadFile(file)
		}
		return err
	})
	return files, err
}

// write writes the files into dir.
func (t tree) write(dir string) error {
	for name, data := range t {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sums returns a line per file of the runtime's copy, as sha256sum prints it in third_party.
func (t tree) sums() []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&out, "%x  %s/%s\n", sha256.Sum256(t[name]), filepath.Base(runtimeDir), name)
	}
	return out.Bytes()
}

// run runs a command and returns its standard output without the final line break. The error has all output.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	return execIn(exec.CommandContext(ctx, name, args...), dir, nil)
}

func execIn(cmd *exec.Cmd, dir string, stdin []byte) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, bytes.NewReader(stdin), &stdout, &stderr
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "LC_ALL=C")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// index is a temporary git index of a repository, with the files of HEAD.
type index struct {
	ctx         context.Context
	dir, prefix string   // of the project in the repository
	work        string   // temporary directory
	env         []string // of git
}

func newIndex(ctx context.Context, dir string) (i index, err error) {
	i = index{ctx: ctx, dir: dir}
	if i.prefix, err = run(ctx, dir, "git", "rev-parse", "--show-prefix"); err != nil {
		return i, err
	}
	gitDir, err := run(ctx, dir, "git", "rev-parse", "--absolute-git-dir")
	if err != nil {
		return i, err
	}
	if i.work, err = os.MkdirTemp("", "ginseng-new-"); err != nil {
		return i, err
	}
	i.env = []string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + i.work, "GIT_INDEX_FILE=" + gitDir + "/ginseng-index", "GIT_LITERAL_PATHSPECS=1"}
	_, err = i.git(nil, "read-tree", "HEAD")
	return i, err
}

func (i index) close() {
	_ = os.RemoveAll(i.work)
	_ = os.Remove(strings.TrimPrefix(i.env[2], "GIT_INDEX_FILE="))
}

func (i index) git(stdin []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(i.ctx, "git", args...)
	cmd.Env = append(os.Environ(), i.env...)
	return execIn(cmd, i.work, stdin)
}

// replace removes files from the index, adds others, and returns the id of the index's tree.
func (i index) replace(removed, added tree) (string, error) {
	paths := func(files tree) []byte {
		var out []byte
		for name := range files {
			out = append(append(out, i.prefix+name...), 0)
		}
		return out
	}
	if _, err := i.git(paths(removed), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
		return "", err
	}
	if err := added.write(filepath.Join(i.work, filepath.FromSlash(i.prefix))); err != nil {
		return "", err
	}
	if _, err := i.git(paths(added), "add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return "", err
	}
	return i.git(nil, "write-tree")
}
