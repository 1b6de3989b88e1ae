package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"example.com/ginseng/scripts/internal/files"
	"example.com/ginseng/scripts/internal/naming"
)

// core has the parts that all packages share: code, types, and README.md with TITLE, PACKAGE, RESOURCE and SESSIONS to replace.
//
//go:embed core
var core embed.FS

const sessionsText = "A client without `token` has `api.session`: `signIn`, `signUp`, `signOut`, `user`, `onChange`. `storage: localStorage` keeps it.\n\n"

// files returns the package.
func (d document) files() (files.Tree, error) {
	resources, err := d.resources()
	if err != nil {
		return nil, err
	}
	d.Info.Title = strings.Join(strings.Fields(d.Info.Title), " ")
	head := "// The client of the API of " + d.Info.Title + ", generated from its API document. Do not edit.\n\n"
	manifest := d.manifest()
	readme := part("README.md")
	example := "resources" // a project without resources has no example to run
	for _, r := range resources {
		if r.list != nil && (r.Name != "users" || example == "resources") {
			example = camel(r.Name)
		}
	}
	sessions := ""
	if d.hasSessions() {
		sessions = sessionsText
	}
	readme = strings.NewReplacer("TITLE", d.Info.Title, "PACKAGE", manifest.Name, "RESOURCE", example, "SESSIONS", sessions).Replace(readme)
	var packageJSON bytes.Buffer
	encoder := json.NewEncoder(&packageJSON)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(manifest)
	return files.Tree{
		"index.js":     []byte(head + part("index.js") + part("session.js") + part("follow.js") + part("files.js") + "\n" + d.table(resources)),
		"index.d.ts":   []byte(head + part("index.d.ts") + "\n" + d.resourceTypes(resources)),
		"schema.d.ts":  []byte(head + d.schemaTypes()),
		"package.json": packageJSON.Bytes(),
		"README.md":    []byte(readme),
	}, err
}

// part returns an embedded file.
func part(name string) string {
	raw, _ := core.ReadFile("core/" + name) // cannot fail: the file is embedded
	return string(raw)
}

// manifest is package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Exports     map[string]export `json:"exports"`
	Files       []string          `json:"files"`
	SideEffects bool              `json:"sideEffects"`
	Engines     map[string]string `json:"engines"`
}

type export struct {
	Types   string `json:"types"` // first: the order of conditions matters
	Default string `json:"default"`
}

var versionPart = regexp.MustCompile(`^\d+`)

// manifest returns package.json. Its version is that of the document, with the missing parts of a semantic version.
func (d document) manifest() manifest {
	version := []string{"0", "0", "0"}
	for i, part := range strings.SplitN(d.Info.Version, ".", len(version)) {
		if number := versionPart.FindString(part); number != "" {
			version[i] = strings.TrimLeft(number[:len(number)-1], "0") + number[len(number)-1:]
		}
	}
	return manifest{
		Name: naming.Kebab(d.Info.Title, "api") + "-client", Version: strings.Join(version, "."), Description: "Client of the API of " + d.Info.Title, Type: "module",
		Exports: map[string]export{".": {Types: "./index.d.ts", Default: "./index.js"}},
		Files:   []string{"index.js", "index.d.ts", "schema.d.ts"}, Engines: map[string]string{"node": ">=20"},
	}
}

// hasSessions reports whether users can sign in.
func (d document) hasSessions() bool { return d.Paths["/auth"]["post"] != nil }

// table returns the resources of index.js, the operations for which it sends the master key, those that respond with bytes, and whether
// there are sessions.
func (d document) table(resources []*resource) string {
	w := &printer{}
	w.open("const resources = {")
	w.rows(resources)
	w.close()
	w.WriteString("\n")
	w.operations("masterOnly", d.operations((*operation).isMasterOnly))
	w.operations("downloads", d.operations((*operation).isDownload))
	w.line("const sessions = %t", d.hasSessions())
	return w.String()
}

// operations prints a constant with the names of operations.
func (w *printer) operations(name string, operations []string) {
	w.open("const %s = [", name)
	for _, op := range operations {
		w.line("%s,", quote(op))
	}
	w.closeWith("]")
	w.WriteString("\n")
}

func (w *printer) rows(resources []*resource) {
	for _, r := range resources {
		row := fmt.Sprintf("%s: { path: %s", camel(r.Name), quote(anonymous(r.Path)))
		if r.list.parameter("etags") != nil {
			row += ", etags: true"
		}
		if r.create.idempotent() {
			row += ", idempotent: true"
		}
		if r.changes != nil {
			row += ", changes: true"
		}
		if len(r.files) > 0 {
			var fields []string
			for _, f := range r.files {
				of := "{}"
				if f.list {
					of = "{ list: true }"
				}
				fields = append(fields, key(f.name)+": "+of)
			}
			row += ", files: { " + strings.Join(fields, ", ") + " }"
		}
		if len(r.nested) == 0 {
			w.line("%s },", row)
			continue
		}
		w.open("%s, nested: {", row)
		w.rows(r.nested)
		w.closeWith("} },")
	}
}
