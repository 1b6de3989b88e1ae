package v1beta1

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of a selector. Lengths are in bytes, as for the label keys and values of Kubernetes.
const (
	MaxLabels = 4096
	MaxPrefix = 253 // length of the part of a key before the slash
	MaxName   = 63  // length of a key without its prefix, and of a value
)

// Codes of violations.
const (
	CodeRequired  = "required"   // the selector has no labels
	CodeMax       = "max"        // the selector has more than MaxLabels labels
	CodeFormat    = "format"     // invalid syntax or type, unknown field, or repeated field or key
	CodeMaxLength = "max_length" // longer than MaxPrefix or MaxName
	CodeWildcard  = "wildcard"   // a '*', which is not supported
)

// InvalidError lists all violations of a selector.
type InvalidError struct {
	Violations []Violation // sorted by field, then by label key, code and message; never empty
}

// Violation is one broken rule.
type Violation struct {
	Path    string // matchLabels["a b"], matchLabels, the name or number of an unknown field, or "" for the whole selector
	Code    string // one of the codes above
	Message string // the rule as a sentence, without the invalid value
}

// Error returns every path with its message.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = strings.TrimPrefix(v.Path+": "+v.Message, ": ")
	}
	return "invalid workload selector: " + strings.Join(lines, "; ")
}

// Under returns the violations with each path prefixed by field, the name of the field that contains the selector:
// selector.matchLabels["a b"].
func (e *InvalidError) Under(field string) []Violation {
	out := slices.Clone(e.Violations)
	for i := range out {
		out[i].Path = strings.TrimSuffix(field+"."+out[i].Path, ".")
	}
	return out
}

// Validate returns an *InvalidError with all violations, or nil. A nil selector is invalid, because it has no labels.
// Unknown fields, which protobuf keeps when it reads a message, are violations: ignoring a criterion would widen the
// match.
func Validate(selector *WorkloadSelector) error {
	var v violations
	if unknown := selector.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		v.addField("", CodeFormat, "The selector has unknown fields.")
	}
	v.checkLabels(selector.GetMatchLabels())
	return v.err()
}

type violations []violation

// violation is a Violation with its sort keys.
type violation struct {
	field string
	key   string
	Violation
}

// addField adds a violation in a field of the message. If field is "", the violation concerns the whole message.
func (v *violations) addField(field, code, message string) {
	*v = append(*v, violation{field: field, Violation: Violation{field, code, message}})
}

// addLabel adds a violation in the label with the key.
func (v *violations) addLabel(key, code, message string) {
	path := "matchLabels[" + strconv.Quote(key) + "]"
	*v = append(*v, violation{field: "matchLabels", key: key, Violation: Violation{path, code, message}})
}

// err returns the sorted violations as an *InvalidError, or nil if there are none.
func (v violations) err() error {
	if len(v) == 0 {
		return nil
	}
	slices.SortFunc(v, func(a, b violation) int {
		return cmp.Or(
			strings.Compare(a.field, b.field), strings.Compare(a.key, b.key), strings.Compare(a.Path, b.Path),
			strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
	out := make([]Violation, 0, len(v))
	for _, violation := range slices.Compact(v) {
		out = append(out, violation.Violation)
	}
	return &InvalidError{out}
}

// selector returns a selector with the checked labels, or the violations.
func (v violations) selector(labels map[string]string) (*WorkloadSelector, error) {
	if err := v.err(); err != nil {
		return nil, err
	}
	return &WorkloadSelector{MatchLabels: labels}, nil
}

func (v *violations) checkLabels(labels map[string]string) {
	if len(labels) == 0 {
		v.addField("matchLabels", CodeRequired, "At least one label is required.")
	}
	if len(labels) > MaxLabels {
		v.addField("matchLabels", CodeMax, fmt.Sprintf("A selector can have at most %d labels.", MaxLabels))
	}
	for key, value := range labels {
		v.checkKey(key)
		v.checkValue(key, value)
	}
}

// checkKey checks a key, which has the form NAME or PREFIX/NAME.
func (v *violations) checkKey(key string) {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	if len(prefix) > MaxPrefix {
		v.addLabel(key, CodeMaxLength, fmt.Sprintf("The prefix of a key can have at most %d bytes.", MaxPrefix))
	}
	if len(name) > MaxName {
		v.addLabel(key, CodeMaxLength, fmt.Sprintf("The name in a key can have at most %d bytes.", MaxName))
	}
	if isName(name) && (!prefixed || isSubdomain(prefix)) {
		return
	}
	if strings.Contains(key, "*") {
		v.addLabel(key, CodeWildcard, "A key cannot contain wildcards.")
		return
	}
	v.addLabel(key, CodeFormat, "A key has the form NAME or PREFIX/NAME. PREFIX is a lower-case DNS subdomain. NAME consists of "+
		"ASCII letters, digits, '-', '_' and '.', and begins and ends with a letter or digit.")
}

func (v *violations) checkValue(key, value string) {
	if len(value) > MaxName {
		v.addLabel(key, CodeMaxLength, fmt.Sprintf("A value can have at most %d bytes.", MaxName))
	}
	if value == "" || isName(value) {
		return
	}
	if strings.Contains(value, "*") {
		v.addLabel(key, CodeWildcard, "A value cannot contain wildcards.")
		return
	}
	v.addLabel(key, CodeFormat, "A value is empty, or consists of ASCII letters, digits, '-', '_' and '.', and begins and "+
		"ends with a letter or digit.")
}

// isName reports whether s consists of ASCII letters, digits, '-', '_' and '.', and begins and ends with a letter or
// digit. isName does not check the length.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && isAlphanumeric(s[0]) && isAlphanumeric(s[len(s)-1])
}

// isSubdomain reports whether s is a lower-case DNS subdomain (RFC 1123): labels of lower-case letters, digits and
// inner hyphens, separated by dots. isSubdomain does not check the length.
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
