package main

import (
	"bytes"
	_ "embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	texttemplate "text/template"
)

//go:embed README.md.tmpl
var readmeText string

// row is a name, and what it is.
type row struct{ Name, Path, About string }

// readme is the project's README.md.
func readme(a answers, project tree) (entry, error) {
	page, err := texttemplate.New("README.md").Parse(readmeText)
	if err != nil {
		return entry{}, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{
		"Title": title(a.Name), "Name": a.Name, "User": a.has(user), "Article": a.has(article),
		"Guides": guides(project), "Targets": targets(project), "Secrets": secretNames(project),
		"Generator": project.hasFolder("scripts/generate"),
	})
	return entry{b.Bytes(), 0o644}, err
}

// guides are the Markdown files in docs, each with its title.
func guides(t tree) (out []row) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if path.Dir(name) == "docs" && path.Ext(name) == ".md" {
			first, _, _ := strings.Cut(string(t[name].text), "\n")
			out = append(out, row{Path: name, About: strings.TrimPrefix(first, "# ")})
		}
	}
	return out
}

var targetHelp = regexp.MustCompile(`(?m)^([a-z-]+):.*?## (.*)$`)

// targets are those of the Makefile that say what they are for.
func targets(t tree) (out []row) {
	for _, m := range targetHelp.FindAllSubmatch(t["Makefile"].text, -1) {
		out = append(out, row{Name: string(m[1]), About: string(m[2])})
	}
	return out
}

// secretNames are the settings without a default.
func secretNames(t tree) string {
	var out []string
	for name, e := range t {
		if path.Base(name) == ".env.example" && name != ".env.example" {
			for _, m := range regexp.MustCompile(`(?m)^([A-Z][A-Z0-9_]*)=`).FindAllSubmatch(e.text, -1) {
				out = append(out, "`"+string(m[1])+"`")
			}
		}
	}
	slices.Sort(out)
	slices.Reverse(out) // MASTER_KEY first
	return strings.Join(out, ", ")
}

func (t tree) hasFolder(folder string) bool {
	for name := range t {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}
