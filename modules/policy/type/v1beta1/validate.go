package v1beta1

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a selector. The lengths are those of Kubernetes' label keys and values, in bytes.
const (
	MaxLabels = 4096
	MaxPrefix = 253 // of a key, before its slash
	MaxName   = 63  // of a key after its slash, and of a value
)

// Codes of violations.
const (
	CodeRequired  = "required"   // there is no label
	CodeMax       = "max"        // there are more than MaxLabels
	CodeFormat    = "format"     // a character, or the shape of the input, is not allowed
	CodeMaxLength = "max_length" // a text is longer than MaxPrefix or MaxName
	CodeWildcard  = "wildcard"   // a text holds a '*', which means nothing here
)

// InvalidError lists everything that is wrong with a selector.
type InvalidError struct {
	Violations []Violation // sorted by field, then by label key, code and message; never empty
}

// Violation is one thing that is wrong with a selector.
type Violation struct {
	Path    string // where: matchLabels["a b"], matchLabels, the name or number of an unknown field, or "" for the whole
	Code    string // which rule: one of the codes
	Message string // the rule as a sentence, without the values at fault
}

// Error names every path with its message.
func (e *InvalidError) Error() string {
	var text strings.Builder
	text.WriteString("invalid workload selector")
	for i, v := range e.Violations {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		text.WriteString(separator)
		if v.Path != "" {
			text.WriteString(v.Path + ": ")
		}
		text.WriteString(v.Message)
	}
	return text.String()
}

// Under returns the violations as seen from a message that holds the selector in a field: every path begins with the
// field's name, as in selector.matchLabels["a b"].
func (e *InvalidError) Under(field string) []Violation {
	moved := slices.Clone(e.Violations)
	for i := range moved {
		if moved[i].Path == "" {
			moved[i].Path = field
		} else {
			moved[i].Path = field + "." + moved[i].Path
		}
	}
	return moved
}

// Validate returns nil for a good selector, otherwise an *InvalidError with all violations. A nil selector has no
// labels. Unknown fields, which protobuf keeps when it reads a message, are violations: a criterion that is not
// understood must not widen the match.
func Validate(selector *WorkloadSelector) error {
	var f faults
	if unknown := selector.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		f.inField("", CodeFormat, "The selector has unknown fields.")
	}
	f.labels(selector.GetMatchLabels())
	return f.err()
}

// faults gathers violations.
type faults []fault

// fault is a Violation with what it is sorted by.
type fault struct {
	field string
	key   string
	Violation
}

// inField records a violation by a field of the message; "" is the message itself.
func (f *faults) inField(field, code, message string) {
	*f = append(*f, fault{field: field, Violation: Violation{field, code, message}})
}

// inLabel records a violation by the label with the key.
func (f *faults) inLabel(key, code, message string) {
	path := "matchLabels[" + strconv.Quote(key) + "]"
	*f = append(*f, fault{field: "matchLabels", key: key, Violation: Violation{path, code, message}})
}

// err sorts the violations into the error of the package, nil if there are none.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortFunc(f, func(a, b fault) int {
		return cmp.Or(
			strings.Compare(a.field, b.field), strings.Compare(a.key, b.key), strings.Compare(a.Path, b.Path),
			strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
	violations := make([]Violation, 0, len(f))
	for _, fault := range slices.Compact(f) {
		violations = append(violations, fault.Violation)
	}
	return &InvalidError{violations}
}

// selector returns the selector with these labels, which have been checked.
func (f faults) selector(labels map[string]string) (*WorkloadSelector, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return &WorkloadSelector{MatchLabels: labels}, nil
}

// labels checks the field match_labels.
func (f *faults) labels(labels map[string]string) {
	if len(labels) == 0 {
		f.inField("matchLabels", CodeRequired, "At least one label is required.")
	}
	if len(labels) > MaxLabels {
		f.inField("matchLabels", CodeMax, fmt.Sprintf("A selector has at most %d labels.", MaxLabels))
	}
	for key, value := range labels {
		f.key(key)
		f.value(key, value)
	}
}

// key checks a key: [prefix "/"] name.
func (f *faults) key(key string) {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	if len(prefix) > MaxPrefix {
		f.inLabel(key, CodeMaxLength, fmt.Sprintf("The prefix of a key has at most %d bytes.", MaxPrefix))
	}
	if len(name) > MaxName {
		f.inLabel(key, CodeMaxLength, fmt.Sprintf("The name in a key has at most %d bytes.", MaxName))
	}
	if isName(name) && (!prefixed || isSubdomain(prefix)) {
		return
	}
	if strings.Contains(key, "*") {
		f.inLabel(key, CodeWildcard, "A key is matched as a whole: wildcards are not supported.")
		return
	}
	f.inLabel(key, CodeFormat, "A key is a name, or a lower-case DNS subdomain, a slash and a name. A name holds ASCII "+
		"letters, digits, '-', '_' and '.', and begins and ends with a letter or digit.")
}

// value checks the value of the label with the key.
func (f *faults) value(key, value string) {
	if len(value) > MaxName {
		f.inLabel(key, CodeMaxLength, fmt.Sprintf("A value has at most %d bytes.", MaxName))
	}
	if value == "" || isName(value) {
		return
	}
	if strings.Contains(value, "*") {
		f.inLabel(key, CodeWildcard, "A value is matched as a whole: wildcards are not supported.")
		return
	}
	f.inLabel(key, CodeFormat, "A value is empty, or holds ASCII letters, digits, '-', '_' and '.', and begins and ends "+
		"with a letter or digit.")
}

// isName reports whether s, of any length, has the characters of a name: alphanumeric at both ends, inside also -_.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && isAlphanumeric(s[0]) && isAlphanumeric(s[len(s)-1])
}

// isSubdomain reports whether s, of any length, is a lower-case DNS subdomain (RFC 1123): parts of letters, digits and
// inner hyphens, with dots between them.
func isSubdomain(s string) bool {
	last := byte('.')
	for i := range len(s) {
		switch c := s[i]; {
		case isAlphanumeric(c) && (c < 'A' || c > 'Z'):
		case c == '-' && last != '.':
		case c == '.' && last != '.' && last != '-':
		default:
			return false
		}
		last = s[i]
	}
	return last != '.' && last != '-'
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
