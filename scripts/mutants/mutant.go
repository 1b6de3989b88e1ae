package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// attack is one row of the table: a test that attacks the service, and what to take out of the source for it to fail.
type attack struct {
	name    string // what is attacked, and how
	defence string // what holds it off
	pkg     string // of the test, from the root of the module
	test    string // "TestName", or "TestName/name of a subtest"
	says    string // stands in what the failed test prints: it fails for this attack and no other reason
	edits   []edit // take the defence out
}

// edit replaces a text that a file holds exactly once.
type edit struct{ file, old, new string }

// mutated is the source of each file that the attack's edits change, with the changes.
func (a attack) mutated(read func(file string) ([]byte, error)) (map[string]string, error) {
	if len(a.edits) == 0 {
		return nil, errors.New("the row takes nothing out")
	}
	files := make(map[string]string)
	for _, e := range a.edits {
		source, known := files[e.file]
		if !known {
			text, err := read(e.file)
			if err != nil {
				return nil, err
			}
			source = string(text)
		}
		if n := strings.Count(source, e.old); n != 1 {
			return nil, fmt.Errorf("%s holds the text to replace %d times, not once: %s", e.file, n, e.old)
		}
		files[e.file] = strings.Replace(source, e.old, e.new, 1)
	}
	return files, nil
}

// filter is the pattern for -test.run that selects the attack's test alone.
func (a attack) filter() string {
	var levels []string
	for level := range strings.SplitSeq(a.line(), "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	return strings.Join(levels, "/")
}

// line is the test's name as package testing prints it.
func (a attack) line() string { return strings.ReplaceAll(a.test, " ", "_") }

// laboratory builds and runs tests, with and without defences.
type laboratory struct {
	root, dir string
	mu        sync.Mutex
	once      map[string]func() error // what is done once for several attacks, by its name
}

func (l *laboratory) do(name string, what func() error) error {
	l.mu.Lock()
	if l.once[name] == nil {
		l.once[name] = sync.OnceValue(what)
	}
	once := l.once[name]
	l.mu.Unlock()
	return once()
}

// whole runs the attack's test on the service as it is, where it must pass.
func (l *laboratory) whole(ctx context.Context, a attack) error {
	binary := filepath.Join(l.dir, strings.ReplaceAll(a.pkg, "/", "-"))
	return l.do(a.pkg+" "+a.test, func() error {
		if err := l.do(a.pkg, func() error { return l.build(ctx, a.pkg, binary) }); err != nil {
			return err
		}
		out, err := l.run(ctx, a, binary)
		if err != nil || !strings.Contains(out, "--- PASS: "+a.line()+" (") {
			return fmt.Errorf("the test does not pass on the service as it is, or there is none: %s", last(out))
		}
		return nil
	})
}

// show runs the attack's test on the service as it is, where it must pass, and without the defence, where it must fail.
// It returns what the test then said.
func (l *laboratory) show(ctx context.Context, a attack) (said string, err error) {
	files, err := a.mutated(func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(l.root, file)) })
	if err != nil {
		return "", err
	}
	if err := l.whole(ctx, a); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(l.dir, "without")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := l.overlay(dir, files)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "test")
	if err := l.build(ctx, a.pkg, binary, "-overlay="+overlay); err != nil {
		return "", err
	}
	out, err := l.run(ctx, a, binary)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", errors.New("the test still passes")
	case !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(out, "--- FAIL: "+a.line()+" ("):
		return "", fmt.Errorf("the test broke down: %v: %s", err, last(out))
	case !strings.Contains(out, a.says):
		return "", fmt.Errorf("the test fails for another reason: %s", message(out, ""))
	}
	return message(out, a.says), nil
}

// overlay writes the files into dir, and the list of them that the go command reads.
func (l *laboratory) overlay(dir string, files map[string]string) (string, error) {
	var list struct{ Replace map[string]string }
	list.Replace = make(map[string]string)
	for i, file := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, fmt.Sprint(i, ".go"))
		if err := os.WriteFile(path, []byte(files[file]), 0o600); err != nil {
			return "", err
		}
		list.Replace[filepath.Join(l.root, file)] = path
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// build builds the test binary of a package. Nobody debugs it, so it goes without symbols, which halves the time.
func (l *laboratory) build(ctx context.Context, pkg, path string, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", path}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+pkg)...)
	cmd.Dir = l.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w: %s", pkg, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// run runs the attack's test from a test binary, in the folder of its package as the go command does.
func (l *laboratory) run(ctx context.Context, a attack, binary string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, "-test.run="+a.filter(), "-test.v", "-test.timeout=1m", "-test.paniconexit0")
	cmd.Dir = filepath.Join(l.root, a.pkg)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// reported is a line that a test reports.
var reported = regexp.MustCompile(`(?m)^ +\w+\.go:\d+: (.*)$`)

// message is the first line that the test reported and that holds the text, or the first of all, cut to be read at a
// glance.
func message(out, holds string) string {
	const glance = 160
	first := ""
	for _, m := range reported.FindAllStringSubmatch(out, -1) {
		if strings.Contains(m[1], holds) {
			first = m[1]
			break
		}
		if first == "" {
			first = m[1]
		}
	}
	if runes := []rune(first); len(runes) > glance {
		first = string(runes[:glance]) + "…"
	}
	return first
}

// last is the end of what a test printed.
func last(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
