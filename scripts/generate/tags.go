package main

import (
	"fmt"
	"strconv"
	"strings"
)

// rules returns the validation rules of a value that is given.
func (f Field) rules() (out []string) {
	switch f.Type {
	case typeEmail:
		return []string{"maxbytes=254", "email"}
	case typeURL:
		return []string{"max=" + strconv.Itoa(maxURL), "http_url"}
	case typeEnum:
		return []string{"oneof=" + strings.Join(f.Values, " ")}
	}
	length := f.kind().maxLength > 0
	if f.Min != "" && (!length || f.MinLength() > 1) {
		out = append(out, "min="+f.Min)
	}
	if length {
		out = append(out, fmt.Sprint("max=", f.MaxLength()))
	} else if f.Max != "" {
		out = append(out, "max="+f.Max)
	}
	if f.IsList() {
		out = append(out, "dive", fmt.Sprint("max=", maxString))
	}
	return out
}

// emptyIsValid reports whether the rules accept "" and an empty list.
func (f Field) emptyIsValid() bool { return f.kind().maxLength > 0 && f.MinLength() <= 1 }

// isEmptyable reports whether the zero value of the Go type means that the value is absent.
func (f Field) isEmptyable() bool { return f.IsString() || f.IsList() }

// CreateTag returns the tag in CreateInput.
func (f Field) CreateTag() string {
	rules := f.rules()
	switch {
	case f.Required && f.IsList() && f.MinLength() <= 1:
		rules = append([]string{"required", "min=1"}, rules...)
	case f.Required:
		rules = append([]string{"required"}, rules...)
	case rules == nil, f.emptyIsValid() && !f.HasDefault():
	case f.isEmptyable():
		rules = append([]string{"omitzero"}, rules...)
	default:
		rules = append([]string{"omitnil"}, rules...)
	}
	tag := f.tag("", rules)
	if f.HasDefault() {
		tag += ` default:"` + f.Default + `"`
	}
	return tag + f.exampleTag(0)
}

// UpdateTag returns the tag in UpdateInput.
func (f Field) UpdateTag() string {
	rules := f.rules()
	switch {
	case f.Required && f.isEmptyable() && f.MinLength() <= 1:
		rules = append([]string{"omitnil", "min=1"}, rules...)
	case rules == nil:
	case !f.Required && !f.emptyIsValid() && f.isEmptyable():
		rules = append([]string{"omitzero"}, rules...)
	default:
		rules = append([]string{"omitnil"}, rules...)
	}
	if f.Required {
		return f.tag("", rules) + f.exampleTag(1)
	}
	tag := f.tag(` null:"clear"`, rules) + f.exampleTag(1) + ` extensions:"x-nullable"`
	if f.OmitEmpty() {
		tag = strings.Replace(tag, f.Name, f.Name+",omitempty", 1)
	}
	return tag
}

// StoredTag returns the tag in the document, and in the view unless "" is not stored.
func (f Field) StoredTag() string {
	if f.OmitEmpty() {
		return `json:"` + f.Name + `,omitempty"`
	}
	return f.ViewTag()
}

// ViewTag returns the tag in the view.
func (f Field) ViewTag() string {
	tag := f.tag("", nil)
	if f.Type == typeEnum {
		tag += ` enums:"` + strings.Join(f.Values, ",") + `"`
	}
	tag += f.exampleTag(0)
	if f.Nullable() {
		tag += ` extensions:"x-nullable"`
	}
	return tag
}

// tag returns the name, the rules, and the format.
func (f Field) tag(null string, rules []string) string {
	tag := `json:"` + f.Name + `"` + null
	if len(rules) > 0 {
		tag += ` validate:"` + strings.Join(rules, ",") + `"`
	}
	switch f.Type {
	case typeTime:
		tag += ` swaggertype:"string" format:"date-time"`
	case typeRef:
		tag += ` swaggertype:"string"`
	case typeEmail, typeURL:
		if len(rules) > 0 || f.Required { // a response may have ""
			tag += ` format:"` + map[string]string{typeEmail: "email", typeURL: "uri"}[f.Type] + `"`
		}
	}
	if len(rules) > 0 && f.Type == typeEmail {
		tag += ` maxLength:"254"`
	}
	return tag
}

func (f Field) exampleTag(n int) string { return ` example:"` + f.example(n) + `"` }
