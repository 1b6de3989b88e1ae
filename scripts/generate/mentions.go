package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// mentions lists the lines of a module that have the old name of a renamed field in a string, a struct tag or an annotation. The
// compiler does not check these. A name in a longer string, such as "-state", must be a whole word. It returns "" if there are none.
func (p *project) mentions(name string, renames []string) (string, error) {
	if renames == nil {
		return "", nil
	}
	var old []string
	for _, rename := range renames {
		from, _, _ := strings.Cut(rename, "=")
		old = append(old, regexp.QuoteMeta(from))
	}
	mention := regexp.MustCompile(`\b(` + strings.Join(old, "|") + `)\b`)
	module := path.Join("modules", name)
	var lines strings.Builder
	err := fs.WalkDir(os.DirFS(p.root), module, func(file string, e fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".go" || path.Base(file) == migrationsFile {
			return err
		}
		content, err := os.ReadFile(p.path(file))
		for _, n := range mentioned(content, mention) {
			line := strings.Split(string(content), "\n")[n-1]
			fmt.Fprintf(&lines, "  %s:%d: %s\n", file, n, strings.TrimSpace(line))
		}
		return err
	})
	if lines.Len() == 0 {
		return "", err
	}
	return "These lines have the old name of a field, which the compiler does not check:\n" + lines.String(), err
}

// mentioned returns the numbers of the lines of a Go file that match in a string or an annotation. The file can have syntax errors,
// such as conflict markers.
func mentioned(source []byte, mention *regexp.Regexp) (numbers []int) {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	imports := false
	for {
		pos, kind, text := s.Scan()
		switch value := annotation.FindStringSubmatch(text); {
		case kind == token.EOF:
			return slices.Compact(numbers)
		case kind == token.STRING && !imports:
		case kind == token.COMMENT && value != nil:
			text = value[1]
		default:
			imports = kind == token.IMPORT || imports && !slices.Contains([]token.Token{token.CONST, token.FUNC, token.TYPE, token.VAR}, kind)
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if mention.MatchString(line) {
				numbers = append(numbers, file.Line(pos)+i)
			}
		}
	}
}

// annotation matches the value of an annotation.
var annotation = regexp.MustCompile(`^//\s*@\w+(.*)`)
