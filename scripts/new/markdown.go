package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	heading  = regexp.MustCompile(`^(#+) (.*)$`)
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan = regexp.MustCompile("`([^`]+)`")
	listItem = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)
	spanList = regexp.MustCompile("(?:`[^`]+`, )*`[^`]+`(?: (?:and|or) `[^`]+`)?")
	spanAnd  = regexp.MustCompile(" (and|or) `")
)

// pruneMarkdown takes out of a guide, in this order: the sections that the rooms name; of a list of code spans (`a`, `b`
// and `c`) those that name something that is gone; then the rows of tables, items of lists, blocks of commands and
// sentences that still name or link to something that is gone.
func (g gone) pruneMarkdown(name, text string) string {
	text = g.dropSections(name, text)
	blocks := strings.Split(strings.TrimRight(text, "\n"), "\n\n")
	var out []string
	fenced := ""
	for _, block := range blocks {
		switch {
		case fenced != "" || strings.HasPrefix(strings.TrimSpace(block), "```"):
			// A block of code may hold blank lines: gather it whole.
			if fenced != "" {
				fenced += "\n\n"
			}
			fenced += block
			if strings.Count("\n"+fenced, "\n```")%2 == 0 {
				if !g.inCode(fenced) {
					out = append(out, fenced)
				} else if len(out) > 0 && strings.HasSuffix(out[len(out)-1], ":") {
					out = out[:len(out)-1] // what it was the example of
				}
				fenced = ""
			}
		case strings.HasPrefix(block, "|"):
			out = appendText(out, g.pruneLines(name, block, 2))
		case listItem.MatchString(block):
			out = appendText(out, g.pruneItems(name, block))
		case strings.HasPrefix(block, "#"):
			out = append(out, block)
		default:
			out = appendText(out, g.pruneSentences(name, block))
		}
	}
	if fenced != "" {
		out = append(out, fenced)
	}
	return strings.Join(dropEmptySections(out), "\n\n") + "\n"
}

func appendText(out []string, text string) []string {
	if strings.TrimSpace(text) == "" {
		return out
	}
	return append(out, text)
}

// anchor is how a link names a heading.
func anchor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// dropSections takes out the sections that the rooms name and that are not chosen.
func (g gone) dropSections(name, text string) string {
	var b strings.Builder
	level, fence := 0, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fence = !fence
		}
		if m := heading.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil && !fence {
			if level == 0 || len(m[1]) <= level {
				level = 0
				if g.paths[name+"#"+anchor(m[2])] {
					level = len(m[1])
				}
			}
		}
		if level == 0 {
			b.WriteString(line)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// inText reports whether a piece of a guide names or links to something that is gone.
func (g gone) inText(name, text string) bool {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target := m[1]
		if strings.HasPrefix(target, "#") {
			if g.paths[name+target] {
				return true
			}
			continue
		}
		file, section, _ := strings.Cut(target, "#")
		full := path.Join(path.Dir(name), file)
		if g.pathOrBelow(full) || section != "" && g.paths[full+"#"+section] {
			return true
		}
	}
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		if g.inSpan(m[1]) {
			return true
		}
	}
	return false
}

// inSpan reports whether a code span names a route, setting, file or command that is gone, or an index of who wrote a record
// where there are no users.
func (g gone) inSpan(span string) bool {
	if g.users && strings.HasPrefix(span, "store:userId,") {
		return true
	}
	if g.route(span) || g.setting(span) || strings.Contains(span, "/") && g.names(span) {
		return true
	}
	if m := makeCall.FindStringSubmatch(span); m != nil && g.targets[m[1]] {
		return true
	}
	for _, word := range strings.Fields(span) {
		if strings.HasPrefix(word, "/") && g.route(word) {
			return true
		}
	}
	return false
}

var address = regexp.MustCompile(`localhost:9000(/[\w./:-]*)`)

