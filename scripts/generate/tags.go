package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ginseng/scripts/internal/naming"
)

// GoType returns the type in Go: a pointer if the value can be null.
func (f Field) GoType() string {
	if f.Nullable() {
		return "*" + f.kind().goType
	}
	return f.kind().goType
}

// rules returns the validation rules.
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

// Tag returns the tag of the field.
func (f Field) Tag() string {
	tag := `json:"` + f.Name + `"`
	if rules := f.rules(); len(rules) > 0 {
		tag += ` validate:"` + strings.Join(rules, ",") + `"`
	}
	if f.HasDefault() {
		tag += ` default:"` + f.Default + `"`
	}
	if f.kind().tags != "" {
		tag += " " + f.kind().tags
	}
	if f.kind().format != "" {
		tag += ` format:"` + f.kind().format + `"`
	}
	if f.Type == typeEnum {
		tag += ` enums:"` + strings.Join(f.Values, ",") + `"`
	}
	tag += ` example:"` + f.example() + `"`
	var extensions []string
	if f.Type == typeJSON {
		extensions = append(extensions, "x-json=object")
	}
	if f.Nullable() {
		extensions = append(extensions, "x-nullable")
	}
	if extensions != nil {
		tag += ` extensions:"` + strings.Join(extensions, ",") + `"`
	}
	return tag
}

// OptionalTag returns the tag of a field that some responses lack.
func (f Field) OptionalTag() string {
	if f.Nullable() {
		return strings.Replace(f.Tag(), `"x-nullable"`, `"x-nullable,x-omitempty"`, 1)
	}
	return f.Tag() + ` extensions:"x-omitempty"`
}

// Comment says what type and tag do not.
func (f Field) Comment() string {
	var notes []string
	if f.Unique {
		notes = append(notes, "unique")
	}
	if f.Type == typeRef {
		notes = append(notes, "ID of "+withArticle(inWords(f.Target)))
	}
	if f.Type == typeRefs {
		notes = append(notes, "IDs of "+inWords(plural(f.Target)))
	}
	if notes == nil {
		return ""
	}
	return " // " + strings.Join(notes, "; ")
}

// example returns a value for the API document.
func (f Field) example() string {
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
