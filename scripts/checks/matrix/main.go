// Command matrix holds scripts/generate to its word: in a copy of the project it generates resources of every kind, checks
// what they are made of, runs their tests, asks the service that serves them, and takes them back in another order, which
// must leave the bytes that were there before.
//
//	go -C scripts/checks run ./matrix           # in the project's root
//	go -C scripts/checks run ./matrix -keep     # leaves the copy with the resources in it, and says where it is
//
// The copy is built with -trimpath, so that the compiler's cache serves every copy, wherever it stands.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	keep := flag.Bool("keep", false, "leave the copy with the resources in it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// matrix is one run.
type matrix struct {
	ctx   context.Context
	root  string // of the copy
	tools string // the copy's scripts/tools/go.mod
	bin   string // a folder for what is built
}

func run(ctx context.Context, keep bool) (err error) {
	if err := os.Chdir(os.Getenv("PWD")); err != nil { // go -C has moved to this module
		return err
	}
	dir, err := os.MkdirTemp("", "matrix-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("the copy is", filepath.Join(dir, "project"))
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	m := matrix{ctx: ctx, root: filepath.Join(dir, "project"), bin: dir}
	m.tools = filepath.Join(m.root, "scripts", "tools", "go.mod")
	var before map[string]string
	generate := filepath.Join(dir, "generate")
	steps := []step{
		{"copy the project", func() error { return m.copy(".") }},
		{"build the generator", func() error { return m.command("go", "build", "-o", generate, "./scripts/generate") }},
		{"remember the bytes", func() (err error) { before, err = m.snapshot(); return err }},
		{fmt.Sprintf("generate %d resources", len(resources)), func() error {
			for _, r := range resources {
				begun := time.Now()
				if err := m.command(generate, strings.Fields(r.args)...); err != nil {
					return err
				}
				fmt.Printf("%8.2f s  %s\n", time.Since(begun).Seconds(), r.args)
			}
			return nil
		}},
		{"gofmt", m.gofmt},
		{"go vet", func() error { return m.command("go", "vet", "./...") }},
		{"staticcheck", func() error { return m.tool("staticcheck", "./modules/...") }},
		{"build the service", func() error { return m.command("go", "build", "-o", filepath.Join(dir, "service"), ".") }},
		{"tests", func() error { return m.command("go", "test", "./modules/...", ".") }},
		{"documentation", m.docs},
		{"serve, and ask each list", m.serve},
	}
	if !keep {
		steps = append(steps, step{"take everything back", func() error {
			for i := range resources { // 7 has no factor in common with their number: each comes up once
				r := resources[(i*7+3)%len(resources)]
				if err := m.command(generate, "--undo", r.name()); err != nil {
					return err
				}
			}
			after, err := m.snapshot()
			if err != nil {
				return err
			}
			return same(before, after)
		}})
	}
	begun := time.Now()
	for _, s := range steps {
		begun := time.Now()
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("%8.2f s  %s\n", time.Since(begun).Seconds(), s.name)
	}
	fmt.Printf("%8.2f s  in all; all is well\n", time.Since(begun).Seconds())
	return nil
}

type step struct {
	name string
	do   func() error
}

// command runs a command in the copy. What it prints is shown if it fails.
func (m matrix) command(name string, args ...string) error {
	_, err := m.output(name, args...)
	return err
}

func (m matrix) output(name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(m.ctx, name, args...)
	command.Dir = m.root
	command.Env = append(os.Environ(), "GOFLAGS=-trimpath")
	printed, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, printed)
	}
	return printed, nil
}

// tool runs one of scripts/tools.
func (m matrix) tool(args ...string) error {
	return m.command("go", append([]string{"tool", "-modfile=" + m.tools}, args...)...)
}

// copy copies the files that git knows, or would.
func (m matrix) copy(from string) error {
	command := exec.CommandContext(m.ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = from
	names, err := command.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			return err
		}
		target := filepath.Join(m.root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, content, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// snapshot is the content of every file of the copy.
func (m matrix) snapshot() (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(m.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			files[name+"/"] = "" // an empty folder is something, too
			return nil
		}
		content, err := os.ReadFile(path)
		files[name] = string(content)
		return err
	})
	return files, err
}

// same fails with the names of the files that differ.
func same(before, after map[string]string) error {
	var differ []string
	for name, content := range before {
		if now, there := after[name]; !there || now != content {
			differ = append(differ, name)
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			differ = append(differ, name)
		}
	}
	if slices.Sort(differ); differ != nil {
		return fmt.Errorf("not as it was: %s", strings.Join(differ, ", "))
	}
	return nil
}

func (m matrix) gofmt() error {
	printed, err := m.output("gofmt", "-l", ".")
	if err == nil && len(printed) > 0 {
		err = fmt.Errorf("gofmt would change %s", printed)
	}
	return err
}

// docs holds the documentation, and the layout of the annotations, against what make docs would make of them.
func (m matrix) docs() error {
	before, err := m.snapshot()
	if err != nil {
		return err
	}
	if err := m.tool("swag", "fmt", "--generalInfo", "main.go", "--dir", ".", "--exclude", "scripts,modules/policy/type"); err != nil {
		return err
	}
	out := filepath.Join(m.bin, "swagger")
	if err := m.command("go", "run", "./scripts/docs", "-dir", ".", "-out", out); err != nil {
		return err
	}
	for _, name := range []string{"swagger.json", "openapi.json"} {
		have, err := os.ReadFile(filepath.Join(m.root, "docs", name))
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(have, want) {
			return fmt.Errorf("docs/%s is not what the annotations give", name)
		}
	}
	after, err := m.snapshot()
	if err != nil {
		return err
	}
	return same(before, after)
}
