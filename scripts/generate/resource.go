package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The methods below are what the templates of the module use.

// Package returns the module's package.
func (r Resource) Package() string { return packageName(r.Name) }

// Type returns the type of the stored document.
func (r Resource) Type() string { return goName(r.Name) }

// Path returns the path of the list.
func (r Resource) Path() string { return "/" + r.Plural }

// Collection returns the service's field.
func (r Resource) Collection() string { return variableName(r.Plural) }

// Word returns the name of a record in comments: "blog post".
func (r Resource) Word() string { return inWords(r.Name) }

// One returns Word with its article: "a blog post".
func (r Resource) One() string { return withArticle(r.Word()) }

// Many returns the plural of Word: "blog posts".
func (r Resource) Many() string { return inWords(r.Plural) }

// templateVariables are the variables of the templates where a record's variable is in scope.
var templateVariables = []string{"c", "g", "s", "t", "q", "v", "in", "err", "ctx", "id", "caller", "changes", "page", "author", "meta", "versions"}

// Var returns the variable of a record: its first letter, its name, or "record".
func (r Resource) Var() string {
	for _, name := range []string{r.Name[:1], variableName(r.Name)} {
		if !slices.Contains(templateVariables, name) {
			return name
		}
	}
	return "record"
}

// HasView reports whether a method responds with a record.
func (r Resource) HasView() bool {
	return r.Has(methodCreate) || r.Has(methodList) || r.Has(methodShow) || r.Has(methodUpdate)
}

// Writes reports whether a method stores the time.
func (r Resource) Writes() bool { return r.Has(methodCreate) || r.Has(methodUpdate) }

// Auth returns the middleware that authenticates the caller of a method.
func (r Resource) Auth(method string) string { return "auth." + goName(r.Rules[method]) }

// OwnerOnly reports whether a method is for the author of the record, and for admins.
func (r Resource) OwnerOnly(method string) bool {
	return r.Owner && r.Rules[method] == ruleUser && (method == methodUpdate || method == methodDelete)
}

// Owned reports whether a method is for the author.
func (r Resource) Owned() bool { return r.OwnerOnly(methodUpdate) || r.OwnerOnly(methodDelete) }

// Security returns the security scheme of a method, "" if it is public.
func (r Resource) Security(method string) string {
	return map[string]string{ruleUser: "UserToken", ruleAdmin: "UserToken", ruleMaster: "MasterKey"}[r.Rules[method]]
}

// Forbidden describes the status 403 of a method, "" if it has none.
func (r Resource) Forbidden(method string) string {
	switch {
	case r.Rules[method] == ruleAdmin:
		return "forbidden: not an admin"
	case r.OwnerOnly(method):
		return "forbidden: neither the author nor an admin"
	}
	return ""
}

// HasNull reports whether null clears a field.
func (r Resource) HasNull() bool { return slices.ContainsFunc(r.Fields, Field.Nullable) }

// Uniques returns the unique fields.
func (r Resource) Uniques() fieldList { return r.Fields.only(func(f Field) bool { return f.Unique }) }

// Filtered returns the fields to filter by, without those of every resource.
func (r Resource) Filtered() fieldList { return r.Fields.only(func(f Field) bool { return f.Filter }) }

// Searched returns the fields that q searches.
func (r Resource) Searched() fieldList { return r.Fields.only(func(f Field) bool { return f.Search }) }

// Sorted returns all fields to sort by.
func (r Resource) Sorted() fieldList {
	return append(r.Fields.only(func(f Field) bool { return f.Sort }), Field{Name: "createdAt"}, Field{Name: "updatedAt"})
}

// Shared returns the fields that the document and the view have in common, Omitted the others: "" is not stored.
func (r Resource) Shared() fieldList {
	return r.Fields.only(func(f Field) bool { return !f.OmitEmpty() })
}
func (r Resource) Omitted() fieldList { return r.Fields.only(Field.OmitEmpty) }

// Converts reports whether a CreateInput can be converted to Fields.
func (r Resource) Converts() bool {
	return !slices.ContainsFunc(r.Fields, func(f Field) bool { return f.OmitEmpty() || f.IsList() || f.CreateType() != f.StoredType() })
}

