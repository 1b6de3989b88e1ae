// Package files has what the generators share: trees of files, commands, and git trees.
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

// Tree has files by path, with slashes.
type Tree map[string][]byte

// Read reads the files in dir whose path matches, except in .git, node_modules and data.
func Read(dir string, match func(string) bool) (Tree, error) {
	t := Tree{}
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "data"}, entry.Name()):
			return filepath.SkipDir
		case entry.Type().IsRegular() && match(name):
			t[name], err = os.ReadFile(file)
		}
		return err
	})
	return t, err
}

// Write writes the files into dir.
func (t Tree) Write(dir string) error {
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

// Sums returns a line per file as sha256sum prints it, with the paths in dir.
func (t Tree) Sums(dir string) []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(t[name]), path.Join(dir, name))
	}
	return out.Bytes()
}

// Run runs a command and returns its standard output without the final line break. The error has all output.
func Run(ctx context.Context, dir, name string, args ...string) (string, error) {
	return run(exec.CommandContext(ctx, name, args...), dir, nil)
}

// CheckClean returns an error unless the git repository that has dir has no changes: git restore can then undo a command.
func CheckClean(ctx context.Context, dir string) error {
	status, err := Run(ctx, dir, "git", "status", "--porcelain")
	if err == nil && status != "" {
		err = fmt.Errorf("commit or stash your changes first:\n%s", status)
	}
	return err
}

func run(cmd *exec.Cmd, dir string, stdin []byte) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, bytes.NewReader(stdin), &stdout, &stderr
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "LC_ALL=C")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// Index is a temporary git index, which has the files of HEAD at first. It changes neither the repository's own index nor
// its files.
type Index struct {
	ctx    context.Context
	prefix string   // of the directory in the repository
	work   string   // temporary directory
	env    []string // of git
}

// NewIndex returns an index for the repository that has dir. Close it.
func NewIndex(ctx context.Context, dir string) (*Index, error) {
	prefix, err := Run(ctx, dir, "git", "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	gitDir, err := Run(ctx, dir, "git", "rev-parse", "--absolute-git-dir")
	if err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp("", "ginseng-index-")
	if err != nil {
		return nil, err
	}
	i := &Index{ctx: ctx, prefix: prefix, work: filepath.Join(temporary, "work"), env: []string{
		"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + filepath.Join(temporary, "work"),
		"GIT_INDEX_FILE=" + filepath.Join(temporary, "index"), "GIT_LITERAL_PATHSPECS=1",
	}}
	if err = os.Mkdir(i.work, 0o755); err == nil {
		_, err = i.Git("read-tree", "HEAD")
	}
	if err != nil {
		i.Close()
	}
	return i, err
}

// Close deletes the index.
func (i *Index) Close() { _ = os.RemoveAll(filepath.Dir(i.work)) }

// Git runs git on the index.
func (i *Index) Git(args ...string) (string, error) { return i.git(nil, args...) }

func (i *Index) git(stdin []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(i.ctx, "git", args...)
	cmd.Env = append(os.Environ(), i.env...)
	return run(cmd, i.work, stdin)
}

// Replace removes files of the directory from the index, adds others, and returns the id of the index's tree.
func (i *Index) Replace(removed, added Tree) (string, error) {
	if _, err := i.git(i.paths(removed), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
		return "", err
	}
	if err := added.Write(filepath.Join(i.work, filepath.FromSlash(i.prefix))); err != nil {
		return "", err
	}
	if _, err := i.git(i.paths(added), "add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return "", err
	}
	return i.Git("write-tree")
}

// paths returns the paths in the repository, each ended by NUL.
func (i *Index) paths(t Tree) (out []byte) {
	for name := range t {
		out = append(append(out, i.prefix+name...), 0)
	}
	return out
}

// Changed returns the paths of the lines of Sums that are in one of the two lists only, sorted.
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

// Commits returns a commit of the first tree and, as its child, one of the second, each with the directory's other files as
// HEAD has them. They are the same if the trees are.
func Commits(ctx context.Context, dir string, before, after Tree, message string) (base, result string, err error) {
	i, err := NewIndex(ctx, dir)
	if err != nil {
		return "", "", err
	}
	defer i.Close()
	first, err := i.Replace(after, before)
	if err != nil {
		return "", "", err
	}
	second, err := i.Replace(before, after)
	if err != nil {
		return "", "", err
	}
	if base, err = i.Git("commit-tree", first, "-m", "Pristine template"); err != nil || first == second {
		return base, base, err
	}
	result, err = i.Git("commit-tree", second, "-p", base, "-m", message)
	return base, result, err
}

// AppendMissing appends the lines that a file lacks, with or without a slash before them.
func AppendMissing(path string, lines ...string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := strings.TrimSuffix(string(raw), "\n")
	for _, line := range lines {
		if have := strings.Fields(text); !slices.Contains(have, line) && !slices.Contains(have, "/"+line) {
			text += "\n" + line
		}
	}
	return os.WriteFile(path, []byte(strings.TrimPrefix(text, "\n")+"\n"), 0o644)
}
