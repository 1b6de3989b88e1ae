// Package collections finds the collections that source code declares, and explains how to delete them after the code was
// removed.
package collections

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var specName = regexp.MustCompile(`(?:store|listing)\.Spec\{\s*Name:\s*"([^"]+)"`)

// In returns, for each collection that a store.Spec or listing.Spec below dir declares, the path of the declaring file. The path
// has slashes and begins with the name of dir.
func In(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range specName.FindAllStringSubmatch(string(source), -1) {
			out[m[1]] = filepath.Base(dir) + strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir))
		}
		return err
	})
	return out, err
}

// Stay returns a message: the records of removed collections stay in the database, and how to delete the records. It returns ""
// if names is empty.
func Stay(names ...string) string {
	if len(names) == 0 {
		return ""
	}
	quoted, sqlite, mongo := make([]string, len(names)), "", ""
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
		sqlite += fmt.Sprintf("  DROP TABLE IF EXISTS %[1]q; DROP TABLE IF EXISTS %[2]q; DROP TABLE %[3]q; DELETE FROM _collections WHERE name = '%[3]s';\n", name+":postings", name+":words", name)
		mongo += fmt.Sprintf("  db.getCollection(%q).drop()\n", name)
	}
	noun := map[bool]string{true: "collection", false: "collections"}[len(names) == 1]
	return fmt.Sprintf("The records stay in the database, in the %s %s. To delete them, back up the database, stop the service that still has\nthe old code, and run in sqlite3 (3.43 or newer):\n%sor in mongosh:\n%s",
		noun, strings.Join(quoted, ", "), sqlite, mongo)
}
