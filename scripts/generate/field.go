package main

import (
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The types of fields.
const (
	typeString = "string"
	typeText   = "text"
	typeInt    = "int"
	typeFloat  = "float"
	typeBool   = "bool"
	typeTime   = "time"
	typeEmail  = "email"
	typeURL    = "url"
	typeEnum   = "enum"
	typeRef    = "ref"
	typeList   = "[]string"
)

var (
	typeWords     = []string{typeString, typeText, typeInt, typeFloat, typeBool, typeTime, typeEmail, typeURL, typeEnum, typeRef, typeList}
	modifierWords = []string{"required", "unique", "search", "sort", "filter", "min", "max", "default"}
)

// Bounds of what fields hold.
const (
	maxString   = 200
	maxText     = 100_000
	maxURL      = 2048
	maxItems    = 100
	maxInt      = 1<<53 - 1 // what every JSON reader keeps exact
	maxFields   = 100
	maxName     = 50
	leastUnique = 1000 // values that the bounds of a unique field must leave
)

// Field is a field of a resource, as declared.
type Field struct {
	Name     string // camelCase, as on the wire
	Type     string
	Values   []string // of an enum
	Target   string   // of a ref: the name of the resource
	Required bool
	Unique   bool
	Search   bool
	Sort     bool
	Filter   bool
	Min      string // "" is none
	Max      string
	Default  string
	Defaults bool // has a default, be it ""

	at int // its place among the fields
}

// IsText reports whether the field is text whose absence is "".
func (f Field) IsText() bool {
	return f.Type == typeString || f.Type == typeText || f.Type == typeEmail || f.Type == typeURL
}

// Nullable reports whether the field can be null on the wire.
func (f Field) Nullable() bool { return !f.Required && !f.IsText() && f.Type != typeList }

// String is the declaration, in its one form.
func (f Field) String() string {
	parts := []string{f.Name, f.Type}
	switch f.Type {
	case typeEnum:
		parts[1] += "(" + strings.Join(f.Values, ",") + ")"
	case typeRef:
		parts[1] += "(" + f.Target + ")"
	}
	for _, m := range []struct {
		word string
		set  bool
	}{
		{"required", f.Required}, {"unique", f.Unique}, {"search", f.Search}, {"sort", f.Sort}, {"filter", f.Filter},
		{"min=" + f.Min, f.Min != ""}, {"max=" + f.Max, f.Max != ""}, {"default=" + f.Default, f.Defaults},
	} {
		if m.set {
			parts = append(parts, m.word)
		}
	}
	return strings.Join(parts, ":")
}

var (
	camelCase  = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	enumValue  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)
	typePhrase = regexp.MustCompile(`^(\[\]string|[A-Za-z]+)(?:\((.*)\))?$`)
	// plainText is what can stand in a go:generate line and in a struct's tag.
	plainText = regexp.MustCompile("^[^\\x00-\\x1f\"`$\\\\]*$")
)

// parseField reads one declaration. What is wrong with it goes to problems.
func parseField(text string, problems *problems) (f Field) {
	name, rest, _ := strings.Cut(text, ":")
	f = Field{Name: name, Type: typeString}
	bad := func(format string, args ...any) {
		problems.add("field %s: %s", show(name), fmt.Sprintf(format, args...))
	}
	checkFieldName(name, bad)
	if rest == "" {
		if strings.HasSuffix(text, ":") {
			bad("nothing stands after the colon; write name:type, or the name alone for a string")
		}
		return f
	}
	parts := strings.Split(rest, ":")
	parseType(&f, parts[0], bad)
	seen := map[string]bool{}
	for i := 1; i < len(parts); i++ {
		word, value, valued := strings.Cut(parts[i], "=")
		if word == "default" && (f.Type == typeTime || f.Type == typeURL) { // whose values have colons
			for i+1 < len(parts) && !isModifier(parts[i+1]) {
				i++
				value += ":" + parts[i]
			}
		}
		if seen[word] {
			bad("%s stands twice; leave one out", word)
			continue
		}
		seen[word] = true
		f.modify(word, value, valued, bad)
	}
	f.check(bad)
	return f
}

func isModifier(part string) bool {
	word, _, _ := strings.Cut(part, "=")
	return slices.Contains(modifierWords, word)
}

// builtIn are names that every resource or its list uses itself.
var builtIn = map[string]string{
	"id": "is built in", "createdAt": "is built in", "updatedAt": "is built in", "userId": "is built in where there is an owner",
	"version": "is the record's version, which makes its ETag", "access_token": "carries the caller's credential",
	"q": "is a parameter of every list", "page": "is a parameter of every list", "limit": "is a parameter of every list",
	"sort": "is a parameter of every list", "fields": "is a parameter of every list", "after": "is a parameter of every list",
	"count": "is a parameter of every list",
	"view":  "would be View, the method that makes the answer", "meta": "would be Meta, which holds id and version",
}

