//go:build unix

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// block is a fenced code block.
type block struct {
	language string
	line     int // number of its first line
	text     string
}

var (
	origin   = regexp.MustCompile(`https?://[^\s,/]+`)
	fileName = regexp.MustCompile(`^// ([\w-]+\.mjs)\n`)
)

// address returns the address of the service that prints the block when it starts; "" if the block has none.
func (b block) address() string {
	if b.language != "text" {
		return ""
	}
	return origin.FindString(b.text)
}

// file returns the name of the file in which a js block is saved; "" for other blocks.
func (b block) file() string {
	if match := fileName.FindStringSubmatch(b.text); b.language == "js" && match != nil {
		return match[1]
	}
	return ""
}

// parse returns the fenced code blocks.
func parse(markdown string) (blocks []block) {
	var open *block
	for i, line := range strings.Split(markdown, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{language: strings.TrimSpace(language), line: i + 2}
		case fence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return blocks
}

// step is a command, perhaps of several lines, and its expected output.
type step struct {
	command string
	line    int    // number of its first line
	says    bool   // the block has an expectation for this step
	status  string // expected HTTP status; "" accepts every 2xx and 3xx
	body    string // expected output, with "…" for any text
}

var (
	expectation  = regexp.MustCompile(`^# → (?:(\d{3})(?: |$))?(.*)$`)
	continuation = regexp.MustCompile(`^# {2,}(.*)$`)
)

// steps returns the steps of a block. Each step ends with an expectation or at the end of the block.
func (b block) steps() (steps []step) {
	current := step{line: b.line}
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		if match := continuation.FindStringSubmatch(line); current.says && match != nil {
			current.body += match[1]
			continue
		}
		if current.says {
			steps, current = append(steps, current), step{line: b.line + i}
		}
		if match := expectation.FindStringSubmatch(line); match != nil {
			current.says, current.status, current.body = true, match[1], match[2]
			continue
		}
		current.command += line + "\n"
	}
	if strings.TrimSpace(current.command) != "" {
		steps = append(steps, current)
	}
	return steps
}

// result is the result of a command.
type result struct {
	code           int // exit code
	stdout, stderr string
}

var httpStatus = regexp.MustCompile(`(?m)^HTTP (\d{3})$`)

// check returns an error if a result differs from the expectation.
func (s step) check(r result) error {
	if r.code != 0 {
		return fmt.Errorf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	statuses := httpStatus.FindAllStringSubmatch(r.stderr, -1)
	last := ""
	if s.status != "" {
		if len(statuses) == 0 {
			return errors.New("a status is expected, but there was no HTTP call")
		}
		last, statuses = statuses[len(statuses)-1][1], statuses[:len(statuses)-1]
	}
	like := regexp.MustCompile(`(?s)\A` + expression(s.body, ".*") + `\z`)
	if s.says && (last != s.status || !like.MatchString(strings.TrimSpace(r.stdout))) {
		return fmt.Errorf("want: %s %s\ngot:  %s %s", s.status, s.body, last, r.stdout)
	}
	for _, status := range statuses {
		if status[1] < "200" || status[1] >= "400" {
			return fmt.Errorf("status %s:\n%s", status[1], r.stdout)
		}
	}
	return nil
}

// expression converts a pattern to a regular expression, in which dots replaces "…".
func expression(pattern, dots string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", dots)
}

var placeholder = regexp.MustCompile(`(?m)^\w+='([^'\n]*…[^'\n]*)'`)

// fill replaces each value that contains "…" with the matching text in the output.
func fill(command, printed string) (filled string, err error) {
	filled = placeholder.ReplaceAllStringFunc(command, func(assignment string) string {
		value := placeholder.FindStringSubmatch(assignment)[1]
		found := regexp.MustCompile(expression(value, `[^\s']+`)).FindString(printed)
		if found == "" {
			err = fmt.Errorf("no output matches %s", value)
		}
		return strings.Replace(assignment, value, found, 1)
	})
	return filled, err
}