// Taken describes a conflict of unique values.
func (r Resource) Taken() string { return strings.Join(r.Uniques().names(), " or ") + " is in use" }

type fieldList []Field

func (l fieldList) only(keep func(Field) bool) (out fieldList) {
	for _, f := range l {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

func (l fieldList) names() []string {
	out := make([]string, len(l))
	for i, f := range l {
		out[i] = f.Name
	}
	return out
}

// Quoted returns the names as Go strings.
func (l fieldList) Quoted() string { return `"` + strings.Join(l.names(), `", "`) + `"` }

// Listed returns the names with commas.
func (l fieldList) Listed() string { return strings.Join(l.names(), ", ") }

// Spoken returns the names as in a sentence.
func (l fieldList) Spoken() string {
	names := l.names()
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Go returns the field's name in Go.
func (f Field) Go() string { return goName(f.Name) }

// StoredType returns the type in the document and the view.
func (f Field) StoredType() string {
	if f.Nullable() {
		return "*" + f.kind().goType
	}
	return f.kind().goType
}

// CreateType returns the type in CreateInput: a pointer if the zero value is valid, or if there is a default.
func (f Field) CreateType() string {
	if f.IsList() || (f.IsString() || f.Type == typeEnum && f.Required) && !f.HasDefault() {
		return f.kind().goType
	}
	return "*" + f.kind().goType
}

// UpdateType returns the type in UpdateInput.
func (f Field) UpdateType() string { return "*" + f.StoredType() }

// OmitEmpty reports whether "" is not stored: several records may lack a unique value.
func (f Field) OmitEmpty() bool { return f.Unique && f.IsString() && !f.Required }

// FromInput returns the document's value, from a CreateInput named in.
func (f Field) FromInput() string {
	value := "in." + f.Go()
	switch {
	case f.HasDefault() && f.IsString():
		return "*cmp.Or(" + value + ", new(" + f.defaultGo() + "))"
	case f.HasDefault():
		return "cmp.Or(" + value + ", new(" + f.defaultGo() + "))"
	case f.IsList():
		return "append([]string{}, " + value + "...)"
	case f.CreateType() != f.StoredType():
		return "*" + value
	}
	return value
}

func (f Field) defaultGo() string {
	switch f.Type {
	case typeInt, typeFloat:
		return f.kind().goType + "(" + f.Default + ")"
	case typeBool:
		return f.Default
	case typeTime:
		t, _ := time.Parse(timeLayout, f.Default) // valid: see checkDefault
		return fmt.Sprintf("store.At(time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC))",
			t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond())
	}
	return strconv.Quote(f.Default)
}

// StoredComment says what the type does not.
func (f Field) StoredComment() string {
	var notes []string
	if f.Unique {
		notes = append(notes, "unique")
	}
	switch f.Type {
	case typeRef:
		notes = append(notes, "ID of "+withArticle(inWords(f.Target)))
	case typeEnum:
		notes = append(notes, strings.Join(f.Values, ", "))
	}
	if notes == nil {
		return ""
	}
	return " // " + strings.Join(notes, "; ")
}

// FilterGo returns the declaration of the filter.
func (f Field) FilterGo() string {
	if f.Type == typeEnum {
		return fmt.Sprintf(`{Field: %q, Type: listing.Enum, Values: []string{"%s"}}`, f.Name, strings.Join(f.Values, `", "`))
	}
	return fmt.Sprintf(`{Field: %q, Type: listing.%s}`, f.Name, f.kind().filter)
}

// FilterDoc returns the filter's @Param, after its name.
func (f Field) FilterDoc() string {
	k := f.kind()
	doc := k.swagger + ` false "also ` + f.Name + "[" + strings.Join(k.operators, "], [") + `]"`
	switch f.Type {
	case typeTime:
		doc += " Format(date-time)"
	case typeEnum:
		doc += " Enums(" + strings.Join(f.Values, ", ") + ")"
	}
	return doc
}
