//go:build unix

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// block is a fenced block of a Markdown text.
type block struct {
	language string
	line     int // of its first line of text, from 1
	text     string
}

var origin = regexp.MustCompile(`https?://[^\s,/]+`)

// address is where the service listens that prints the block when it is up, or "".
func (b block) address() string {
	if b.language != "text" {
		return ""
	}
	return origin.FindString(b.text)
}

var fileName = regexp.MustCompile(`^// ([\w-]+\.mjs)\n`)

// file is the name under which a block of JavaScript is to be saved, or "".
func (b block) file() string {
	if match := fileName.FindStringSubmatch(b.text); b.language == "js" && match != nil {
		return match[1]
	}
	return ""
}

// parse finds the fenced blocks.
func parse(markdown string) []block {
	var blocks []block
	var open *block
	for i, line := range strings.Split(markdown, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{language: strings.TrimSpace(language), line: i + 2}
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return blocks
}

// step is a command, maybe of several lines, and what the text says it answers.
type step struct {
	command string
	line    int    // of the command's first line in the text
	says    bool   // whether the text says anything of the answer
	status  string // of HTTP, where the text names it
	body    string // pattern, with "…" for any text
}

var (
	expectation  = regexp.MustCompile(`^# → (?:(\d{3})(?: |$))?(.*)$`)
	continuation = regexp.MustCompile(`^# {2,}(.*)$`)
)

// steps cuts a block after each expectation.
func (b block) steps() []step {
	var steps []step
	current := step{line: b.line}
	answered := false // the last line belonged to an expectation
	flush := func(next int) {
		if strings.TrimSpace(current.command) != "" {
			steps = append(steps, current)
		}
		current, answered = step{line: next}, false
	}
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		if match := continuation.FindStringSubmatch(line); answered && match != nil {
			current.body += match[1]
			continue
		}
		if answered {
			flush(b.line + i)
		}
		if match := expectation.FindStringSubmatch(line); match != nil {
			current.says, current.status, current.body, answered = true, match[1], match[2], true
			continue
		}
		current.command += line + "\n"
	}
	flush(0)
	return steps
}

// result is what a command did.
type result struct {
	code           int // exit code
	stdout, stderr string
}

var httpStatus = regexp.MustCompile(`(?m)^HTTP (\d{3})$`)

// check holds a result against what the text says.
func (s step) check(r result) error {
	var statuses []string
	for _, match := range httpStatus.FindAllStringSubmatch(r.stderr, -1) {
		statuses = append(statuses, match[1])
	}
	if r.code != 0 {
		return fmt.Errorf("exit code %d, printed:\n%s%s", r.code, r.stdout, r.stderr)
	}
	last := ""
	if s.status != "" {
		if len(statuses) == 0 {
			return errors.New("the text promises an answer, and no call was made")
		}
		last, statuses = statuses[len(statuses)-1], statuses[:len(statuses)-1]
	}
	if s.says && (last != s.status || !matches(s.body, strings.TrimSpace(r.stdout))) {
		return fmt.Errorf("the text says: %s %s\nit answers:    %s %s", s.status, s.body, last, r.stdout)
	}
	for _, status := range statuses {
		if status < "200" || status >= "400" {
			return fmt.Errorf("a call is answered %s:\n%s", status, r.stdout)
		}
	}
	return nil
}

// matches reports whether the whole text is what the pattern says.
func matches(pattern, text string) bool {
	return regexp.MustCompile(`(?s)\A` + expression(pattern, ".*") + `\z`).MatchString(text)
}

// expression is a pattern as a regular expression, with what "…" stands for.
func expression(pattern, dots string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", dots)
}

var placeholder = regexp.MustCompile(`(?m)^\w+='([^'\n]*…[^'\n]*)'`)

// fill puts in place of a variable's value with "…" what was printed like it, as a reader does who copies it.
func fill(command, printed string) (string, error) {
	var missing error
	filled := placeholder.ReplaceAllStringFunc(command, func(assignment string) string {
		value := placeholder.FindStringSubmatch(assignment)[1]
		found := regexp.MustCompile(expression(value, `[^\s']+`)).FindString(printed)
		if found == "" {
			missing = fmt.Errorf("nothing was printed like %s", value)
		}
		return strings.Replace(assignment, value, found, 1)
	})
	return filled, missing
}
