package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// The lines between which the guide's table stands.
const (
	begin = "<!-- settings: made by " + command + " -->"
	end   = "<!-- end of settings -->"
)

// between puts the tables into the guide's text.
func between(text, tables string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("%s has no lines %q and %q, between which the settings are to stand", guide, begin, end)
	}
	return before + begin + "\n\n" + tables + "\n" + end + after, nil
}

// field is a setting as the struct that reads it declares it.
type field struct {
	kind string // the type's name in Go
	tag  reflect.StructTag
}

// value is what a fragment shows: the default or, without one, the example.
func (f field) value() string {
	if value, ok := f.tag.Lookup("default"); ok {
		return value
	}
	return f.tag.Get("example")
}

// fields reads the settings that the code in a folder declares.
func fields(root fs.FS, folder string) (map[string]field, error) {
	names, err := fs.Glob(root, folder+"/*.go")
	if err != nil {
		return nil, err
	}
	found := map[string]field{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || f.Tag == nil {
				return true
			}
			text, _ := strconv.Unquote(f.Tag.Value) // the parser has accepted it
			tag := reflect.StructTag(text)
			if env := tag.Get("mapstructure"); env != "" {
				found[env] = field{types.ExprString(f.Type), tag}
			}
			return true
		})
	}
	return found, nil
}

// setting matches a line of a fragment that sets something, also one that is commented out (without a blank).
var setting = regexp.MustCompile(`(?m)^#?([A-Z][A-Z0-9_]*)=(.*)$`)

// tables has one table for each fragment, under its name.
func tables(root fs.FS) (string, error) {
	names, err := fragments(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range names {
		declared, err := fields(root, path.Dir(name))
		if err != nil {
			return "", err
		}
		fragment, err := fs.ReadFile(root, name)
		if err != nil {
			return "", err
		}
		for _, paragraph := range strings.Split(strings.TrimSpace(string(fragment)), "\n\n") {
			text, set := comment(paragraph), setting.FindAllStringSubmatch(paragraph, -1)
			if len(set) == 0 { // the fragment's name, and what holds for all that is in it
				title, more, _ := strings.Cut(text, ". ")
				fmt.Fprintf(&b, "### %s\n\n", strings.TrimSuffix(title, "."))
				if more != "" {
					fmt.Fprintf(&b, "%s\n\n", escape(more))
				}
				b.WriteString("| setting | type | default | required | meaning |\n|---|---|---|---|---|\n")
			}
			for i, match := range set {
				f, ok := declared[match[1]]
				if !ok {
					return "", fmt.Errorf("%s names %s, which no struct in its folder declares", name, match[1])
				}
				meaning := escape(text)
				if i > 0 {
					meaning = "see `" + set[0][1] + "`"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", match[1], f.allowed(), code(f.tag.Get("default")), f.required(), meaning)
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// comment is the text of a paragraph without its settings.
func comment(paragraph string) string {
	var words []string
	for line := range strings.Lines(paragraph) {
		if !setting.MatchString(line) {
			words = append(words, strings.Fields(strings.TrimPrefix(line, "#"))...)
		}
	}
	return strings.Join(words, " ")
}

// rule is the parameter of one rule of the tag validate.
func (f field) rule(name string) string {
	for rule := range strings.SplitSeq(f.tag.Get("validate"), ",") {
		if value, ok := strings.CutPrefix(rule, name+"="); ok {
			return value
		}
	}
	return ""
}

// allowed says what the setting may be.
func (f field) allowed() string {
	if words := strings.Fields(f.rule("oneof")); len(words) > 0 {
		return "`" + strings.Join(words, "`, `") + "`"
	}
	kind, ok := map[string]string{
		"bool": "`true` or `false`", "int": "whole number", "int64": "whole number", "time.Duration": "duration", "[]string": "list",
	}[f.kind]
	if !ok {
		kind = "text"
	}
	if low, high := f.rule("min"), f.rule("max"); low != "" && high != "" {
		kind += ", " + low + " to " + high
	} else if low != "" {
		kind += ", at least " + low
	}
	return kind
}

// required says when the service does not start without the setting.
func (f field) required() string {
	switch {
	case f.tag.Get("validate") == "secret":
		return "yes; 32 characters in production"
	case f.tag.Get("validate") == "production":
		return "in production"
	case f.tag.Get("validate") == "required":
		return "yes"
	}
	return ""
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// escape keeps a comment's marks from being Markdown's.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(text)
}
