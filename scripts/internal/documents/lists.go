package documents

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
)

// The operators of package listing besides equality, in the order of the API document, and their descriptions.
var (
	ordering = []string{"gt", "gte", "lt", "lte", "ne", "in"}
	equality = []string{"ne", "in"}
	meanings = map[string]string{
		"gt": "greater than this value", "gte": "greater than or equal to this value",
		"lt": "less than this value", "lte": "less than or equal to this value",
		"ne": "not equal to this value", "in": "one of these values; a single value can be a comma-separated list",
	}
)

// filterTypes has the schema and the operators of each listing.Type.
var filterTypes = map[string]struct {
	schema    spec.SimpleSchema
	operators []string
}{
	"text":    {spec.SimpleSchema{Type: "string"}, ordering},
	"int":     {spec.SimpleSchema{Type: "integer"}, ordering},
	"float":   {spec.SimpleSchema{Type: "number"}, ordering},
	"bool":    {spec.SimpleSchema{Type: "boolean"}, []string{"ne"}},
	"time":    {spec.SimpleSchema{Type: "string", Format: "date-time"}, ordering},
	"id":      {spec.SimpleSchema{Type: "string"}, equality},
	"enum":    {spec.SimpleSchema{Type: "string"}, equality},
	"date":    {spec.SimpleSchema{Type: "string", Format: "date"}, ordering},
	"uuid":    {spec.SimpleSchema{Type: "string", Format: "uuid"}, equality},
	"email":   {spec.SimpleSchema{Type: "string", Format: "email"}, equality},
	"decimal": {spec.SimpleSchema{Type: "string", Format: "decimal"}, ordering},
}

// maxSearch is listing.MaxQuery.
const maxSearch = 200

// exportTypes are the media types of exports.
var exportTypes = []string{"application/x-ndjson", "text/csv"}

// recordOf returns the name of the definition of the records that an operation returns: of a record, or of the rows of a
// listing.Page. It is "" if the operation returns nothing.
func recordOf(swagger *spec.Swagger, op *spec.Operation) string {
	for _, status := range []int{http.StatusOK, http.StatusCreated} {
		schema := op.Responses.StatusCodeResponses[status].Schema
		if schema == nil {
			continue
		}
		name := path.Base(schema.Ref.String())
		if strings.HasPrefix(name, "listing.Page-") {
			rows := swagger.Definitions[name].Properties["rows"]
			name = path.Base(rows.Items.Schema.Ref.String())
		}
		return name
	}
	return ""
}

// pageOf returns the definition of the rows of a list; nil if the operation does not return a listing.Page.
func pageOf(swagger *spec.Swagger, op *spec.Operation) *spec.Schema {
	schema := op.Responses.StatusCodeResponses[http.StatusOK].Schema
	if schema == nil || !strings.HasPrefix(path.Base(schema.Ref.String()), "listing.Page-") {
		return nil
	}
	row := swagger.Definitions[recordOf(swagger, op)]
	return &row
}

// addParameters adds query parameters to an operation, and removes existing query parameters with the same names.
func addParameters(op *spec.Operation, added ...spec.Parameter) {
	op.Parameters = append(slices.DeleteFunc(op.Parameters, func(p spec.Parameter) bool {
		return p.In == "query" && slices.ContainsFunc(added, func(a spec.Parameter) bool { return a.Name == p.Name })
	}), added...)
}

// listParameters returns the query parameters of a list whose rows have the schema row. The description of q names only searched
// fields that clients can see.
func listParameters(s list, row *spec.Schema) (out []spec.Parameter) {
	if len(s.Search) > 0 {
		q := queryParameter("q", "up to 10 words, or beginnings of words, to search for in "+andList(visible(s, row)), spec.SimpleSchema{Type: "string"})
		out = append(out, *q.WithMaxLength(maxSearch))
	}
	for _, f := range s.Filter {
		out = append(out, filterParameters(f)...)
	}
	names := s.Sort
	if !slices.Contains(names, "createdAt") {
		names = append(slices.Clone(names), "createdAt")
	}
	order := listOf(signed(names))
	order.Default = []string{"-createdAt"}
	out = append(out, *queryParameter("sort", "the fields to sort by; a - before a name means descending order", order))
	out = append(out, *queryParameter("fields", "the fields to include or, with a - before each name, to exclude; id is always included", listOf(selectable(row))))
	if len(s.Expand) > 0 {
		out = append(out, expandParameter(s.Expand))
	}
	if s.ETag != "none" {
		etags := spec.SimpleSchema{Type: "boolean", Default: false}
		out = append(out, *queryParameter("etags", "true adds etag to each row: the ETag of the record, for If-Match and If-None-Match; cannot be combined with format", etags))
	}
	return out
}

// visible returns the searched fields that a row has.
func visible(s list, row *spec.Schema) []string {
	return slices.DeleteFunc(slices.Clone(s.Search), func(name string) bool { _, ok := row.Properties[name]; return !ok })
}

// filterParameters returns the query parameters of a filter: one for equality, and one for each operator.
func filterParameters(f filter) []spec.Parameter {
	of := filterTypes[f.Type]
	operators, about, prefix := of.operators, "equal to this value", ""
	if f.List {
		operators, about, prefix = []string{"in"}, "the list contains this value", "the list contains "
	}
	var enum []any
	for _, value := range f.Values {
		enum = append(enum, value)
	}
	withValues := func(p *spec.Parameter) spec.Parameter {
		p.Enum = enum
		return *p
	}
	out := []spec.Parameter{withValues(queryParameter(f.Field, about, of.schema))}
	for _, operator := range operators {
		name, schema := f.Field+"["+operator+"]", of.schema
		if operator != "in" {
			out = append(out, withValues(queryParameter(name, prefix+meanings[operator], schema)))
			continue
		}
		list := listOf(nil)
		list.Items.SimpleSchema, list.Items.Enum = schema, enum
		list.CollectionFormat = "multi" // so that generated clients can send values with commas
		out = append(out, *queryParameter(name, prefix+meanings[operator], list))
	}
	return out
}

func expandParameter(references []string) spec.Parameter {
	return *queryParameter("expand", "the references to expand; the response includes the referenced records", listOf(signed(references, references...)))
}

func queryParameter(name, description string, schema spec.SimpleSchema) *spec.Parameter {
	p := spec.QueryParam(name).WithDescription(description)
	p.SimpleSchema = schema
	return p
}

// listOf returns the schema of a comma-separated list of the given strings. If values is nil, the list can contain any string.
func listOf(values []any) spec.SimpleSchema {
	items := spec.NewItems().Typed("string", "")
	items.Enum = values
	return spec.SimpleSchema{Type: "array", CollectionFormat: "csv", Items: items}
}

// selectable returns the values allowed in the fields parameter of a list whose rows have the schema row.
func selectable(row *spec.Schema) []any {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(row.Properties)), func(name string) bool { return name == "expand" })
	return signed(names, "id")
}

// signed returns each name and, unless the name is in never, also the name with the prefix "-".
func signed(names []string, never ...string) (out []any) {
	for _, name := range names {
		out = append(out, name)
		if !slices.Contains(never, name) {
			out = append(out, "-"+name)
		}
	}
	return out
}

// andList returns "a", "a and b" or "a, b and c".
func andList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
