package documents

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// operators has the description of each operator of a filter.
var operators = map[string]string{
	"gt": "greater than this", "gte": "this or greater", "lt": "less than this", "lte": "this or less", "ne": "not this",
	"in": "one of these",
}

var operator = regexp.MustCompile(`\w*\[(\w+)\]`)

// parameters adds one parameter per operator of a filter, and declares lists as arrays.
func (e enricher) parameters(op *openapi3.Operation) error {
	var out openapi3.Parameters
	rows := listed(op)
	var row *openapi3.Schema
	if rows != nil {
		row = rows.Value
	}
	for _, ref := range op.Parameters {
		p := ref.Value
		p.Example = p.Extensions[exampleMark]
		delete(p.Extensions, exampleMark)
		out = append(out, ref)
		if p.Name == "Idempotency-Key" {
			p.Schema.Value.Pattern = "^[!-~]{1,255}$"
		}
		if p.In == openapi3.ParameterInQuery && p.Name == "expand" {
			text, _, _ := strings.Cut(p.Description, ":")
			names := strings.Split(text, ", ")
			asList(p, signed(names, names...)...)
		}
		if p.In != openapi3.ParameterInQuery || row == nil {
			continue
		}
		switch p.Name {
		case "fields":
			asList(p, signed(slices.DeleteFunc(slices.Sorted(maps.Keys(row.Properties)), func(name string) bool { return name == "expand" }), "id")...)
			e.optionalFields(rows)
		case "sort":
			names, _, _ := strings.Cut(p.Description, ";")
			asList(p, signed(strings.Split(names, ", "))...)
		}
		filters, err := alternatives(p)
		if err != nil {
			return err
		}
		out = append(out, filters...)
	}
	slices.SortStableFunc(out, func(a, b *openapi3.ParameterRef) int { return rank(a.Value) - rank(b.Value) })
	op.Parameters = out
	return nil
}

// rank returns the position of a parameter: path, search, filters, sort and pagination, then headers.
func rank(p *openapi3.Parameter) int {
	how := []string{"sort", "page", "limit", "after", "fields", "expand", "count"}
	switch {
	case p.In == openapi3.ParameterInPath:
		return -2
	case p.Name == "q":
		return -1
	case p.In == openapi3.ParameterInQuery:
		return slices.Index(how, p.Name) + 1
	}
	return len(how) + 1
}

// alternatives returns a parameter for each operator that the description of a filter names.
func alternatives(p *openapi3.Parameter) (out openapi3.Parameters, err error) {
	description, isList := strings.CutPrefix(p.Description, "contains, ")
	also, isFilter := strings.CutPrefix(description, "also ")
	if !isFilter {
		return nil, nil
	}
	p.Description = "exactly this"
	if isList {
		p.Description = "the list contains this"
	}
	for _, found := range operator.FindAllStringSubmatch(also, -1) {
		meaning, known := operators[found[1]]
		if !known {
			return nil, fmt.Errorf("the parameter %s has the unknown operator %s", p.Name, found[1])
		}
		if isList {
			meaning = "the list contains " + meaning
		}
		schema := *p.Schema.Value
		another := &openapi3.Parameter{
			In: p.In, Name: p.Name + "[" + found[1] + "]", Description: meaning, Schema: openapi3.NewSchemaRef("", &schema),
		}
		if found[1] == "in" {
			asList(another)
		}
		out = append(out, &openapi3.ParameterRef{Value: another})
	}
	return out, nil
}

// listed returns the schema of the rows of a list; nil if the operation does not return a list.
func listed(op *openapi3.Operation) *openapi3.SchemaRef {
	response := op.Responses.Value("200")
	if response == nil || response.Value.Content.Get("application/json") == nil {
		return nil
	}
	page := response.Value.Content.Get("application/json").Schema.Value
	if rows := page.Properties["rows"]; rows != nil && rows.Value.Items != nil {
		return rows.Value.Items
	}
	return nil
}

// optionalFields gives the rows of a list a separate type, in which only the id is required: the parameter fields can
// leave out the others.
func (e enricher) optionalFields(rows *openapi3.SchemaRef) {
	row := *rows.Value
	row.Required = slices.DeleteFunc(slices.Clone(row.Required), func(name string) bool { return name != "id" })
	rows.Ref, rows.Value = rows.Ref+"Row", &row
	e.doc.Components.Schemas[path.Base(rows.Ref)] = openapi3.NewSchemaRef("", &row)
}

// signed returns each name and, unless it is in never, the name with the prefix "-".
func signed(names []string, never ...string) (out []any) {
	for _, name := range names {
		out = append(out, name)
		if !slices.Contains(never, name) {
			out = append(out, "-"+name)
		}
	}
	return out
}

// asList declares a parameter as a comma-separated list of the values.
func asList(p *openapi3.Parameter, values ...any) {
	item := *p.Schema.Value
	item.Enum = append(item.Enum, values...)
	list := openapi3.NewArraySchema()
	list.Items = openapi3.NewSchemaRef("", &item)
	if item.Default != nil {
		list.Default, item.Default = []any{item.Default}, nil
	}
	if p.Example != nil {
		p.Example = []any{p.Example}
	}
	explode := false
	p.Schema, p.Style, p.Explode = openapi3.NewSchemaRef("", list), "form", &explode
}
