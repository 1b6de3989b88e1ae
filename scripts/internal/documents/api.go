// Package documents generates the API documents of a project, .env.example, and the tables of settings in its guide.
package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/swaggo/swag"

	"example.com/ginseng/scripts/internal/files"
)

// Paths of the API documents.
const SwaggerFile, OpenAPIFile = "docs/swagger.json", "docs/openapi.json"

// Runtime returns the directory of the module example.com/ginseng that the module in dir uses; in Ginseng itself this is the
// root of the module.
func Runtime(dir string) (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "example.com/ginseng")
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s", cmd, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// All returns the contents of all generated documents of the module in dir, by path. The directory runtime has the module
// example.com/ginseng.
func All(dir, runtime string) (files.Tree, error) {
	table, err := Routes(context.Background(), dir, nil)
	if err != nil {
		return nil, err
	}
	all, err := API(dir, runtime, table)
	if err != nil {
		return nil, err
	}
	settings, err := settingsFiles(os.DirFS(runtime), os.DirFS(dir))
	maps.Copy(all, settings)
	return all, err
}

// API returns the contents of the two API documents of the module in dir, by path: the annotations, joined with the table of the
// service's routes. The directory runtime has the module example.com/ginseng.
func API(dir, runtime string, table Table) (files.Tree, error) {
	search := []string{dir}
	if _, err := os.Stat(filepath.Join(dir, "kit/rest")); err != nil { // not in Ginseng itself
		search = append(search, filepath.Join(runtime, "kit"), filepath.Join(runtime, "server"))
	}
	parser := swag.New(swag.SetExcludedDirsAndFiles(filepath.Join(dir, "third_party")), swag.SetDebugger(log.New(io.Discard, "", 0)),
		swag.SetCollectionFormat("csv"))
	parser.PropNamingStrategy = swag.CamelCase
	// swag runs go list for the import path of each directory. With these settings, go list does not read dependencies, the
	// workspace and the repository.
	for name, value := range map[string]string{"GOFLAGS": "-find -buildvcs=false", "GOWORK": "off"} {
		before := os.Getenv(name)
		_ = os.Setenv(name, value)
		defer func() { _ = os.Setenv(name, before) }()
	}
	if err := parser.ParseAPIMultiSearchDir(search, "main.go", 0); err != nil {
		return nil, err
	}
	if err := join(parser.GetSwagger(), table); err != nil {
		return nil, err
	}
	swagger, err := json.MarshalIndent(parser.GetSwagger(), "", "    ")
	if err != nil {
		return nil, err
	}
	openAPI, err := convert(swagger, license(dir))
	return files.Tree{SwaggerFile: swagger, OpenAPIFile: openAPI}, err
}

// license returns the license of the module in dir: the first line of its LICENSE; nil if there is no such file.
func license(dir string) *openapi3.License {
	text, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return nil
	}
	name, _, _ := strings.Cut(string(text), "\n")
	return &openapi3.License{Name: strings.TrimSpace(name)}
}
