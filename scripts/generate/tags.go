package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/ginseng/scripts/internal/naming"
)

// GoType returns the Go type of the field: a pointer if the value can be null.
func (f Field) GoType() string {
	if f.Nullable() {
		return "*" + f.kind().goType
	}
	return f.kind().goType
}

// rules returns the rules of the field's validate tag.
func (f Field) rules() (out []string) {
	k := f.kind()
	if f.Required {
		out = append(out, "required")
	}
	if f.Min != "" && (k.isNumber || f.MinLength() > 1) {
		out = append(out, k.bound+"min="+f.Min)
	}
	if k.maxLength > 0 {
		out = append(out, fmt.Sprint("max=", f.MaxLength()))
	} else if f.Max != "" {
		out = append(out, k.bound+"max="+f.Max)
	}
	if k.rules != nil {
		out = append(out, k.rules(f)...)
	}
	return out
}

// Tag returns the struct tag of the field.
func (f Field) Tag() string {
	k, extensions := f.kind(), []string(nil)
	if k.extension != "" {
		extensions = append(extensions, k.extension)
	}
	if f.Nullable() {
		extensions = append(extensions, "x-nullable")
	}
	out := ""
	for _, tag := range [][2]string{
		{"json", f.Name}, {"validate", strings.Join(f.rules(), ",")}, {"default", f.Default}, {"readonly", map[bool]string{true: "true"}[f.ReadOnly]}, {"swaggertype", k.swaggerType}, {"maxLength", k.longest},
		{"format", k.format}, {"enums", strings.Join(f.Values, ",")}, {"example", f.example()}, {"extensions", strings.Join(extensions, ",")}, {"doc", f.Doc},
	} {
		if tag[1] != "" {
			out += " " + tag[0] + `:"` + tag[1] + `"`
		}
	}
	return out[1:]
}

// OptionalTag returns the struct tag of the field in a response type whose fields are optional.
func (f Field) OptionalTag() string {
	if f.Nullable() {
		return strings.Replace(f.Tag(), `"x-nullable"`, `"x-nullable,x-omitempty"`, 1)
	}
	return f.Tag() + ` extensions:"x-omitempty"`
}

// Comment returns a trailing comment with what the type and the tag do not say; "" if there is nothing to add.
func (f Field) Comment() string {
	var notes []string
	if f.Doc != "" {
		notes = append(notes, strings.TrimSuffix(f.Doc, "."))
	}
	if f.Unique {
		notes = append(notes, "unique"+map[string]string{"global": " among all records"}[f.Among])
	}
	if note := f.kind().note; note != nil {
		notes = append(notes, note(f))
	}
	if notes == nil {
		return ""
	}
	return " // " + strings.Join(notes, "; ")
}

// example returns the example of the field in the API document.
func (f Field) example() string {
	if f.HasDefault() {
		return f.Default
	}
	return f.kind().example(f)
}

func (f Field) exampleText() string {
	if text := "Example " + inWords(naming.Kebab(f.Name, "value")); len(text) >= f.MinLength() && len(text) <= f.MaxLength() {
		return text
	}
	word := f.exampleWord()
	if f.index >= len(exampleWords) {
		word += strconv.Itoa(f.index)
	}
	length := min(max(f.MinLength(), len(word)), f.MaxLength())
	return strings.Repeat(word+"-", length/len(word)+1)[:length]
}

var exampleWords = []string{"amber", "daisy", "garlic", "jasmine", "maple", "poppy", "saffron", "violet"}

// exampleWord returns the word in the examples of the field.
func (f Field) exampleWord() string { return exampleWords[f.index%len(exampleWords)] }

// exampleItems returns a list with a first item and, if max= allows it, at least a second item. item returns item i, which begins
// at 2.
func (f Field) exampleItems(first string, item func(i int) string) string {
	out := []string{first}
	for i := 2; i <= min(max(2, f.MinLength()), f.MaxLength()); i++ {
		out = append(out, item(i))
	}
	return strings.Join(out, ",")
}

// exampleNumber returns a number between min= and max=.
func (f Field) exampleNumber() string {
	low, high := f.bounds()
	switch hasLow, hasHigh := f.Min != "", f.Max != ""; {
	case hasLow && hasHigh && f.kind().isInteger:
		return number(math.Floor(low + (high-low)/2))
	case hasLow && hasHigh:
		return number(math.Round((low+(high-low)/2)*1e6) / 1e6)
	case hasLow:
		return number(low + 1)
	case hasHigh:
		return number(high - 1)
	}
	return "20"
}
