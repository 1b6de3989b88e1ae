package main

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pruneTexts takes what names something that is gone out of the files that are no Go code.
func pruneTexts(t tree, g *gone) {
	makefile := t["Makefile"]
	makefile.text = []byte(g.pruneMakefile(string(makefile.text)))
	t["Makefile"] = makefile
	for _, name := range slices.Sorted(maps.Keys(t)) {
		e := t[name]
		text := string(e.text)
		switch base := path.Base(name); {
		case base == ".env.example" && name != base:
			text = g.pruneSettings(text)
		case base == ".gitignore" || base == ".dockerignore":
			text = keepLines(text, func(line string) bool { return !g.names(line) })
		case strings.HasPrefix(name, ".ci/"):
			text = g.pruneShell(text)
		case path.Ext(name) == ".yml" || path.Ext(name) == ".yaml":
			text = g.pruneYAML(text)
		case path.Ext(name) == ".md":
			text = g.pruneMarkdown(name, text)
		default:
			continue
		}
		t[name] = entry{[]byte(text), e.mode}
	}
}

// pruneSettings takes out settings that are gone, with the comments of which nothing is left.
func (g gone) pruneSettings(text string) string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		kept := keepLines(paragraph+"\n", func(line string) bool {
			m := settingLine.FindStringSubmatch(line)
			return m == nil || !g.settings[m[1]]
		})
		if !settingLine.MatchString(paragraph) || settingLine.MatchString(kept) {
			out = append(out, strings.TrimSuffix(kept, "\n"))
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

var (
	yamlFolder  = regexp.MustCompile(`(?m)^\s*- /(\S*)$`)
	yamlSetting = regexp.MustCompile(`^\s*(?:- )?([A-Z][A-Z0-9_]+)[:=]`)
)

// pruneYAML takes out folders of a list and settings that are gone, and paragraphs whose folders have all gone.
func (g gone) pruneYAML(text string) string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		kept := keepLines(paragraph+"\n", func(line string) bool {
			folder, set := yamlFolder.FindStringSubmatch(strings.TrimSuffix(line, "\n")), yamlSetting.FindStringSubmatch(line)
			return (folder == nil || !g.paths[folder[1]]) && (set == nil || !g.settings[set[1]])
		})
		if !yamlFolder.MatchString(paragraph) || yamlFolder.MatchString(kept) {
			out = append(out, strings.TrimSuffix(kept, "\n"))
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

func keepLines(text string, keep func(line string) bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if keep(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// pathWord is a word of a line that may be a path: with a slash within it, or an ending.
var pathWord = regexp.MustCompile(`[\w./-]*[\w-]+[/.][\w./-]*\w`)

// names reports whether a line names a file or folder that is gone, or what was in it.
func (g gone) names(line string) bool {
	return slices.ContainsFunc(pathWord.FindAllString(line, -1), g.pathOrBelow)
}

func (g gone) pathOrBelow(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(path.Clean(text), "../"), "/")
	for ; text != "." && text != ""; text = path.Dir(text) {
		if g.paths[text] {
			return true
		}
		if !strings.Contains(text, "/") {
			return false
		}
	}
	return false
}

// listed is an item of a list with commas, other than the first.
var listed = regexp.MustCompile(`,[\w./-]+`)

var targetLine = regexp.MustCompile(`^([a-z][a-z0-9-]*):`)

// pruneMakefile takes out the recipes' lines that name something that is gone, and targets that have no other.
func (g *gone) pruneMakefile(text string) string {
	var out []string
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		m := targetLine.FindStringSubmatch(lines[i])
		if m == nil {
			out = append(out, lines[i])
			i++
			continue
		}
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], "\t") {
			end++
		}
		var kept []string
		for _, line := range lines[i+1 : end] {
			line = listed.ReplaceAllStringFunc(line, func(item string) string {
				if g.pathOrBelow(item[1:]) {
					return ""
				}
				return item
			})
			if !g.names(line) {
				kept = append(kept, line)
			}
		}
		if len(kept) > 0 || end == i+1 {
			out = append(append(out, lines[i]), kept...)
		} else {
			g.targets[m[1]] = true
			if end < len(lines) && lines[end] == "\n" {
				end++
			}
		}
		i = end
	}
	for i, line := range out {
		if strings.HasPrefix(line, ".PHONY:") {
			words := slices.DeleteFunc(strings.Fields(line), func(word string) bool { return g.targets[word] })
			if len(words) < len(strings.Fields(line)) {
				out[i] = strings.Join(words, " ") + "\n"
			}
		}
	}
	return strings.TrimRight(strings.Join(out, ""), "\n") + "\n"
}

var (
	makeCall      = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*)`)
	shellFunction = regexp.MustCompile(`^(\w+)\(\) \{$`)
	markdownWord  = regexp.MustCompile(` [\w./-]+\.md\b`)
)

// calls reports whether a line of shell runs what is gone: a path or a target of the Makefile.
func (g gone) calls(line string) bool {
	if g.names(line) {
		return true
	}
	for _, m := range makeCall.FindAllStringSubmatch(line, -1) {
		if g.targets[m[1]] {
			return true
		}
	}
	return false
}

// withoutGuides takes guides that are gone out of a line.
func (g gone) withoutGuides(line string) string {
	return markdownWord.ReplaceAllStringFunc(line, func(word string) string {
		if g.pathOrBelow(word[1:]) {
			return ""
		}
		return word
	})
}

// pruneShell takes out the lines that run what is gone, functions whose last line does, with what calls them, and guides
// that are gone out of lists of guides.
func (g gone) pruneShell(text string) string {
	lines := strings.SplitAfter(text, "\n")
	functions := map[string]bool{}
	var out []string
	for i := 0; i < len(lines); i++ {
		line := g.withoutGuides(lines[i])
		if m := shellFunction.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			end := i + 1
			for end < len(lines)-1 && lines[end] != "}\n" {
				end++
			}
			if last := g.withoutGuides(lines[end-1]); g.calls(last) && !strings.Contains(last, "[ -d ") {
				functions[m[1]] = true
				i = end
				if end+1 < len(lines) && lines[end+1] == "\n" {
					i++
				}
				continue
			}
		}
		words := strings.Fields(line)
		if g.calls(line) || len(words) > 1 && words[0] == "step" && functions[words[len(words)-1]] {
			continue
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}
