//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../../.."

// TestLinks checks that each relative link of the guides leads to a file, and to a heading if it names one.
func TestLinks(t *testing.T) {
	t.Parallel()
	links := 0
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "project"}, entry.Name()): // links of project are a project's
			return filepath.SkipDir
		case filepath.Ext(path) != ".md" || entry.IsDir():
			return nil
		}
		markdown, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range linksOf(string(markdown)) {
			links++
			if err := follow(path, target); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// TestCode checks that the code in guides is that of examples, which run.
func TestCode(t *testing.T) {
	t.Parallel()
	for _, guide := range []struct{ file, examples, languages string }{
		{"README.md", "kit/example_test.go", "go"},
		{"docs/modules.md", "docs/examples/clinic docs/examples/tickets", "go diff sh"},
		{"docs/receive-webhooks.md", "docs/examples/clinic", "go diff"},
	} {
		markdown, err := os.ReadFile(filepath.Join(repository, guide.file))
		if err != nil {
			t.Fatal(err)
		}
		example := ""
		for _, root := range strings.Fields(guide.examples) {
			example += content(t, filepath.Join(repository, root))
		}
		blocks := 0
		for _, b := range parse(string(markdown)) {
			if !slices.Contains(strings.Fields(guide.languages), b.language) {
				continue
			}
			blocks++
			if !strings.Contains(example, b.text) {
				t.Errorf("%s:%d: not in %s", guide.file, b.line, guide.examples)
			}
		}
		if blocks == 0 {
			t.Errorf("%s has no code", guide.file)
		}
	}
}

// content returns the content of a file, or of all files in a directory.
func content(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestLinksOf(t *testing.T) {
	t.Parallel()
	got := linksOf("[a](a.md#b) and ![c](c.png)\n```sh\n[d](d.md)\n```\n`[e](e.md)` [f](https://example.com) [g](#g)\n")
	if !slices.Equal(got, []string{"a.md#b", "c.png", "#g"}) {
		t.Error(got)
	}
	if ids := headings("# A `b`, c\n## A b c\n```\n# no\n```\n## A b c\n"); !slices.Equal(ids, []string{"a-b-c", "a-b-c-1", "a-b-c-2"}) {
		t.Error(ids)
	}
}

// follow returns an error unless the target of a link in the file exists.
func follow(file, target string) error {
	name, heading, _ := strings.Cut(target, "#")
	name, err := url.PathUnescape(name)
	if err != nil {
		return err
	}
	path := file
	if name != "" {
		path = filepath.Join(filepath.Dir(file), name)
	}
	if _, err := os.Stat(path); err != nil || heading == "" {
		return err
	}
	markdown, err := os.ReadFile(path)
	if err == nil && !slices.Contains(headings(string(markdown)), heading) {
		err = fmt.Errorf("%s: there is no such heading", target)
	}
	return err
}

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	notInID    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// prose returns the lines that are not in fenced code blocks.
func prose(markdown string) (lines []string) {
	fenced := false
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// linksOf returns the targets of the relative links.
func linksOf(markdown string) (targets []string) {
	for _, line := range prose(markdown) {
		for _, match := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
			if !strings.Contains(match[1], ":") {
				targets = append(targets, match[1])
			}
		}
	}
	return targets
}

// headings returns the IDs that GitHub gives to headings.
func headings(markdown string) (ids []string) {
	seen := map[string]int{}
	for _, line := range prose(markdown) {
		title, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !isHeading || !strings.HasPrefix(line, "#") {
			continue
		}
		id := strings.ReplaceAll(notInID.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		n := seen[id]
		seen[id]++
		if n > 0 {
			id = fmt.Sprintf("%s-%d", id, n)
		}
		ids = append(ids, id)
	}
	return ids
}
