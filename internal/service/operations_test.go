package service_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// declarations records the collections that are declared on a database.
type declarations struct {
	store.DB
	specs map[string]store.Spec
}

func (d declarations) Open(spec store.Spec) store.Engine {
	d.specs[spec.Name] = spec
	return d.DB.Open(spec)
}

// code returns the source code of the service without tests.
func code(t *testing.T) map[string]string {
	t.Helper()
	files, root := map[string]string{}, os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "scripts" || name == "testkit" || strings.HasPrefix(name, ".") && name != "."):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// rows returns the cells of the table in docs/operations.md that follows the line.
func rows(t *testing.T, line string) (out [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), line+"\n\n")
	table, _, _ := strings.Cut(below, "\n\n")
	lines := strings.Split(table, "\n")
	if !found || len(lines) < 3 {
		t.Fatalf("docs/operations.md has no table below %q", line)
	}
	for _, row := range lines[2:] {
		out = append(out, strings.Split(strings.Trim(row, "| "), " | "))
	}
	return out
}

// TestCollectionsAreInTheGuide compares the guide's table of collections with the declared ones. Each row names what limits the
// collection. Collections of generated modules may be missing, because the generator does not edit the guide.
func TestCollectionsAreInTheGuide(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	declared := map[string]store.Spec{}
	apitest.Start(t, func(c *testkit.Config) { c.DB = declarations{c.DB, declared} })
	documented, sources := map[string][]string{}, code(t)
	for _, row := range rows(t, "TTL is deleted within ten minutes after it.") {
		documented[row[0]] = row
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		file := declaredIn(sources, name)
		want := []string{"`" + name + "`", fmt.Sprintf("[%s](../%[1]s)", file), "WHAT LIMITS IT", indexes(declared[name])}
		row, ok := documented[want[0]]
		if len(row) == len(want) && row[2] != "" {
			want[2] = row[2]
		}
		if !ok && strings.Contains(sources[path.Dir(file)+"/module.go"], "\n//go:generate ") {
			continue
		}
		if !slices.Equal(row, want) {
			t.Errorf("docs/operations.md: want\n| %s |\ngot\n| %s |", strings.Join(want, " | "), strings.Join(row, " | "))
		}
		delete(documented, want[0])
	}
	for name := range documented {
		t.Errorf("docs/operations.md documents an unknown collection %s", name)
	}
}

// declaredIn returns the file that declares a collection.
func declaredIn(sources map[string]string, collection string) string {
	declaration := regexp.MustCompile(`Spec\{\s*Name:\s+"` + collection + `"|const [Cc]ollection = "` + collection + `"`)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if declaration.MatchString(sources[name]) {
			return name
		}
	}
	return ""
}

// indexes returns the indexes of a collection as the MongoDB engine names them.
func indexes(spec store.Spec) string {
	var names []string
	for _, i := range spec.Indexes {
		kind := "store:"
		if i.Unique {
			kind = "store:unique:"
		}
		names = append(names, "`"+kind+strings.Join(i.Fields, ",")+"`")
	}
	for _, field := range spec.Search {
		names = append(names, "`store:words:"+field+"`")
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(names, ", "), "none")
}

// TestRunbookQuotesTheCode checks that each message in the runbook is in the source code. "…" matches any string.
func TestRunbookQuotesTheCode(t *testing.T) {
	t.Parallel()
	sources := code(t)
	for _, row := range rows(t, "## Runbook") {
		for _, span := range strings.Split(strings.Trim(row[0], "`"), "`, `") {
			var parts []string
			for part := range strings.SplitSeq(span, "…") {
				parts = append(parts, regexp.QuoteMeta(strings.TrimSpace(part)))
			}
			message := regexp.MustCompile(strings.Join(parts, `[^\n]*`))
			if !slices.ContainsFunc(slices.Collect(maps.Values(sources)), message.MatchString) {
				t.Errorf("the source code does not contain %q, which the runbook explains", span)
			}
		}
	}
}
