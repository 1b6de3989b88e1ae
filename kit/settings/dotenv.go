package settings

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var (
	assignment = regexp.MustCompile(`^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=`)
	variable   = regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)
)

// The errors do not quote the file, which has secrets.
var (
	errNoAssignment = errors.New("is not NAME=value")
	errQuote        = errors.New("has a quote that is not closed; write a value with a quote in other quotes")
	errExpansion    = errors.New("has a $ or ` that sh would replace; write the value in single quotes")
)

// dotenv parses a .env file as sh reads it (POSIX.1-2024, Shell Command Language, sections 2.2 and 2.3): a # begins a comment only
// after a space, quotes can begin and end within a value, and $NAME is the value of an earlier line or of the environment, which
// getenv returns. It also accepts what sh rejects or changes in values without quotes: spaces around the =, other special
// characters, as in Ada <ada@example.com>, and a backslash before a letter, as in the \n of a key in PEM. It rejects other
// expansions, and variables that are not set, because the value is probably a password with a $.
func dotenv(text string, getenv func(string) (string, bool)) (map[string]string, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	p := dotenvParser{rest: text, values: map[string]string{}, getenv: getenv}
	for p.rest != "" {
		line := 1 + strings.Count(text[:len(text)-len(p.rest)], "\n")
		if err := p.parseLine(); err != nil {
			return nil, fmt.Errorf("line %d %w", line, err)
		}
	}
	return p.values, nil
}

type dotenvParser struct {
	rest   string // the text that is not parsed yet
	values map[string]string
	getenv func(string) (string, bool)
	value  strings.Builder // the value that is being parsed
}

// parseLine parses an assignment, a comment or an empty line.
func (p *dotenvParser) parseLine() error {
	line, _, _ := strings.Cut(p.rest, "\n")
	if start := strings.TrimSpace(line); start == "" || start[0] == '#' {
		p.skipLine()
		return nil
	}
	found := assignment.FindStringSubmatch(p.rest)
	if found == nil {
		return errNoAssignment
	}
	p.rest = p.rest[len(found[0]):]
	value, err := p.parseValue()
	p.values[found[1]] = value
	return err
}

func (p *dotenvParser) skipLine() { _, p.rest, _ = strings.Cut(p.rest, "\n") }

// parseValue parses the rest of a line. The value continues in the next line within quotes and after a backslash.
func (p *dotenvParser) parseValue() (value string, err error) {
	p.value.Reset()
	if trimmed := strings.TrimLeft(p.rest, " \t"); !strings.HasPrefix(trimmed, "#") { // before a comment, the space is needed below
		p.rest = trimmed
	}
	end := 0 // end of the value without the spaces after it
	for p.rest != "" && p.rest[0] != '\n' {
		switch c := p.rest[0]; c {
		case ' ', '\t':
			spaces := len(p.rest) - len(strings.TrimLeft(p.rest, " \t"))
			if strings.HasPrefix(p.rest[spaces:], "#") {
				p.skipLine()
				return p.value.String()[:end], nil
			}
			p.take(spaces)
			continue
		case '\'':
			quoted, after, closed := strings.Cut(p.rest[1:], "'")
			if !closed {
				return "", errQuote
			}
			p.value.WriteString(quoted)
			p.rest = after
		case '"':
			err = p.parseDoubleQuoted()
		case '\\':
			p.parseEscape(func(next rune) bool { return !unicode.IsLetter(next) && !unicode.IsDigit(next) })
		case '$', '`':
			err = p.expand()
		default:
			p.take(1)
		}
		if err != nil {
			return "", err
		}
		end = p.value.Len()
	}
	p.skipLine()
	return p.value.String()[:end], nil
}

// take adds the next n bytes to the value.
func (p *dotenvParser) take(n int) {
	p.value.WriteString(p.rest[:n])
	p.rest = p.rest[n:]
}

func (p *dotenvParser) parseDoubleQuoted() (err error) {
	p.rest = p.rest[1:]
	for err == nil && p.rest != "" && p.rest[0] != '"' {
		switch p.rest[0] {
		case '\\':
			p.parseEscape(func(next rune) bool { return strings.ContainsRune("$`\"\\\n", next) })
		case '$', '`':
			err = p.expand()
		default:
			p.take(1)
		}
	}
	if err != nil {
		return err
	}
	if p.rest == "" {
		return errQuote
	}
	p.rest = p.rest[1:]
	return nil
}

// parseEscape parses a backslash. If escapes accepts the next character, the backslash is removed, and so is a line break after it.
func (p *dotenvParser) parseEscape(escapes func(next rune) bool) {
	if len(p.rest) == 1 || !escapes(rune(p.rest[1])) {
		p.take(1)
		return
	}
	p.rest = p.rest[1:]
	if p.rest[0] == '\n' {
		p.rest = p.rest[1:]
		return
	}
	p.take(1)
}

// expand replaces a variable at the beginning of the rest. A $ that begins no expansion is part of the value.
func (p *dotenvParser) expand() error {
	found := variable.FindStringSubmatch(p.rest)
	if found == nil {
		if p.rest[0] == '`' || len(p.rest) > 1 && strings.IndexByte("$@*#?-!({0123456789", p.rest[1]) >= 0 {
			return errExpansion
		}
		p.take(1)
		return nil
	}
	name := found[1] + found[2]
	value, ok := p.values[name]
	if !ok {
		value, ok = p.getenv(name)
	}
	if !ok {
		return errExpansion
	}
	p.value.WriteString(value)
	p.rest = p.rest[len(found[0]):]
	return nil
}
