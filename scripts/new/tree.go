package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a file of a tree.
type entry struct {
	text []byte
	mode fs.FileMode // 0o644 or 0o755
}

// tree is the files of a module, by their paths, apart by slashes.
type tree map[string]entry

// isMainModule reports whether a file is Go code of the module at the tree's root.
func (t tree) isMainModule(name string) bool {
	if path.Ext(name) != ".go" {
		return false
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		base := path.Base(dir)
		if _, nested := t[dir+"/go.mod"]; nested || base == "testdata" || base == "vendor" || base[0] == '_' || base[0] == '.' {
			return false
		}
	}
	return true
}

// module is the path that the go.mod at the root names.
func (t tree) module() string {
	for line := range strings.Lines(string(t["go.mod"].text)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// private reports whether a file is never the template's: settings with secrets, data, what was built.
func private(name string) bool {
	base := path.Base(name)
	return base == ".env" || strings.HasSuffix(base, ".env") || strings.HasPrefix(name, "data/")
}

// readTree reads the files that git knows or would add or, where root is no git tree, all that .gitignore does not name.
func readTree(ctx context.Context, root string) (tree, error) {
	names, err := gitFiles(ctx, root)
	if err != nil {
		if names, err = walkFiles(root); err != nil {
			return nil, err
		}
	}
	t := tree{}
	for _, name := range names {
		full := filepath.Join(root, filepath.FromSlash(name))
		info, err := os.Lstat(full)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() || private(name) {
			continue // deleted and not committed yet, a link
		}
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(full)
		if err != nil {
			return nil, err
		}
		t[name] = entry{text, mode(info.Mode())}
	}
	return t, nil
}

func mode(m fs.FileMode) fs.FileMode {
	if m&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

func gitFiles(ctx context.Context, root string) ([]string, error) {
	out, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil || out == "" {
		return nil, errors.Join(err, errors.New("git knows no file here"))
	}
	return strings.Split(strings.TrimRight(out, "\x00"), "\x00"), nil
}

// walkFiles lists files as git would, of a copy of the tree without its repository.
func walkFiles(root string) (names []string, err error) {
	text, _ := os.ReadFile(filepath.Join(root, ".gitignore")) // without one nothing is ignored
	var ignored []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			ignored = append(ignored, line)
		}
	}
	err = filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == root {
			return err
		}
		rel, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		skip := name == ".git" || slices.ContainsFunc(ignored, func(pattern string) bool { return matches(pattern, name, d.IsDir()) })
		switch {
		case skip && d.IsDir():
			return fs.SkipDir
		case !skip && !d.IsDir():
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// matches reports whether a line of .gitignore names a file or folder: with a slash before its end it is anchored at the
// root.
func matches(pattern, name string, isDir bool) bool {
	pattern, folder := strings.CutSuffix(pattern, "/")
	if folder && !isDir {
		return false
	}
	if strings.Contains(pattern, "/") {
		ok, _ := path.Match(strings.TrimPrefix(pattern, "/"), name)
		return ok
	}
	ok, _ := path.Match(pattern, path.Base(name))
	return ok
}

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return command(ctx, dir, "git", args...)
}

// command runs a program in a folder and returns what it prints. The error quotes standard error.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