func checkFieldName(name string, bad func(string, ...any)) {
	for word, why := range builtIn {
		if strings.EqualFold(strings.ReplaceAll(name, "_", ""), strings.ReplaceAll(word, "_", "")) {
			bad("%s; choose another name", why)
			return
		}
	}
	switch {
	case name == "":
		bad("the name is missing; write name:type")
	case len(name) > maxName:
		bad("the name is longer than %d characters; choose a shorter one", maxName)
	case !camelCase.MatchString(name):
		bad("is not camelCase: a small letter, then letters and digits of ASCII, such as %s", suggestCamel(name))
	}
}

// suggestCamel is a good name like a bad one.
func suggestCamel(name string) string {
	var b strings.Builder
	up := false
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9' && b.Len() > 0:
			letter := string(c)
			if b.Len() == 0 {
				letter = strings.ToLower(letter)
			} else if up {
				letter = strings.ToUpper(letter)
			}
			b.WriteString(letter)
			up = false
		default:
			up = true
		}
	}
	if b.Len() == 0 {
		return "firstName"
	}
	return b.String()
}

func parseType(f *Field, text string, bad func(string, ...any)) {
	m := typePhrase.FindStringSubmatch(text)
	word, inner := text, ""
	if m != nil {
		word, inner = m[1], m[2]
	}
	switch {
	case m == nil || !slices.Contains(typeWords, word):
		hint := "use one of " + strings.Join(typeWords, ", ")
		if near := nearest(word, typeWords); near != "" {
			hint = "did you mean " + near + "?"
		} else if slices.Contains(modifierWords, word) || isModifier(text) {
			hint = "the type comes first, as in " + f.Name + ":string:" + text
		}
		bad("%s is no type; %s", show(text), hint)
		return
	case word == typeEnum:
		f.Values = strings.Split(inner, ",")
		for i, value := range f.Values {
			if !enumValue.MatchString(value) {
				bad("an enum's values are letters, digits, - and _, in brackets: enum(draft,published)")
				break
			}
			if slices.Contains(f.Values[:i], value) {
				bad("the enum names %s twice; leave one out", value)
			}
		}
	case word == typeRef:
		f.Target = inner
		if inner == "" {
			bad("a ref names the resource that it refers to, in brackets: ref(article)")
		}
	case strings.HasSuffix(text, ")"):
		bad("%s takes no brackets; only enum(…) and ref(…) do", word)
	}
	f.Type = word
}

func (f *Field) modify(word, value string, valued bool, bad func(string, ...any)) {
	takesValue := word == "min" || word == "max" || word == "default"
	switch {
	case !slices.Contains(modifierWords, word):
		hint := "use some of " + strings.Join(modifierWords, ", ")
		if near := nearest(word, modifierWords); near != "" {
			hint = "did you mean " + near + "?"
		}
		bad("%s is no modifier; %s", show(word), hint)
		return
	case valued && !takesValue:
		bad("%s takes no value; write %s alone", word, word)
		return
	case !valued && takesValue, value == "" && (word == "min" || word == "max"):
		bad("%s needs a value; write %s=…", word, word)
		return
	}
	switch word {
	case "required":
		f.Required = true
	case "unique":
		f.Unique = true
	case "search":
		f.Search = true
	case "sort":
		f.Sort = true
	case "filter":
		f.Filter = true
	case "min":
		f.Min = value
	case "max":
		f.Max = value
	case "default":
		f.Default, f.Defaults = value, true
	}
}

// check looks for modifiers that contradict each other or the type.
func (f *Field) check(bad func(string, ...any)) {
	switch {
	case f.Search && !f.IsText():
		bad("search looks for words, and %s has none; leave search out", f.Type)
	case f.Sort && (f.Type == typeText || f.Type == typeList):
		bad("sort is not for %s: no index could hold it; leave sort out, or make it a string", f.Type)
	case f.Filter && (f.Type == typeText || f.Type == typeList):
		bad("filter is not for %s: no index could hold it; leave filter out, or make it a string", f.Type)
	}
	if f.Required && f.Defaults {
		bad("required and default contradict each other: a default is for a field that may be absent; leave one out")
	}
	if f.Unique {
		switch f.Type {
		case typeText, typeList, typeFloat:
			bad("unique is not for %s: it has no value that one could look up; leave unique out", f.Type)
		case typeBool, typeEnum:
			bad("unique is not for %s: there could be no more records than it has values; leave unique out", f.Type)
		}
		if f.Defaults {
			bad("unique and default contradict each other: the second record would have the first one's value; leave one out")
		}
	}
	f.checkBounds(bad)
	if f.Defaults {
		f.checkDefault(bad)
	}
}

// lengths reports whether min and max are lengths.
func (f Field) lengths() bool {
	return f.Type == typeString || f.Type == typeText || f.Type == typeList
}

