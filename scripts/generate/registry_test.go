package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRegistry adds modules to the registry as it is, and takes them away in another order: the bytes are the old ones.
func TestRegistry(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(root, registryPath))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"aardvark", "blog-post", "news", "zebra"}
	now := source
	for _, name := range names {
		now = edited(t, now, (*registry).added, declareAll(t, name, "a"))
	}
	for _, line := range []string{
		"\t\"example.com/ginseng/middleware\"\n\t\"example.com/ginseng/modules/aardvark\"\n\t\"example.com/ginseng/modules/article\"\n",
		"\tblogpost \"example.com/ginseng/modules/blog-post\"\n",
		"\tblogPosts := blogpost.New(blogpost.Options{DB: h.DB, Cursors: cursors, Now: h.Now, NewID: h.NewID})\n\tnewsModule := news.New(",
		"\t\t\tpolicies,\n\t\t\taardvarks,\n\t\t\tblogPosts,\n\t\t\tnewsModule,\n\t\t\tzebras,\n\t\t},\n",
	} {
		if !strings.Contains(string(now), line) {
			t.Errorf("there is no %q in\n%s", line, now)
		}
	}
	for _, name := range []string{"news", "aardvark", "zebra", "blog-post"} {
		now = edited(t, now, (*registry).removed, declareAll(t, name, "a"))
	}
	if string(now) != string(source) {
		t.Errorf("not the old bytes:\n%s", change{registryPath, source, now}.diff())
	}
}

func edited(t *testing.T, source []byte, edit func(*registry, Resource) ([]byte, error), r Resource) []byte {
	t.Helper()
	reg, err := readRegistry(source)
	if err != nil {
		t.Fatal(err)
	}
	out, err := edit(reg, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const bare = `package modules

import (
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
)

// Host is what the service lends.
type Host struct {
	DB         store.DB
	MasterKeys []string
}

// New makes every module.
func New(host Host) Service {
	return Service{
		Modules: []middleware.Module{},
	}
}
`

// TestBareRegistry adds the first module of a project, which has no cursors yet, and a second.
func TestBareRegistry(t *testing.T) {
	t.Parallel()
	first, second := declareAll(t, "note", "a"), declareAll(t, "memo", "a", "--methods", "show")
	one := edited(t, []byte(bare), (*registry).added, first)
	for _, line := range []string{
		"\t\"example.com/ginseng/kit/listing\"\n",
		"\tnotes := note.New(note.Options{DB: host.DB, Cursors: listing.NewCursors(host.MasterKeys...), Now: host.Now, NewID: host.NewID})\n\treturn",
		"Module{\n\t\t\tnotes,\n\t\t},\n",
	} {
		if !strings.Contains(string(one), line) {
			t.Errorf("there is no %q in\n%s", line, one)
		}
	}
	two := edited(t, one, (*registry).added, second)
	if back := edited(t, edited(t, two, (*registry).removed, first), (*registry).removed, second); string(back) != bare {
		t.Errorf("not the old bytes:\n%s", change{registryPath, []byte(bare), back}.diff())
	}
}

// TestRewrittenRegistry has registries that are not as this command knows them.
func TestRewrittenRegistry(t *testing.T) {
	t.Parallel()
	for _, edit := range [][3]string{
		{"func New(host Host)", "func Make(host Host)", "no func New(h Host, …)"},
		{"host Host", "host *Host", "no func New(h Host, …)"},
		{"Modules: ", "All: ", "returns no list under the name Modules"},
		{"[]middleware.Module{}", "[]middleware.Module{a, b}", "not one module on each line"},
		{"[]middleware.Module{}", "list()", "returns no list under the name Modules"},
		{"return Service{", "return Service{{", "missing"},
	} {
		_, err := readRegistry([]byte(strings.Replace(bare, edit[0], edit[1], 1)))
		if err == nil || !strings.Contains(err.Error(), edit[2]) {
			t.Errorf("%s: %v", edit[1], err)
		}
	}
	note := declareAll(t, "note", "a")
	for from, to := range map[string]string{
		"NewID: host.NewID}": "NewID: host.NewID, More: 1}",
		"\t\t\tnotes,\n":     "\t\t\tnotes, // mine\n",
	} {
		one := strings.Replace(string(edited(t, []byte(bare), (*registry).added, note)), from, to, 1)
		reg, err := readRegistry([]byte(one))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reg.removed(note); err == nil || !strings.Contains(err.Error(), "was edited") {
			t.Errorf("%s: %v", to, err)
		}
	}
}
