package documents

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

var root = os.DirFS("../../..")

func TestCommittedFiles(t *testing.T) {
	files, err := settingsFiles(root, root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		have, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is out of date; run: make docs", name)
		}
	}
}

// TestTable generates the tables of a small tree with every kind of setting.
func TestTable(t *testing.T) {
	tree := fstest.MapFS{
		"docs/operations.md": {Data: []byte("# Guide\n\n" + beginTable + "\nold\n" + endTable + "\n\nThe rest.\n")},
		"server/.env.example": {Data: []byte("# The service. It has\n# settings.\n\n# Where to <listen>, or *:\n# here | there.\n#HOST=h\n#PORT=1\n\n" +
			"# What it is.\n#MODE=a\n\n# Keys.\nKEYS=k\n")},
		"server/settings.go": {Data: []byte("package server\ntype Address struct {\nHost string `mapstructure:\"HOST\" example:\"h\" validate:\"production\"`\n" +
			"Port int `mapstructure:\"PORT\" default:\"1\" validate:\"min=0,max=9\"`\n}\ntype App struct {\nAddress\nMode Mode `mapstructure:\"MODE\" default:\"a\" validate:\"oneof=a b\"`\n" +
			"Keys []string `mapstructure:\"KEYS\" validate:\"secret\" example:\"k\"`\n}\n")},
		"server/app_test.go":       {Data: []byte("package server\ntype section struct { No string `mapstructure:\"NO\"` }\n")},
		"modules/z/.env.example":   {Data: []byte("# Zeal\n\n# How long.\n#TTL=1h\n\n# Whether.\n#ON=true\n\n# Needed.\n#NAME=n\n")},
		"modules/z/.env.example.a": {Data: []byte("# A\n\n# Aim.\n#AIM=x\n\n# Zones.\n#ZONES=eu,us\n#ZONE_EU_URL=u\n")},
		"modules/z/z.go": {Data: []byte("package z\ntype Config struct {\nTTL time.Duration `mapstructure:\"TTL\" default:\"1h\" validate:\"min=1m\"`\nOn bool `mapstructure:\"ON\" default:\"true\"`\n" +
			"Name string `mapstructure:\"NAME\" validate:\"required\" example:\"n\"`\nAim string `mapstructure:\"AIM\" example:\"x\"`\n" +
			"Zones map[string]Zone `mapstructure:\"ZONES\" example:\"eu,us\"`\n}\ntype Zone struct {\nURL string `mapstructure:\"ZONE_%s_URL\" validate:\"required\" example:\"u\"`\n}\n")},
	}
	const head = "| setting | type | default | required | meaning |\n|---|---|---|---|---|\n"
	want := "# Guide\n\n" + beginTable + "\n\n### The service\n\nIt has settings.\n\n" + head +
		"| `HOST` | string |  | in production | Where to &lt;listen>, or \\*: here \\| there. |\n" +
		"| `PORT` | integer, 0 to 9 | `1` |  | see `HOST` |\n" +
		"| `MODE` | `a`, `b` | `a` |  | What it is. |\n" +
		"| `KEYS` | list |  | yes; at least 32 characters in production | Keys. |\n\n### Zeal\n\n" + head +
		"| `TTL` | duration, at least 1m | `1h` |  | How long. |\n" +
		"| `ON` | `true` or `false` | `true` |  | Whether. |\n" +
		"| `NAME` | string |  | yes | Needed. |\n\n### A\n\n" + head + "| `AIM` | string |  |  | Aim. |\n" +
		"| `ZONES` | list |  |  | Zones. |\n| `ZONE_EU_URL` | string |  | yes | see `ZONES` |\n\n" + endTable + "\n\nThe rest.\n"
	files, err := settingsFiles(tree, tree)
	if err != nil || string(files[guideFile]) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, files[guideFile], want)
	}
	tree["docs/operations.md"].Data = []byte(want)
	if again, err := settingsFiles(tree, tree); err != nil || string(again[guideFile]) != want {
		t.Errorf("again: %v\n%s", err, again[guideFile])
	}
	fragment := tree["modules/z/.env.example"]
	tree["modules/z/.env.example"] = &fstest.MapFile{Data: []byte("# The service\n\n# Nothing.\n#NOTHING=1\n")}
	if _, err := settingsFiles(tree, tree); err == nil || !strings.Contains(err.Error(), "NOTHING") {
		t.Errorf("an undeclared setting: %v", err)
	}
	tree["modules/z/.env.example"] = fragment
	tree["docs/operations.md"].Data = []byte("# Guide\n")
	if _, err := settingsFiles(tree, tree); err == nil {
		t.Error("a guide without markers")
	}
	delete(tree, "docs/operations.md")
	if files, err := settingsFiles(tree, tree); err != nil || len(files) != 1 {
		t.Errorf("without a guide: %v, %d files", err, len(files))
	}
}

// TestFragments: each fragment has the settings of the package in its directory, each with its default or, without one,
// its example.
func TestFragments(t *testing.T) {
	want := map[string]map[string]string{} // directory → name → value
	for _, pattern := range []string{"server", "kit/*", "modules/*"} {
		dirs, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			declared, err := fields(root, dir)
			if err != nil {
				t.Fatal(err)
			}
			for name, f := range declared {
				if want[dir] == nil {
					want[dir] = map[string]string{}
				}
				want[dir][name] = cmp.Or(f.tag.Get("default"), f.tag.Get("example"))
			}
		}
	}
	fragments, err := readFragments(root, root)
	if err != nil || fragments[0].name != "server/.env.example" {
		t.Fatal(fragments, err)
	}
	have := map[string]map[string]string{}
	for _, f := range fragments {
		dir := path.Dir(f.name)
		if have[dir] == nil {
			have[dir] = map[string]string{}
		}
		for _, match := range setting.FindAllStringSubmatch(f.text, -1) {
			have[dir][match[1]] = strings.Trim(match[2], "'")
		}
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("the fragments have\n%v\nthe structs declare\n%v", have, want)
	}
}