func (f *Field) checkBounds(bad func(string, ...any)) {
	if f.Min == "" && f.Max == "" {
		return
	}
	var low, high, most float64
	switch {
	case f.lengths():
		most = float64(map[string]int{typeString: maxString, typeText: maxText, typeList: maxItems}[f.Type])
		low, high = 0, most
	case f.Type == typeInt:
		most = maxInt
		low, high = -maxInt, maxInt
	case f.Type == typeFloat:
		most = math.MaxFloat64
		low, high = -most, most
	default:
		bad("min and max are for string, text, []string, int and float; leave them out of %s", f.Type)
		return
	}
	ok := f.bound("min", f.Min, &low, bad)
	ok = f.bound("max", f.Max, &high, bad) && ok
	if !ok {
		return
	}
	switch values := high - low + 1; {
	case low > high:
		bad("min=%s is above max=%s; swap them", number(low), number(high))
	case f.lengths() && high > most:
		bad("max=%s is above %s, the most that %s holds; %s", f.Max, number(most), f.Type, map[string]string{
			typeString: "make it smaller, or the type text", typeText: "make it smaller", typeList: "make it smaller",
		}[f.Type])
	case f.lengths() && high < 1:
		bad("max=%s leaves nothing to write; make it larger", f.Max)
	case f.Type == typeInt && (low < -maxInt || high > maxInt):
		bad("an int is within ±%d, as JSON keeps it exact; choose nearer bounds", maxInt)
	case f.Unique && f.Type == typeInt && values < leastUnique, f.Unique && f.Type == typeString && high < 2:
		bad("unique and these bounds contradict each other: they leave fewer than %d values; leave one out", leastUnique)
	}
}

// bound reads a bound.
func (f *Field) bound(word, text string, into *float64, bad func(string, ...any)) bool {
	if text == "" {
		return true
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || f.Type != typeFloat && !isWhole(text) || f.lengths() && x < 0 {
		bad("%s=%s is no %s; write %s=10", word, text, map[bool]string{true: "length", false: "number"}[f.lengths()], word)
		return false
	}
	*into = x
	if f.Type == typeFloat {
		text = number(x)
	}
	if word == "min" {
		f.Min = text
	} else {
		f.Max = text
	}
	return true
}

func isWhole(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (f *Field) checkDefault(bad func(string, ...any)) {
	value := f.Default
	wrong := func(expected string) { bad("default=%s is no %s", value, expected) }
	switch f.Type {
	case typeRef, typeList:
		bad("a default is not for %s; leave it out", f.Type)
	case typeString, typeText:
		length := len([]rune(value))
		low, _ := strconv.Atoi(f.Min)
		high, err := strconv.Atoi(f.Max)
		if err != nil {
			high = map[string]int{typeString: maxString, typeText: maxText}[f.Type]
		}
		switch {
		case value == "" || strings.TrimSpace(value) != value:
			bad("a default of text has no blank at its ends, and is not empty: an absent text is \"\" anyway")
		case !plainText.MatchString(value):
			bad("a default of text has no quotes, backslashes, dollars or line breaks; write it into the code afterwards")
		case length < low || length > high:
			bad("default=%s has %d characters, which is not within min and max", value, length)
		}
	case typeEmail:
		if a, err := mail.ParseAddress(value); err != nil || a.Address != value || !plainText.MatchString(value) {
			wrong("e-mail address")
		}
	case typeURL:
		if u, err := url.Parse(value); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !plainText.MatchString(value) || strings.Contains(value, " ") {
			wrong("address that begins with http:// or https://")
		}
	case typeInt:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || !isWhole(value) || n > maxInt || n < -maxInt {
			wrong(fmt.Sprintf("whole number within ±%d", maxInt))
			return
		}
		f.within(float64(n), bad)
	case typeFloat:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			wrong("number")
			return
		}
		f.Default = number(x)
		f.within(x, bad)
	case typeBool:
		if value != "true" && value != "false" {
			bad("default=%s is neither true nor false", value)
		}
	case typeTime:
		t, err := time.Parse(time.RFC3339, value)
		if err != nil || t.UTC().Year() > 9999 || t.UTC().Year() < 0 {
			wrong("time such as 2026-01-02T15:04:05Z")
			return
		}
		f.Default = t.UTC().Truncate(time.Millisecond).Format(timeLayout)
	case typeEnum:
		if !slices.Contains(f.Values, value) {
			hint := ""
			if near := nearest(value, f.Values); near != "" {
				hint = "; did you mean " + near + "?"
			}
			bad("default=%s is none of the enum's values%s", value, hint)
		}
	}
}

const timeLayout = "2006-01-02T15:04:05.000Z"

func (f *Field) within(x float64, bad func(string, ...any)) {
	low, errLow := strconv.ParseFloat(f.Min, 64)
	high, errHigh := strconv.ParseFloat(f.Max, 64)
	if errLow == nil && x < low || errHigh == nil && x > high {
		bad("default=%s is not within min and max", f.Default)
	}
}

// show is a caller's word in a message: quoted where it is not plain.
func show(word string) string {
	if camelCase.MatchString(word) {
		return word
	}
	return strconv.QuoteToASCII(word)
}
