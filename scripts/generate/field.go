package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.com/ginseng/scripts/internal/naming"
)

// Field is a declared field.
type Field struct {
	Name     string // in camelCase, as in JSON
	Type     string
	Values   []string // values of an enum
	Target   string   // name of the resource that a ref refers to
	Required bool
	Unique   bool   // among the records of the owner with --own, otherwise among all records
	Among    string // "global" if a unique field is unique among all records; "" otherwise
	Search   bool
	Sort     bool
	Filter   bool
	ReadOnly bool   // only code of the service sets the field
	Title    string // "true" if the field names a record in pages and pickers; "" otherwise
	Min      string // "" is no minimum
	Max      string // "" is no maximum
	Default  string // "" is no default
	Doc      string // describes the field in the API document and in error messages; "" is no description
	OnDelete string // rule of a ref when the referenced record is deleted; "" is restrict; see checkOnDelete
	Types    string // the media types of a file, separated by commas; "" is any type

	// Backfill is the value that stored records get when the field becomes required; it is not part of the declaration.
	Backfill string

	index int // position among the fields of the resource
}

func (f Field) kind() kind { return kinds()[f.Type] }

// IsText reports whether an absent value is "". If the field is unique, several records can lack a value, but "" would be a
// duplicate.
func (f Field) IsText() bool { return f.kind().neverNull && !f.Unique }

// IsList reports whether the field has a list of values.
func (f Field) IsList() bool { return f.kind().isList }

// Nullable reports whether the field can be null in a response.
func (f Field) Nullable() bool {
	return !f.Required && !f.HasDefault() && !f.IsText() && !f.IsList()
}

// modifier is a modifier of a field. If flag is nil, the modifier needs a value; if value is nil, it has none.
type modifier struct {
	name  string
	flag  *bool   // the field that the modifier sets to true
	value *string // the field that the modifier sets to its value
}

// modifiers returns all modifiers that a field can have, in their canonical order.
func (f *Field) modifiers() []modifier {
	return []modifier{
		{"required", &f.Required, nil}, {"unique", &f.Unique, &f.Among}, {"search", &f.Search, nil}, {"sort", &f.Sort, nil}, {"filter", &f.Filter, nil},
		{"readonly", &f.ReadOnly, nil}, {"title", nil, &f.Title}, {"min", nil, &f.Min}, {"max", nil, &f.Max}, {"default", nil, &f.Default}, {"types", nil, &f.Types}, {"onDelete", nil, &f.OnDelete}, {"doc", nil, &f.Doc},
	}
}

var modifierNames = func() (names []string) {
	for _, m := range new(Field).modifiers() {
		names = append(names, m.name)
	}
	return append(names, "backfill")
}()

// String returns the declaration in its canonical form.
func (f Field) String() string {
	text := f.Name + ":" + f.Type
	if parameter := f.kind().parameter; parameter != nil {
		text += "(" + parameter(f) + ")"
	}
	for _, m := range f.modifiers() {
		hasValue := m.value != nil && *m.value != ""
		if hasValue || m.flag != nil && *m.flag {
			text += ":" + m.name
		}
		if hasValue {
			text += "=" + *m.value
		}
	}
	return text
}

// HasDefault reports whether the field has a default.
func (f Field) HasDefault() bool { return f.Default != "" }

var (
	camelCase  = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	enumValue  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)
	typePhrase = regexp.MustCompile(`^((?:\[\])?[A-Za-z]+)(?:\((.*)\))?$`)
)

// parseFields parses the declarations of all fields, and adds every mistake to wrong.
func parseFields(declarations []string, wrong *mistakes) (out fieldList) {
	switch n := len(declarations); {
	case n == 0:
		wrong.Add("fields: none is given; write at least one after the name, such as title:string:required")
	case n > maxFields:
		wrong.Add("fields: %d are given, at most %d are possible", n, maxFields)
		return nil
	}
	for _, declaration := range declarations {
		f := parseField(declaration, wrong)
		if f.Backfill != "" {
			wrong.Add("field %s: backfill is for --add and --change, because a new resource has no records", quote(f.Name))
		}
		switch i := slices.IndexFunc(out, func(other Field) bool { return strings.EqualFold(other.Name, f.Name) }); {
		case i < 0:
			f.index = len(out)
			out = append(out, f)
		case out[i].Name == f.Name:
			wrong.Add("field %s: is given twice", quote(f.Name))
		default:
			wrong.Add("field %s: differs from %s only in upper and lower case", quote(f.Name), quote(out[i].Name))
		}
	}
	return out
}

