package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

// mentions lists the lines of a module that have the old name of a renamed field in a string, a struct tag or an annotation. The
// compiler does not check these. It returns "" if there are none.
func (p *project) mentions(name string, renames []string) (string, error) {
	if renames == nil {
		return "", nil
	}
	var old []string
	for _, rename := range renames {
		from, _, _ := strings.Cut(rename, "=")
		old = append(old, regexp.QuoteMeta(from))
	}
	names := "(" + strings.Join(old, "|") + ")"
	mention := regexp.MustCompile("[\"`]" + names + "[\"`,\\[\\\\]" + `|^\s*//\s*@.*\b` + names + `\b`)
	module := path.Join("modules", name)
	var lines strings.Builder
	err := fs.WalkDir(os.DirFS(p.root), module, func(file string, e fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".go" || path.Base(file) == migrationsFile {
			return err
		}
		content, err := os.ReadFile(p.path(file))
		n := 0
		for line := range strings.Lines(string(content)) {
			if n++; mention.MatchString(line) {
				fmt.Fprintf(&lines, "  %s:%d: %s\n", file, n, strings.TrimSpace(line))
			}
		}
		return err
	})
	if lines.Len() == 0 {
		return "", err
	}
	return "These lines have the old name of a field, which the compiler does not check:\n" + lines.String(), err
}
