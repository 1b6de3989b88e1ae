package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Package is the module's package.
func (r Resource) Package() string { return packageName(r.Name) }

// Import is the line that imports the module.
func (r Resource) Import() string {
	line := strconv.Quote(r.Module + "/modules/" + r.Name)
	if r.Package() != r.Name {
		line = r.Package() + " " + line
	}
	return line
}

// Type is the name of the document.
func (r Resource) Type() string { return goName(r.Name) }

// Path is that of the list.
func (r Resource) Path() string { return "/" + r.Plural }

// Collection is the service's field.
func (r Resource) Collection() string { return camelName(r.Plural) }

// Directive is the go:generate line.
func (r Resource) Directive() string { return r.directive() }

// Word is a record's name in a sentence; One has an article before it, and Many is the plural.
func (r Resource) Word() string { return spoken(r.Name) }

// One is a record's name with an article.
func (r Resource) One() string { return withArticle(r.Word()) }

// Many is the plural's name in a sentence.
func (r Resource) Many() string { return spoken(r.Plural) }

// taken are the names that the templates use where a record's variable stands.
var taken = []string{"c", "g", "s", "t", "q", "in", "err", "ctx", "id", "caller", "changes", "expected", "page", "author", "meta"}

// Var is the variable of a record: its first letter, or its name where the letter is taken.
func (r Resource) Var() string {
	if letter := r.Name[:1]; !slices.Contains(taken, letter) {
		return letter
	}
	if name := camelName(r.Name); !slices.Contains(taken, name) {
		return name
	}
	return "record"
}

// Has reports whether there is the method.
func (r Resource) Has(method string) bool { return r.Rules[method] != "" }

// HasView reports whether any method answers with a record.
func (r Resource) HasView() bool {
	return r.Has(methodCreate) || r.Has(methodList) || r.Has(methodShow) || r.Has(methodUpdate)
}

// Access is the constant of a method's rule.
func (r Resource) Access(method string) string { return goName(r.Rules[method]) }

// OwnerOnly reports whether a method is for the author of the record, and admins.
func (r Resource) OwnerOnly(method string) bool { return r.Owner && r.Rules[method] == ruleUser }

// Owned reports whether any change is for the author.
func (r Resource) Owned() bool { return r.OwnerOnly(methodUpdate) || r.OwnerOnly(methodDelete) }

// Security is what a method's documentation asks for.
func (r Resource) Security(method string) string {
	return map[string]string{ruleUser: "UserToken", ruleAdmin: "UserToken", ruleMaster: "MasterKey"}[r.Rules[method]]
}

// Unauthorized describes the status 401.
func (r Resource) Unauthorized(method string) string {
	if r.Rules[method] == rulePublic {
		return "unauthorized: a bad token"
	}
	return "unauthorized"
}

// Forbidden describes the status 403, "" if there is none.
func (r Resource) Forbidden(method string) string {
	switch {
	case r.Rules[method] == ruleAdmin:
		return "forbidden: not an admin"
	case r.OwnerOnly(method) && (method == methodUpdate || method == methodDelete):
		return "forbidden: neither the author nor an admin"
	}
	return ""
}

// Readers says who sees the view.
func (r Resource) Readers() string {
	widest := ruleMaster
	for _, method := range r.Methods() {
		if method != methodDelete && slices.Index(ruleWords, r.Rules[method]) > slices.Index(ruleWords, widest) {
			widest = r.Rules[method]
		}
	}
	return map[string]string{
		rulePublic: "everyone sees it", ruleUser: "users see it", ruleAdmin: "admins see it", ruleMaster: "the bearer of the master key sees it",
	}[widest]
}

// ClearComment ends the comment of UpdateInput.
func (r Resource) ClearComment() string {
	if slices.ContainsFunc(r.Fields, Field.Nullable) {
		return ", a pointer to nil clears it"
	}
	return ""
}

// ClearDescription ends the description of the update.
func (r Resource) ClearDescription() string {
	if slices.ContainsFunc(r.Fields, Field.Nullable) {
		return " null clears an optional field; in a form, an empty text does."
	}
	return ""
}

// Uniques are the unique fields.
func (r Resource) Uniques() fieldList { return r.only(func(f Field) bool { return f.Unique }) }

// Filtered are the fields to filter by, less those that are built in.
func (r Resource) Filtered() fieldList { return r.only(func(f Field) bool { return f.Filter }) }

// Searched are the fields that q looks into.
func (r Resource) Searched() fieldList { return r.only(func(f Field) bool { return f.Search }) }

// Sorted are all fields to sort by.
func (r Resource) Sorted() fieldList {
	return append(r.only(func(f Field) bool { return f.Sort }), Field{Name: "createdAt"}, Field{Name: "updatedAt"})
}

