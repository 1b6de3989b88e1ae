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

// greets reports whether the block is what a service prints when it is up.
func (b block) greets() bool {
	return b.language == "text" && strings.HasPrefix(b.text, "Server listening")
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

// step is a command, maybe of several lines, and what README says it answers.
type step struct {
	command string
	line    int    // of the command's first line in README
	status  string // of HTTP; "" where README says nothing
	body    string // pattern, with "…" for any text
}

var (
	expectation  = regexp.MustCompile(`^# → (\d{3})(?: (.*))?$`)
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
			current.status, current.body, answered = match[1], match[2], true
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

// check holds a result against README's word.
func (s step) check(r result) error {
	var statuses []string
	for _, match := range httpStatus.FindAllStringSubmatch(r.stderr, -1) {
		statuses = append(statuses, match[1])
	}
	if r.code != 0 {
		return fmt.Errorf("exit code %d, printed:\n%s%s", r.code, r.stdout, r.stderr)
	}
	if s.status != "" {
		if len(statuses) == 0 {
			return errors.New("README promises an answer, and no call was made")
		}
		last := statuses[len(statuses)-1]
		if last != s.status || !matches(s.body, strings.TrimSpace(r.stdout)) {
			return fmt.Errorf("README says: %s %s\nit answers:  %s %s", s.status, s.body, last, r.stdout)
		}
		statuses = statuses[:len(statuses)-1]
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
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", ".*")
	return regexp.MustCompile(`(?s)\A` + expression + `\z`).MatchString(text)
}