// parseField parses one declaration, and adds every mistake to wrong.
func parseField(text string, wrong *mistakes) Field {
	name, rest, colon := strings.Cut(text, ":")
	f := Field{Name: name, Type: typeString}
	bad := func(format string, args ...any) { wrong.Add("field %s: %s", quote(name), fmt.Sprintf(format, args...)) }
	checkFieldName(name, bad)
	if !colon {
		return f
	}
	parts := strings.Split(rest, ":")
	f.parseType(parts[0], bad)
	seen := map[string]bool{}
	for i := 1; i < len(parts); i++ {
		word, value, hasValue := strings.Cut(parts[i], "=")
		if word == "doc" || (word == "default" || word == "backfill") && f.kind().hasColons {
			for i+1 < len(parts) && !isModifier(parts[i+1]) {
				i++
				value += ":" + parts[i]
			}
		}
		if seen[word] {
			bad("%s is given twice", word)
			continue
		}
		seen[word] = true
		f.parseModifier(word, value, hasValue, bad)
	}
	f.check(bad)
	return f
}

func isModifier(part string) bool {
	word, _, _ := strings.Cut(part, "=")
	return slices.Contains(modifierNames, word)
}

// reservedFields has the names that every resource or list uses, in lower case, with the reason.
var reservedFields = map[string]string{
	"id": "is a field of every resource", "createdat": "is a field of every resource", "updatedat": "is a field of every resource",
	"userid": "is the owner's id", "version": "is the record's version", "accesstoken": "is a credential",
	"q": "is a list parameter", "page": "is a list parameter", "limit": "is a list parameter", "sort": "is a list parameter",
	"fields": "is a list parameter", "format": "is a list parameter", "bom": "is a list parameter", "after": "is a list parameter", "count": "is a list parameter",
	"expand": "is a list parameter", "etags": "is a list parameter", "etag": "is the ETag of a record in lists and feeds", "view": "is a method of every resource", "meta": "is an embedded struct of every resource",
}

// checkFieldName calls bad with the reason if the name is invalid.
func checkFieldName(name string, bad func(string, ...any)) {
	reason := reservedFields[strings.ToLower(strings.ReplaceAll(name, "_", ""))]
	switch {
	case reason != "":
		bad("%s; choose another name", reason)
	case name == "":
		bad("the name is missing; write name:type")
	case len(name) > maxName:
		bad("has more than %d characters; choose a shorter name", maxName)
	case !camelCase.MatchString(name):
		bad("is not in camelCase; write %s", suggestCamel(name))
	}
}

func (f *Field) parseType(text string, bad func(string, ...any)) {
	m := typePhrase.FindStringSubmatch(text)
	name, inner := text, ""
	if m != nil {
		name, inner = m[1], m[2]
	}
	k, known := kinds()[name]
	switch {
	case text == "":
		bad("the type is missing; write name:type")
		return
	case isModifier(text):
		bad("the type comes first; write %s:string:%s", f.Name, text)
		return
	case m == nil || !known:
		bad("unknown type %s; %s", quote(text), naming.Suggest(name, typeNames()))
		return
	case k.parse != nil:
		f.Type = name
		k.parse(f, inner, bad)
	case strings.HasSuffix(text, ")"):
		bad("%s has no parameters; only enum(…) and ref(…) have", name)
	}
	f.Type = name
}

// parseValues parses the values of an enum.
func (f *Field) parseValues(text string, bad reporter) {
	f.Values = strings.Split(text, ",")
	for i, value := range f.Values {
		if !enumValue.MatchString(value) {
			bad("values of an enum are letters, digits, - and _; write enum(draft,published)")
			break
		}
		if slices.Contains(f.Values[:i], value) {
			bad("the enum has %s twice", value)
		}
	}
}

// parseTarget parses the name of the resource that a reference refers to.
func (f *Field) parseTarget(name string, bad reporter) {
	if f.Target = name; name == "" {
		bad("the resource is missing; write %s(article)", f.Type)
	}
}

func (f *Field) parseModifier(word, value string, hasValue bool, bad func(string, ...any)) {
	modifiers := f.modifiers()
	i := slices.IndexFunc(modifiers, func(m modifier) bool { return m.name == word })
	switch {
	case word == "backfill" && value != "":
		f.Backfill = value
	case word == "backfill":
		bad("backfill needs a value; write backfill=…")
	case i < 0:
		bad("unknown modifier %s; %s", quote(word), naming.Suggest(word, modifierNames))
	case modifiers[i].value == nil && hasValue:
		bad("%s has no value; write %s", word, word)
	case (modifiers[i].flag == nil || hasValue) && value == "":
		bad("%s needs a value; write %s=…", word, word)
	default:
		if modifiers[i].flag != nil {
			*modifiers[i].flag = true
		}
		if hasValue {
			*modifiers[i].value = value
		}
	}
}

// quote returns a word of the command line for a message, with quotes unless the word is in camelCase or kebab-case. It escapes
// words with letters that are not Latin, because these can look like Latin letters.
func quote(word string) string {
	if camelCase.MatchString(word) || kebabCase.MatchString(word) {
		return word
	}
	if strings.ContainsFunc(word, func(c rune) bool { return c > unicode.MaxASCII && !unicode.Is(unicode.Latin, c) }) {
		return strconv.QuoteToASCII(word)
	}
	return strconv.Quote(word)
}
