// Package files reads and writes trees of files, runs commands, and creates git commits for the generators.
package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree has the contents of files by path. A path has slashes and is relative to the root of the tree.
type Tree map[string][]byte

// Read reads the regular files below dir whose relative path match accepts. It omits dir/data and all directories with the name
// .git or node_modules.
func Read(dir string, match func(path string) bool) (Tree, error) {
	t := Tree{}
	dir, err := filepath.EvalSymlinks(dir) // WalkDir does not follow a link
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && (name == "data" || slices.Contains([]string{".git", "node_modules"}, entry.Name())):
			return filepath.SkipDir
		case entry.Type().IsRegular() && match(name):
			t[name], err = os.ReadFile(file)
		}
		return err
	})
	return t, err
}

// Write writes the files below dir, and creates missing directories. Other files in dir stay.
func (t Tree) Write(dir string) error {
	for name, data := range t {
		if err := writeFile(dir, name, data); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(dir, name string, data []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if name == ".env" { // has secrets
		mode = 0o600
	}
	return os.WriteFile(file, data, mode)
}

// Sums returns a line for each file in the format of sha256sum, with dir before each path.
func (t Tree) Sums(dir string) []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(t[name]), path.Join(dir, name))
	}
	return out.Bytes()
}

// Run runs a command in dir and returns its standard output without the final line break. The error has the command's
// standard output and standard error.
func Run(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return run(cmd)
}

func run(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "LC_ALL=C")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// CheckClean fails if the git repository of dir has uncommitted changes. In a repository without such changes, git restore can
// undo a command.
func CheckClean(ctx context.Context, dir string) error {
	status, err := Run(ctx, dir, "git", "status", "--porcelain")
	if err == nil && status != "" {
		err = fmt.Errorf("commit or stash your changes first:\n%s", status)
	}
	return err
}

// Changed returns the sorted paths of the files that differ between two results of Sums, or that only one result contains.
func Changed(a, b []byte) []string {
	count := map[string]int{}
	for line := range strings.Lines(string(a) + string(b)) {
		count[line]++
	}
	changed := map[string]bool{}
	for line, n := range count {
		if _, name, _ := strings.Cut(strings.TrimSpace(line), "  "); n == 1 {
			changed[name] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// Commits creates a commit of the tree before and, as its child, a commit of the tree after, and returns their hashes. Each
// commit also has the files of HEAD that are in neither tree. If the trees are equal, result equals base. The index and the
// working tree do not change.
func Commits(ctx context.Context, dir string, before, after Tree, message string) (base, result string, err error) {
	location, err := Run(ctx, dir, "git", "rev-parse", "--absolute-git-dir", "--show-prefix")
	if err != nil {
		return "", "", err
	}
	gitDir, prefix, _ := strings.Cut(location, "\n")
	temporary, err := os.MkdirTemp("", "ginseng-index-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	work := filepath.Join(temporary, "work")
	err = os.Mkdir(work, 0o755)
	git := func(paths Tree, args ...string) (out string) { // does nothing after an error
		if err != nil {
			return ""
		}
		var stdin bytes.Buffer
		for name := range paths {
			stdin.WriteString(prefix + name + "\x00")
		}
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Stdin = work, &stdin
		cmd.Env = append(os.Environ(), "GIT_DIR="+gitDir, "GIT_WORK_TREE="+work, "GIT_INDEX_FILE="+filepath.Join(temporary, "index"), "GIT_LITERAL_PATHSPECS=1")
		out, err = run(cmd)
		return out
	}
	replace := func(removed, added Tree) (tree string) {
		git(removed, "update-index", "--force-remove", "-z", "--stdin")
		if err == nil {
			err = added.Write(filepath.Join(work, filepath.FromSlash(prefix)))
		}
		git(added, "add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul")
		return git(nil, "write-tree")
	}
	git(nil, "read-tree", "HEAD")
	first, second := replace(after, before), replace(before, after)
	base = git(nil, "commit-tree", first, "-m", "Pristine template")
	if result = base; first != second {
		result = git(nil, "commit-tree", second, "-p", base, "-m", message)
	}
	return base, result, err
}

// CherryPick applies a commit to the working tree, and commits the result. If files conflict, the cherry-pick stays in progress,
// with git's markers, and the error is a Conflict.
func CherryPick(ctx context.Context, dir, commit string) error {
	_, err := Run(ctx, dir, "git", "-c", "merge.directoryRenames=false", "cherry-pick", "-Xno-renames", commit)
	if err == nil {
		return nil
	}
	conflicts, diffErr := Run(ctx, dir, "git", "diff", "--name-only", "--relative", "--diff-filter=U")
	if diffErr != nil || conflicts == "" {
		return err
	}
	return Conflict(strings.Split(conflicts, "\n"))
}

// Conflict is the error of a cherry-pick that stays in progress: the paths of the files with conflicts, relative to the directory
// of the cherry-pick.
type Conflict []string

// Error says how to continue and how to cancel.
func (c Conflict) Error() string {
	return fmt.Sprintf("you and the generator changed the same lines of:\n%s\nResolve the conflicts (git mergetool), then run:\n"+
		"  git add %s\n  git cherry-pick --continue\n  go mod tidy\n  make docs\nor cancel with:\n  git cherry-pick --abort",
		strings.Join(c, "\n"), strings.Join(c, " "))
}
