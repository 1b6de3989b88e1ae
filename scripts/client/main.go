// Command client writes a TypeScript client of the service: an npm package without dependencies. It reads docs/openapi.json in the
// current directory, and nothing else.
//
//	go run ./scripts/client --out clients/typescript
//	go run ./scripts/client --out clients/typescript --check
//
// In a generated project the command is go tool client. The same document results in the same bytes.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/files"
)

const documentFile = "docs/openapi.json"

const usage = `Writes a TypeScript client of the service, an npm package, from docs/openapi.json.

Usage: go run ./scripts/client --out DIR [--check]

In a generated project: go tool client …

Flags:
      --out DIR  the directory of the package
      --check    write nothing; exit 1 and name the files that are out of date
  -h, --help     print this text

Example: go run ./scripts/client --out clients/typescript

Exit codes: 0 success, 1 failure, 2 invalid usage with one line per mistake.
`

func main() {
	os.Exit(command.Exit(os.Stdout, os.Stderr, "client", usage, run(os.Args[1:], os.Stdout)))
}

// run writes the package, or checks it.
func run(args []string, out io.Writer) error {
	flags := pflag.NewFlagSet("client", pflag.ContinueOnError)
	dir := flags.String("out", "", "")
	check := flags.Bool("check", false, "")
	if err := command.Parse(flags, args); err != nil {
		return err
	}
	var wrong command.Mistakes
	if *dir == "" {
		wrong.Add("--out is missing: the directory of the package, such as clients/typescript")
	}
	if flags.NArg() > 0 {
		wrong.Add("%q: the command has no arguments beside its flags", flags.Arg(0))
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	generated, err := read()
	if err != nil {
		return err
	}
	if *check {
		return compare(*dir, generated)
	}
	if err := generated.Write(*dir); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(generated)) {
		_, _ = fmt.Fprintf(out, "written %s\n", filepath.Join(*dir, name))
	}
	return nil
}

// read returns the files of the package for the document in the current directory.
func read() (files.Tree, error) {
	raw, err := os.ReadFile(documentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s: change to the directory of the service, or run make docs", documentFile)
	}
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("%s: %w; run make docs", documentFile, err)
	}
	return d.files()
}

// compare fails if a file in dir is missing or differs. The error names all of them.
func compare(dir string, generated files.Tree) error {
	var stale []error
	for _, name := range slices.Sorted(maps.Keys(generated)) {
		file := filepath.Join(dir, name)
		have, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(have, generated[name]) {
			stale = append(stale, fmt.Errorf("%s is out of date; run the command without --check", file))
		}
	}
	return errors.Join(stale...)
}