func (r Resource) only(keep func(Field) bool) (out fieldList) {
	for _, f := range r.Fields {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// Taken says that a unique value is not free.
func (r Resource) Taken() string {
	var out []string
	for _, f := range r.Uniques() {
		out = append(out, "the "+f.Name)
	}
	return strings.Join(out, " or ") + " is taken"
}

// ConflictComment ends the comment of what can meet a value that is taken.
func (r Resource) ConflictComment() string {
	if len(r.Uniques()) == 0 {
		return ""
	}
	return " Conflict: " + r.Taken() + "."
}

type fieldList []Field

func (l fieldList) names() []string {
	out := make([]string, len(l))
	for i, f := range l {
		out[i] = f.Name
	}
	return out
}

// Quoted are the names as Go has them in a list.
func (l fieldList) Quoted() string { return `"` + strings.Join(l.names(), `", "`) + `"` }

// Listed are the names, with commas.
func (l fieldList) Listed() string { return strings.Join(l.names(), ", ") }

// Spoken are the names as a sentence has them.
func (l fieldList) Spoken() string {
	names := l.names()
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Go is the field's name in Go.
func (f Field) Go() string { return goName(f.Name) }

// base is the Go type of a value.
func (f Field) base() string {
	switch f.Type {
	case typeInt:
		return "int64"
	case typeFloat:
		return "float64"
	case typeBool:
		return "bool"
	case typeTime:
		return "store.Time"
	case typeRef:
		return "store.ID"
	case typeList:
		return "[]string"
	}
	return "string"
}

// StoredType is the type in the document and the view.
func (f Field) StoredType() string {
	if f.Nullable() {
		return "*" + f.base()
	}
	return f.base()
}

// CreateType is the type in CreateInput: a pointer where the zero value is a legal one.
func (f Field) CreateType() string {
	if f.Type == typeList || (f.IsText() || f.Type == typeEnum && f.Required) && !f.Defaults {
		return f.base()
	}
	return "*" + f.base()
}

// UpdateType is the type in UpdateInput.
func (f Field) UpdateType() string {
	if f.Nullable() {
		return "**" + f.base()
	}
	return "*" + f.base()
}

// AbsentIfEmpty reports whether "" is not stored, as several records may lack the field.
func (f Field) AbsentIfEmpty() bool { return f.Unique && f.IsText() && !f.Required }

// FromInput is the document's value, from a CreateInput named in.
func (f Field) FromInput() string {
	value := "in." + f.Go()
	if f.Defaults {
		value = "cmp.Or(" + value + ", new(" + f.defaultGo() + "))"
		if f.IsText() {
			value = "*" + value
		}
		return value
	}
	if strings.HasPrefix(f.CreateType(), "*") && !f.Nullable() {
		return "*" + value
	}
	return value
}

func (f Field) defaultGo() string {
	switch f.Type {
	case typeInt:
		return "int64(" + f.Default + ")"
	case typeFloat:
		return "float64(" + f.Default + ")"
	case typeBool:
		return f.Default
	case typeTime:
		return timeGo(f.Default)
	}
	return strconv.Quote(f.Default)
}

// timeGo is the Go expression of a time on the wire.
func timeGo(text string) string {
	t, _ := time.Parse(timeLayout, text) // checkDefault and value write this layout
	return fmt.Sprintf("store.At(time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC))",
		t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond())
}

// StoredTag is the tag in the document.
func (f Field) StoredTag() string {
	if f.AbsentIfEmpty() {
		return `json:"` + f.Name + `,omitempty"`
	}
	return `json:"` + f.Name + `"`
}

// StoredComment says what the type does not.
func (f Field) StoredComment() string {
	var notes []string
	if f.Unique {
		notes = append(notes, "unique")
	}
	if f.Type == typeRef {
		notes = append(notes, "id of "+withArticle(spoken(f.Target)))
	}
	if f.Type == typeEnum {
		notes = append(notes, strings.Join(f.Values, ", "))
	}
	if f.Nullable() {
		notes = append(notes, "nil: none")
	}
	if notes == nil {
		return ""
	}
	return " // " + strings.Join(notes, "; ")
}

// CreateComment says which default there is.
func (f Field) CreateComment() string {
	if f.Defaults {
		return " // " + f.Default + " if absent"
	}
	return ""
}

// length is the most that a text or list holds.
func (f Field) length() string {
	switch {
	case f.Max != "":
		return f.Max
	case f.Type == typeText:
		return strconv.Itoa(maxText)
	case f.Type == typeList:
		return strconv.Itoa(maxItems)
	}
	return strconv.Itoa(maxString)
}

// least is the least length, 0 if none is asked for.
func (f Field) least() int {
	n, _ := strconv.Atoi(f.Min) // checkBounds has read it
	return n
}

// rules are those of a value that is there.
func (f Field) rules() (out []string) {
	switch f.Type {
	case typeString, typeText:
		if f.least() > 1 {
			out = append(out, "min="+f.Min)
		}
		return append(out, "max="+f.length())
	case typeEmail:
		return []string{"maxbytes=254", "email"}
	case typeURL:
		return []string{"max=" + strconv.Itoa(maxURL), "http_url"}
	case typeEnum:
		return []string{"oneof=" + strings.Join(f.Values, " ")}
	case typeList:
		if f.least() > 1 {
			out = append(out, "min="+f.Min)
		}
		return append(out, "max="+f.length(), "dive", "max="+strconv.Itoa(maxString))
	}
	if f.Min != "" {
		out = append(out, "min="+f.Min)
	}
	if f.Max != "" {
		out = append(out, "max="+f.Max)
	}
	return out
}

// onlyMax reports whether an empty value keeps the rules.
func (f Field) onlyMax() bool {
	return (f.Type == typeString || f.Type == typeText || f.Type == typeList) && f.least() <= 1
}

// CreateTag is the tag in CreateInput.
func (f Field) CreateTag() string {
	rules := f.rules()
	switch {
	case f.Required && f.Type == typeList:
		rules = append([]string{"required", "min=1"}, rules...)
	case f.Required:
		rules = append([]string{"required"}, rules...)
	case rules == nil, f.onlyMax() && !f.Defaults:
	case f.IsText(), f.Type == typeList:
		rules = append([]string{"omitzero"}, rules...)
	default:
		rules = append([]string{"omitnil"}, rules...)
	}
	return f.tag("", rules, f.example(0), f.Defaults)
}

// UpdateTag is the tag in UpdateInput.
func (f Field) UpdateTag() string {
	rules := f.rules()
	clear := `null:"clear" `
	switch {
	case f.Required && (f.IsText() || f.Type == typeList):
		rules, clear = append([]string{"omitnil", "min=1"}, rules...), ""
	case f.Required && rules != nil:
		rules, clear = append([]string{"omitnil"}, rules...), ""
	case f.Required:
		clear = ""
	case rules == nil:
	case !f.onlyMax() && (f.IsText() || f.Type == typeList):
		rules = append([]string{"omitzero"}, rules...)
	default:
		rules = append([]string{"omitnil"}, rules...)
	}
	tag := f.tag(clear, rules, f.example(1), false)
	if clear != "" {
		tag += ` extensions:"x-nullable"`
	}
	return tag
}

// ViewTag is the tag in View.
func (f Field) ViewTag() string {
	tag := f.tag("", nil, f.example(0), false)
	if f.Nullable() {
		tag += ` extensions:"x-nullable"`
	}
	return tag
}

func (f Field) tag(null string, rules []string, example string, withDefault bool) string {
	tag := `json:"` + f.Name + `" ` + null
	if len(rules) > 0 {
		tag += `validate:"` + strings.Join(rules, ",") + `" `
	}
	switch f.Type {
	case typeTime:
		tag += `swaggertype:"string" format:"date-time" `
	case typeRef:
		tag += `swaggertype:"string" `
	case typeEmail, typeURL:
		if len(rules) > 0 || f.Required { // an answer may have an empty one
			tag += `format:"` + map[string]string{typeEmail: "email", typeURL: "uri"}[f.Type] + `" `
		}
	case typeEnum:
		if len(rules) == 0 {
			tag += `enums:"` + strings.Join(f.Values, ",") + `" `
		}
	}
	if len(rules) > 0 && f.Type == typeEmail {
		tag += `maxLength:"254" `
	}
	if withDefault {
		tag += `default:"` + f.Default + `" `
	}
	return tag + `example:"` + example + `"`
}

// FilterGo is the filter's declaration.
func (f Field) FilterGo() string {
	kind := map[string]string{
		typeInt: "Int", typeFloat: "Float", typeBool: "Bool", typeTime: "Time", typeRef: "ID", typeEnum: "Enum",
	}[f.Type]
	switch kind {
	case "":
		kind = "Text"
	case "Enum":
		return fmt.Sprintf(`{Field: %q, Type: listing.Enum, Values: []string{"%s"}}`, f.Name, strings.Join(f.Values, `", "`))
	}
	return fmt.Sprintf(`{Field: %q, Type: listing.%s}`, f.Name, kind)
}

// operators are those of the field's filter, beside equality.
func (f Field) operators() []string {
	switch f.Type {
	case typeBool:
		return []string{"ne"}
	case typeRef, typeEnum:
		return []string{"ne", "in"}
	}
	return []string{"gt", "gte", "lt", "lte", "ne", "in"}
}

// FilterDoc is the rest of the filter's @Param.
func (f Field) FilterDoc() string {
	kind := map[string]string{typeInt: "integer", typeFloat: "number", typeBool: "boolean"}[f.Type]
	if kind == "" {
		kind = "string"
	}
	doc := kind + ` false "also ` + f.Name + "[" + strings.Join(f.operators(), "], [") + `]"`
	switch f.Type {
	case typeTime:
		doc += " Format(date-time)"
	case typeEnum:
		doc += " Enums(" + strings.Join(f.Values, ", ") + ")"
	}
	return doc
}
