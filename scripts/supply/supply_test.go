package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func TestListIsCurrent(t *testing.T) {
	t.Parallel()
	if err := licences(true); err != nil {
		t.Error(err)
	}
}

// TestSBOM makes the SBOM of a binary, twice, and holds it to CycloneDX's schema and to what the go command says of the binary.
func TestSBOM(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "service")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-tags", image.tags, "-o", binary, ".")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var made [2][]byte
	for i := range made {
		if err := run([]string{"sbom", "-version", "v1.2.3", binary, dir}); err != nil {
			t.Fatal(err)
		}
		made[i] = content(t, filepath.Join(dir, "sbom.cdx.json"))
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("one binary has two SBOMs")
	}
	validate(t, made[0])
	var bom struct {
		Metadata struct {
			Component struct{ Name, Version string }
		}
		Components []struct {
			Name, Version string
			Licenses      []any
		}
	}
	if err := json.Unmarshal(made[0], &bom); err != nil || bom.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("%v %+v", err, bom.Metadata)
	}
	notices := string(content(t, filepath.Join(dir, "THIRD_PARTY.txt")))
	var listed []string
	for _, c := range bom.Components {
		listed = append(listed, c.Name+" "+c.Version)
		if len(c.Licenses) == 0 || !strings.Contains(notices, "===== "+c.Name+" "+c.Version+": ") {
			t.Errorf("%s has no licence, or its text is missing", c.Name)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	var built []string
	for _, m := range regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllStringSubmatch(string(out), -1) {
		built = append(built, m[1]+" "+m[2])
	}
	built = append(built, "std "+regexp.MustCompile(`go(1\.\S+)`).FindStringSubmatch(string(out))[1])
	embedded := regexp.MustCompile(`swagger-ui-dist \d+\.\d+\.\d+`)
	for _, name := range listed {
		if embedded.MatchString(name) {
			built = append(built, name)
		}
	}
	slices.Sort(built)
	slices.Sort(listed)
	if len(built) < 10 || !slices.Equal(listed, built) || !embedded.MatchString(strings.Join(listed, "\n")) {
		t.Errorf("listed are\n%s\nand the binary has\n%s", listed, built)
	}
}

// validate holds a document to the schema that comes with the library.
func validate(t *testing.T, document []byte) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	const base = "http://cyclonedx.org/schema/"
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(content(t, filepath.Join(strings.TrimSpace(string(out)), "schema", file))))
		if err == nil {
			err = compiler.AddResource(base+name, schema)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile(base + "bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err == nil {
		err = schema.Validate(instance)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestOtherBinary makes no SBOM of a binary that is made of other things: of this test.
func TestOtherBinary(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := run([]string{"sbom", self, dir}); err == nil || !strings.Contains(err.Error(), "github.com/gin-gonic/gin") {
		t.Error(err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("it has written %v", files)
	}
}

const isc = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided
that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES
OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR
ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS
ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`

const agpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU Affero General Public License as
published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU Affero General Public License for more details.
`

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, text, want string
	}{
		{"allowed", "LICENSE", isc, ""},
		{"British", "LICENCE.md", "# Licence\n\n" + isc, ""},
		{"none", "README.md", isc, "has no licence"},
		{"not one that is known", "LICENSE", "You may use this on Sundays.", "the licence unknown"},
		{"something added", "LICENSE", isc + strings.Repeat("But never for evil, nor for what the authors find evil. ", 40), "the licence unknown"},
		{"not allowed", "COPYING", agpl, "the licence AGPL-3.0"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, test.file), test.text)
		p := part{name: "x"}
		if err := p.read(dir); err != nil {
			t.Fatal(err)
		}
		if err := p.judge(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestBundles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, comments, want string }{
		{"one", "/*! a. MIT License. */", "MIT"},
		{"two", "/*! a. MIT License. */\n/*! b. BSD-3-Clause License. */", "BSD-3-Clause MIT"},
		{"a choice", "/*! c | Apache license 2.0 and Mozilla Public License 2.0 */", "Apache-2.0"},
		{"none", "/*! a. MIT License. */\n/*! d. Ask me. */", "an error"},
		{"not allowed", "/*! e. Mozilla Public License 2.0 */", "an error"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "README.md"), "Swagger UI 1.2.3")
		write(t, filepath.Join(dir, "x.js.LICENSE.txt"), test.comments)
		p, err := swaggerUI(dir)
		if err == nil {
			err = p.judge()
		}
		got := strings.Join(p.licences, " ")
		if err != nil {
			got = "an error"
		}
		if got != test.want {
			t.Errorf("%s: %s (%v), want %s", test.name, got, err, test.want)
		}
	}
}

// TestDependabot holds its list to the files that name dependencies.
func TestDependabot(t *testing.T) {
	t.Parallel()
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	if err := yaml.Unmarshal(content(t, filepath.Join(root, ".github", "dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for _, u := range config.Updates {
		listed[u.Ecosystem] = append(listed[u.Ecosystem], u.Directories...)
	}
	ecosystems := map[string]string{"go.mod": "gomod", "package.json": "npm", "Dockerfile": "docker"}
	found := map[string][]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if base := path.Base(name); err == nil && e.IsDir() && name != "." && (base[0] == '.' || base == "node_modules" || base == "testdata") {
			return fs.SkipDir
		}
		if ecosystem, ok := ecosystems[path.Base(name)]; ok {
			found[ecosystem] = append(found[ecosystem], path.Join("/", path.Dir(name)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ecosystem := range ecosystems {
		slices.Sort(listed[ecosystem])
		slices.Sort(found[ecosystem])
		if !slices.Equal(listed[ecosystem], found[ecosystem]) {
			t.Errorf(".github/dependabot.yml lists for %s\n%s\nand there are\n%s", ecosystem, listed[ecosystem], found[ecosystem])
		}
	}
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
