// Package documents generates the API documents of a project, .env.example, and the tables of settings in its guide.
package documents

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/swaggo/swag"
	"github.com/swaggo/swag/gen"
)

const (
	swaggerFile = "docs/swagger.json"
	openAPIFile = "docs/openapi.json"
)

// API returns the contents of the two API documents, by path. In a project, the types of the runtime are read from the
// directory runtime.
func API(runtime string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "docs-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	search := "."
	if _, err := os.Stat("kit/server"); err != nil { // not in Ginseng itself
		search += "," + filepath.Join(runtime, "kit")
	}
	err = gen.New().Build(&gen.Config{
		SearchDir: search, Excludes: "third_party", MainAPIFile: "main.go", OutputDir: dir, OutputTypes: []string{"json"},
		ParseInternal: true, PropNamingStrategy: swag.CamelCase, ParseGoList: true, Debugger: log.New(io.Discard, "", 0), LeftTemplateDelim: "{{", RightTemplateDelim: "}}",
		CollectionFormat: "csv",
	})
	if err != nil {
		return nil, err
	}
	swagger, err := os.ReadFile(filepath.Join(dir, "swagger.json"))
	if err != nil {
		return nil, err
	}
	openAPI, err := convert(swagger, license())
	return map[string][]byte{swaggerFile: swagger, openAPIFile: openAPI}, err
}

// license returns the license of the module: the first line of its LICENSE. It is nil if there is no such file.
func license() *openapi3.License {
	text, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil
	}
	name, _, _ := strings.Cut(string(text), "\n")
	return &openapi3.License{Name: strings.TrimSpace(name)}
}
