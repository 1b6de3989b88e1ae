package main

import (
	"fmt"
	"slices"
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
	if f.Required {
		out = append(out, "required")
	}
	length, least, greatest := f.kind().maxLength > 0, "min=", "max="
	if f.Type == typeDecimal {
		least, greatest = "decmin=", "decmax="
	}
	if f.Min != "" && (!length || f.MinLength() > 1) {
		out = append(out, least+f.Min)
	}
	if length {
		out = append(out, fmt.Sprint("max=", f.MaxLength()))
	} else if f.Max != "" {
		out = append(out, greatest+f.Max)
	}
	switch f.Type {
	case typeEnum:
		out = append(out, "oneof="+strings.Join(f.Values, " "))
	case typeStrings:
		out = append(out, "dive", fmt.Sprint("max=", maxString))
	}
	return append(out, f.kind().rules...)
}

// Tag returns the struct tag of the field.
func (f Field) Tag() string {
	k, extensions := f.kind(), []string(nil)
	if f.Type == typeJSON {
		extensions = append(extensions, "x-json=object")
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
	note := map[string]string{
		typeRef: "ID of " + withArticle(inWords(f.Target)), typeRefs: "IDs of " + inWords(plural(f.Target)),
	}[f.Type]
	var notes []string
	if f.Doc != "" {
		notes = append(notes, strings.TrimSuffix(f.Doc, "."))
	}
	if f.Unique {
		notes = append(notes, "unique"+map[string]string{"global": " among all records"}[f.Among])
	}
	if note != "" {
		notes = append(notes, note)
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
	switch f.Type {
	case typeString, typeText:
		text := "Example " + inWords(naming.Kebab(f.Name, "value"))
		if len(text) >= f.MinLength() && len(text) <= f.MaxLength() {
			return text
		}
	case typeInt, typeFloat, typeDecimal:
		return strconv.FormatFloat(f.number(1), 'f', -1, 64)
	}
	if text := f.kind().example; f.Type == typeRefs {
		return strings.Join(slices.Repeat([]string{text}, max(1, f.MinLength())), ",")
	} else if text != "" {
		return text
	}
	return f.text(0)
}
