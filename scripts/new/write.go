package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

func writeFile(name string, e entry) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, e.text, e.mode)
}

func writeTree(dir string, t tree) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), t[name]); err != nil {
			return err
		}
	}
	return nil
}

// stage is a folder beside the project's, which takes its place when it is whole. One of a run that was killed is
// removed by the next.
type stage struct{ dir, target string }

const pidName = ".ginseng-new.pid"

// newStage makes the stage of a project that is to be at target, which is absent or an empty folder.
func newStage(target string) (*stage, error) {
	parent := filepath.Dir(target)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, reason("--dir "+target, err)
	}
	s := &stage{filepath.Join(parent, "."+filepath.Base(target)+".ginseng-new"), target}
	pid := filepath.Join(s.dir, pidName)
	if text, err := os.ReadFile(pid); err == nil {
		if other, err := strconv.Atoi(string(text)); err == nil && alive(other) {
			return nil, fmt.Errorf("another run (process %d) makes %s; wait for it, or remove %s if it is none", other, target, s.dir)
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		return nil, reason("--dir "+target, err)
	}
	return s, os.WriteFile(pid, []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// alive reports whether a process runs.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// files is where the project is written.
func (s *stage) files() string { return filepath.Join(s.dir, filepath.Base(s.target)) }

// commit puts the project in its place, in one step: until then the folder is absent, or empty.
func (s *stage) commit() error {
	if err := os.Remove(s.target); err != nil && !errors.Is(err, fs.ErrNotExist) { // only if it is empty
		return reason("--dir "+s.target, err)
	}
	if err := os.Rename(s.files(), s.target); err != nil {
		return err
	}
	return s.discard()
}

func (s *stage) discard() error { return os.RemoveAll(s.dir) }

// reason says why a folder cannot be used, without the words of the system call.
func reason(what string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %s: %w", what, p.Path, p.Err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// checkTarget says what is wrong with the folder for a new project, or what is worth knowing about it.
func checkTarget(ctx context.Context, dir string) (target string, notes []string, err error) {
	target, err = filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // below a file: see below
	case err != nil:
		return "", nil, reason("--dir", err)
	case !info.IsDir():
		return "", nil, fmt.Errorf("--dir %s is a file; name a folder that is empty, or not there yet", dir)
	default:
		entries, err := os.ReadDir(target)
		if err != nil {
			return "", nil, reason("--dir", err)
		}
		if len(entries) > 0 {
			return "", nil, fmt.Errorf("--dir %s is not empty (%s%s); name a folder that is empty, or not there yet", dir, entries[0].Name(), more(len(entries)))
		}
	}
	ancestor := filepath.Dir(target)
	for {
		info, err := os.Stat(ancestor)
		if err == nil && info.IsDir() {
			break
		}
		if err == nil {
			return "", nil, fmt.Errorf("--dir %s: %s is a file", dir, ancestor)
		}
		ancestor = filepath.Dir(ancestor)
	}
	if top, err := git(ctx, ancestor, "rev-parse", "--show-toplevel"); err == nil {
		notes = append(notes, "It is inside of another git repository, "+strings.TrimSpace(top)+", and part of that unless you move it or run git init in it.")
	}
	for up := ancestor; ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.work")); err == nil {
			notes = append(notes, "The workspace "+filepath.Join(up, "go.work")+" does not name it: go work use "+target)
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return target, notes, nil
}

func more(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n-1)
}
