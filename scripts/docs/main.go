// Command docs generates the documents of the module in the current directory:
//
//   - docs/swagger.json, from the annotations of controllers (swag)
//   - docs/openapi.json, in OpenAPI 3.0, from docs/swagger.json
//   - .env.example, from fragments: server/.env.example and kit/PACKAGE/.env.example of the runtime, and
//     modules/MODULE/.env.example and modules/MODULE/.env.example.NAME of the module
//   - the tables of settings in docs/operations.md, if that file has the markers
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"example.com/ginseng/scripts/internal/documents"
	"example.com/ginseng/scripts/internal/files"
)

const usage = `Generates the API documents, .env.example and the tables of settings of the module in the current directory.

Usage: go run example.com/ginseng/scripts/docs [flags]

Flags:
  -check  write nothing; exit 1 if a file is out of date

Example: go run example.com/ginseng/scripts/docs -check

Exit codes: 0 success, 1 failure, 2 invalid usage.
`

func main() {
	check := flag.Bool("check", false, "")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// run generates the files and writes them. If check is true, it writes nothing, and fails if the content of a file differs.
func run(check bool) error {
	if err := files.Restore("."); err != nil {
		return err
	}
	runtime, err := documents.Runtime(".")
	if err != nil {
		return err
	}
	generated, err := documents.All(".", runtime)
	if err != nil {
		return err
	}
	if !check {
		return generated.Write(".")
	}
	for _, name := range slices.Sorted(maps.Keys(generated)) {
		have, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(have, generated[name]) {
			return fmt.Errorf("%s is out of date; run: make docs", name)
		}
	}
	return nil
}
