package main

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

var root = os.DirFS("../..")

func TestCommittedFilesAreGenerated(t *testing.T) {
	made, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range made {
		have, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != want {
			t.Errorf("%s is not what the settings and their fragments give; run: %s", name, command)
		}
	}
}

// TestTable makes the guide's table of a small tree, with every kind of setting.
func TestTable(t *testing.T) {
	tree := fstest.MapFS{
		"docs/operations.md": {Data: []byte("# Guide\n\n" + begin + "\nold\n" + end + "\n\nThe rest.\n")},
		"kit/server/.env.example": {Data: []byte("# The service. It has\n# settings.\n\n# Where to <listen>, or *:\n# here | there.\n#HOST=h\n#PORT=1\n\n" +
			"# What it is.\n#MODE=a\n\n# Keys.\nKEYS=k\n")},
		"kit/server/app.go": {Data: []byte("package config\ntype Address struct {\nHost string `mapstructure:\"HOST\" example:\"h\" validate:\"production\"`\n" +
			"Port int `mapstructure:\"PORT\" default:\"1\" validate:\"min=0,max=9\"`\n}\ntype App struct {\nAddress\nMode Mode `mapstructure:\"MODE\" default:\"a\" validate:\"oneof=a b\"`\n" +
			"Keys []string `mapstructure:\"KEYS\" validate:\"secret\" example:\"k\"`\n}\n")},
		"kit/server/app_test.go": {Data: []byte("package config\ntype section struct { No string `mapstructure:\"NO\"` }\n")},
		"kit/z/.env.example":     {Data: []byte("# Zeal\n\n# How long.\n#TTL=1h\n\n# Whether.\n#ON=true\n\n# Needed.\n#NAME=n\n")},
		"kit/z/z.go": {Data: []byte("package z\ntype Config struct {\nTTL time.Duration `mapstructure:\"TTL\" default:\"1h\" validate:\"min=1m\"`\nOn bool `mapstructure:\"ON\" default:\"true\"`\n" +
			"Name string `mapstructure:\"NAME\" validate:\"required\" example:\"n\"`\n}\n")},
	}
	const head = "| setting | type | default | required | meaning |\n|---|---|---|---|---|\n"
	want := "# Guide\n\n" + begin + "\n\n### The service\n\nIt has settings.\n\n" + head +
		"| `HOST` | text |  | in production | Where to &lt;listen>, or \\*: here \\| there. |\n" +
		"| `PORT` | whole number, 0 to 9 | `1` |  | see `HOST` |\n" +
		"| `MODE` | `a`, `b` | `a` |  | What it is. |\n" +
		"| `KEYS` | list |  | yes; 32 characters in production | Keys. |\n\n### Zeal\n\n" + head +
		"| `TTL` | duration, at least 1m | `1h` |  | How long. |\n" +
		"| `ON` | `true` or `false` | `true` |  | Whether. |\n" +
		"| `NAME` | text |  | yes | Needed. |\n\n" + end + "\n\nThe rest.\n"
	made, err := generate(tree)
	if err != nil || made[guide] != want {
		t.Errorf("%v\n%s\nwant\n%s", err, made[guide], want)
	}
	tree["docs/operations.md"].Data = []byte(want)
	if again, err := generate(tree); err != nil || again[guide] != want {
		t.Errorf("again: %v\n%s", err, again[guide])
	}
	tree["kit/server/.env.example"].Data = []byte("# The service\n\n# Nothing.\n#NOTHING=1\n")
	if _, err := generate(tree); err == nil || !strings.Contains(err.Error(), "NOTHING") {
		t.Errorf("a setting that is none: %v", err)
	}
	tree["docs/operations.md"].Data = []byte("# Guide\n")
	if _, err := generate(tree); err == nil {
		t.Error("a guide without a place for the table")
	}
	delete(tree, "docs/operations.md")
	if made, err := generate(tree); err != nil || len(made) != 1 {
		t.Errorf("without a guide: %v, %d files", err, len(made))
	}
}

func TestAssembleOrdersAndSeparatesFragments(t *testing.T) {
	got, err := assemble(fstest.MapFS{
		"modules/b/.env.example":  {Data: []byte("B=\n\n")},
		"modules/a/.env.example":  {Data: []byte("\nA=\n")},
		"kit/server/.env.example": {Data: []byte("C=\n")},
		"kit/z/.env.example":      {Data: []byte("Z=\n")},
	})
	if want := header + "\nC=\n\nZ=\n\nA=\n\nB=\n"; err != nil || got != want {
		t.Errorf("assemble = %q, %v; want %q", got, err, want)
	}
}

// TestFragmentsNameEverySetting compares each fragment with the tags of the structs in its folder: the same names, each
// with its default or, where it has none, its example.
func TestFragmentsNameEverySetting(t *testing.T) {
	declared := map[string]map[string]string{} // folder → name → value
	for _, pattern := range []string{"kit/*", "modules/*"} {
		folders, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			settings, err := fields(root, folder)
			if err != nil {
				t.Fatal(err)
			}
			for name, f := range settings {
				if declared[folder] == nil {
					declared[folder] = map[string]string{}
				}
				declared[folder][name] = f.value()
			}
		}
	}
	if len(declared["kit/server"]) == 0 {
		t.Fatal("no setting found in kit/server: the tags have changed, and this test must follow")
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
