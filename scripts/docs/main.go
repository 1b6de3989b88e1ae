// Command docs generates the documents of the module in the current directory:
//
//   - docs/swagger.json, from the annotations of controllers (swag), and from that docs/openapi.json, in OpenAPI 3.0
//   - .env.example, from fragments beside the settings that they describe: kit/PACKAGE/.env.example of the runtime and
//     modules/MODULE/.env.example, .env.example.NAME
//   - the tables of settings in docs/operations.md, if that has the markers
//
// The flag -api writes only the two API documents, for generators.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ginseng/scripts/internal/documents"
)

const usage = `Generates the API documents, .env.example and the tables of settings of the module in the current directory.

Usage: go run example.com/ginseng/scripts/docs [flags]

Flags:
  -check  write nothing; exit 1 if a file is out of date
  -api    write only docs/swagger.json and docs/openapi.json

Example: go run example.com/ginseng/scripts/docs -check

Exit codes: 0 success, 1 failure, 2 invalid usage.
`

func main() {
	check, api := flag.Bool("check", false, ""), flag.Bool("api", false, "")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*api, *check); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// run generates the files, only the API documents if api is true, and writes them, or compares them if check is true.
func run(api, check bool) error {
	runtime, err := runtimeDir()
	if err != nil {
		return err
	}
	files, err := documents.API(runtime)
	if err != nil {
		return err
	}
	if !api {
		settings, err := documents.Settings(os.DirFS(runtime), os.DirFS("."))
		if err != nil {
			return err
		}
		maps.Copy(files, settings)
	}
	return write(files, check)
}

// runtimeDir returns the directory of the module example.com/ginseng; in Ginseng itself this is the current directory.
func runtimeDir() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "example.com/ginseng").Output()
	return strings.TrimSpace(string(out)), err
}

// write writes the files. If check is true, it writes nothing, and fails if the content of one differs.
func write(files map[string][]byte, check bool) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !check {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, files[name], 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(have, files[name]) {
			return fmt.Errorf("%s is out of date; run: make docs", name)
		}
	}
	return nil
}
