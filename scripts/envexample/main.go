// Command envexample assembles .env.example from the fragments that stand beside the settings they describe.
//
//	go run ./scripts/envexample          # write .env.example
//	go run ./scripts/envexample -check   # write nothing; exit 1 if it differs from its fragments
//
// It runs in the root of the module. A fragment is config/.env.example, internal/PACKAGE/.env.example or
// modules/MODULE/.env.example: in this order, and by name.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	target  = ".env.example"
	command = "go run ./scripts/envexample"
	header  = `# Every setting of the service, with its default or an example. A setting comes from the environment, or from a
# copy of this file named .env. Assembled from the fragments in config, internal and modules; edit those, then:
# ` + command + "\n"
)

func main() {
	check := flag.Bool("check", false, "write nothing; exit 1 if "+target+" differs from its fragments")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "envexample:", err)
		os.Exit(1)
	}
}

// run writes the file or, with check, compares it.
func run(check bool) error {
	want, err := assemble(os.DirFS("."))
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(target, []byte(want), 0o644)
	}
	have, err := os.ReadFile(target)
	if err != nil {
		return err
	}
	if string(have) != want {
		return errors.New(target + " is not what its fragments give; run: " + command)
	}
	return nil
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
	names := []string{"config/.env.example"}
	for _, pattern := range []string{"internal/*/.env.example", "modules/*/.env.example"} {
		found, err := fs.Glob(root, pattern) // sorted by name
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	return names, nil
}
