// Command envexample assembles .env.example from the fragments that stand beside the settings they describe, and writes the
// table of settings in docs/operations.md: what a setting means from its fragment, all else from the tags of its field.
//
//	go run ./scripts/envexample          # write both
//	go run ./scripts/envexample -check   # write nothing; exit 1 if one differs from what it is made of
//
// It runs in the root of the module. A fragment is kit/server/.env.example, kit/PACKAGE/.env.example or
// modules/MODULE/.env.example: in this order, and by name. Its paragraphs are comments, the first of which names it, each
// with the settings that it is about. The table stands between two lines of docs/operations.md; where there is no such
// file, none is written.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	target  = ".env.example"
	guide   = "docs/operations.md"
	command = "go run ./scripts/envexample"
	header  = `# Every setting of the service, with its default or an example. A setting comes from the environment, or from a
# copy of this file named .env. Assembled from the fragments in kit and modules; edit those, then:
# ` + command + "\n"
)

func main() {
	check := flag.Bool("check", false, "write nothing; exit 1 if "+target+" or "+guide+" differs from what it is made of")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "envexample:", err)
		os.Exit(1)
	}
}

// run writes the files or, with check, compares them.
func run(check bool) error {
	made, err := generate(os.DirFS("."))
	if err != nil {
		return err
	}
	for _, file := range []string{target, guide} {
		want, ok := made[file]
		if !ok {
			continue
		}
		if !check {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if string(have) != want {
			return errors.New(file + " is not what the settings and their fragments give; run: " + command)
		}
	}
	return nil
}

// generate makes the files, by their names.
func generate(root fs.FS) (map[string]string, error) {
	example, err := assemble(root)
	if err != nil {
		return nil, err
	}
	made := map[string]string{target: example}
	text, err := fs.ReadFile(root, guide)
	if errors.Is(err, fs.ErrNotExist) {
		return made, nil
	}
	if err != nil {
		return nil, err
	}
	tables, err := tables(root)
	if err != nil {
		return nil, err
	}
	made[guide], err = between(string(text), tables)
	return made, err
}

// assemble joins the fragments in the module's root, a blank line before each.
func assemble(root fs.FS) (string, error) {
	names, err := fragments(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(header)
	for _, name := range names {
		fragment, err := fs.ReadFile(root, name)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + strings.TrimSpace(string(fragment)) + "\n")
	}
	return b.String(), nil
}

// fragments are the names of all fragments, in order.
func fragments(root fs.FS) ([]string, error) {
	names := []string{"kit/server/.env.example"}
	for _, pattern := range []string{"kit/*/.env.example", "modules/*/.env.example"} {
		found, err := fs.Glob(root, pattern) // sorted by name
		if err != nil {
			return nil, err
		}
		names = append(names, slices.DeleteFunc(found, func(name string) bool { return name == names[0] })...)
	}
	return names, nil
}
