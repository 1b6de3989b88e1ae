package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

var root = os.DirFS("../..")

func TestCommittedFileIsAssembled(t *testing.T) {
	want, err := assemble(root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := fs.ReadFile(root, target)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not what its fragments give; run: %s", target, command)
	}
}

func TestAssembleOrdersAndSeparatesFragments(t *testing.T) {
	got, err := assemble(fstest.MapFS{
		"modules/b/.env.example":  {Data: []byte("B=\n\n")},
		"modules/a/.env.example":  {Data: []byte("\nA=\n")},
		"config/.env.example":     {Data: []byte("C=\n")},
		"internal/z/.env.example": {Data: []byte("Z=\n")},
	})
	if want := header + "\nC=\n\nZ=\n\nA=\n\nB=\n"; err != nil || got != want {
		t.Errorf("assemble = %q, %v; want %q", got, err, want)
	}
}

// setting matches a line of a fragment that sets something, also one that is commented out (without a blank).
var setting = regexp.MustCompile(`(?m)^#?([A-Z][A-Z0-9_]*)=(.*)$`)

// TestFragmentsNameEverySetting compares each fragment with the tags of the structs in its folder: the same names, each
// with its default or, where it has none, its example.
func TestFragmentsNameEverySetting(t *testing.T) {
	var files []string
	for _, pattern := range []string{"config/*.go", "internal/*/*.go", "modules/*/*.go"} {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	declared := map[string]map[string]string{} // folder → name → value
	for _, file := range files {
		if settings := settingsOf(t, file); len(settings) > 0 {
			folder := path.Dir(file)
			if declared[folder] == nil {
				declared[folder] = map[string]string{}
			}
			maps.Copy(declared[folder], settings)
		}
	}
	if len(declared["config"]) == 0 {
		t.Fatal("no setting found in config: the tags have changed, and this test must follow")
	}
	names, err := fragments(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, fragment := range names {
		if folder := path.Dir(fragment); declared[folder] == nil {
			t.Errorf("%s: its folder has no setting", fragment)
		}
	}
	for folder, want := range declared {
		fragment, err := fs.ReadFile(root, folder+"/.env.example")
		if err != nil {
			t.Error(err)
			continue
		}
		have := map[string]string{}
		for _, match := range setting.FindAllStringSubmatch(string(fragment), -1) {
			have[match[1]] = match[2]
		}
		if !maps.Equal(have, want) {
			t.Errorf("%s/.env.example has\n%v\nthe tags of its structs say\n%v", folder, have, want)
		}
	}
}

// settingsOf reads the tags of a file's structs: the value is the default or, without one, the example.
func settingsOf(t *testing.T, name string) map[string]string {
	t.Helper()
	if strings.HasSuffix(name, "_test.go") {
		return nil
	}
	source, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		text, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		tag := reflect.StructTag(text)
		if env, ok := tag.Lookup("env"); ok {
			value, ok := tag.Lookup("default")
			if !ok {
				value = tag.Get("example")
			}
			settings[env] = value
		}
		return true
	})
	return settings
}