// inCode reports whether a block of commands calls a route, sets a setting or runs a program that is gone.
func (g gone) inCode(block string) bool {
	for _, m := range address.FindAllStringSubmatch(block, -1) {
		if g.route(m[1]) {
			return true
		}
	}
	for line := range strings.Lines(block) {
		if m := settingLine.FindStringSubmatch(strings.TrimSpace(line)); g.calls(line) || m != nil && g.settings[m[1]] {
			return true
		}
	}
	return false
}

// reduce takes what is gone out of lists of code spans.
func (g gone) reduce(text string) string {
	return spanList.ReplaceAllStringFunc(text, func(list string) string {
		spans := codeSpan.FindAllStringSubmatch(list, -1)
		if len(spans) < 2 {
			return list
		}
		var kept []string
		for _, span := range spans {
			if !g.inSpan(span[1]) {
				kept = append(kept, span[0])
			}
		}
		if len(kept) == 0 || len(kept) == len(spans) {
			return list
		}
		word := spanAnd.FindStringSubmatch(list)
		if word == nil || len(kept) == 1 {
			return strings.Join(kept, ", ")
		}
		return strings.Join(kept[:len(kept)-1], ", ") + " " + word[1] + " " + kept[len(kept)-1]
	})
}

// pruneLines prunes a table, whose head is the first lines.
func (g gone) pruneLines(name, block string, head int) string {
	lines := strings.Split(block, "\n")
	kept := lines[:min(head, len(lines))]
	for _, line := range lines[len(kept):] {
		if line = g.reduce(line); !g.inText(name, line) {
			kept = append(kept, line)
		}
	}
	if len(kept) == head && len(lines) > head {
		return ""
	}
	return strings.Join(kept, "\n")
}

// pruneItems prunes a list.
func (g gone) pruneItems(name, block string) string {
	var items []string
	for line := range strings.Lines(block) {
		if listItem.MatchString(line) || len(items) == 0 {
			items = append(items, line)
		} else {
			items[len(items)-1] += line
		}
	}
	var kept []string
	for _, item := range items {
		if item = g.reduce(item); !g.inText(name, item) {
			kept = append(kept, item)
		}
	}
	return strings.TrimSuffix(strings.Join(kept, ""), "\n")
}

// ofUsers is a sentence that says what users and admins may.
var ofUsers = regexp.MustCompile(`\b[Aa]dmins?\b|\bevery user\b|\bsign in\b`)

// sentenceEnd is where a sentence ends: a full stop, question mark or exclamation mark, a blank, and a capital or a span.
var sentenceEnd = regexp.MustCompile("([.?!])(\\s+)([A-Z`\"\\[*])")

// pruneSentences prunes a paragraph.
func (g gone) pruneSentences(name, block string) string {
	reduced := g.reduce(block)
	if !g.inText(name, reduced) && !(g.users && ofUsers.MatchString(reduced)) {
		return reduced
	}
	var sentences []string
	rest := reduced
	for {
		at := sentenceEnd.FindStringSubmatchIndex(rest)
		if at == nil {
			sentences = append(sentences, rest)
			break
		}
		sentences = append(sentences, rest[:at[6]]) // with the blank
		rest = rest[at[6]:]
	}
	sentences = slices.DeleteFunc(sentences, func(s string) bool { return g.inText(name, s) || g.users && ofUsers.MatchString(s) })
	return strings.TrimSpace(strings.Join(sentences, ""))
}

// dropEmptySections takes out headings with nothing below them.
func dropEmptySections(blocks []string) []string {
	level := func(block string) int {
		if m := heading.FindStringSubmatch(block); m != nil {
			return len(m[1])
		}
		return 0
	}
	var out []string
	for i, block := range blocks {
		if l := level(block); l > 1 {
			if i+1 == len(blocks) || level(blocks[i+1]) > 0 && level(blocks[i+1]) <= l {
				continue
			}
		}
		out = append(out, block)
	}
	return out
}
