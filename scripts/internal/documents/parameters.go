package documents

import (
	"maps"
	"path"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// parameters sorts the parameters. If the operation is a list with the fields parameter, it gives rows
// a separate type.
func (e enricher) parameters(op *openapi3.Operation) {
	for _, ref := range op.Parameters {
		p := ref.Value
		p.Example = p.Extensions[exampleMark]
		delete(p.Extensions, exampleMark)
		if p.Name == "Idempotency-Key" {
			p.Schema.Value.Pattern = "^[!-~]{1,255}$"
		}
	}
	query := func(name string) bool { return op.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) != nil }
	if rows := listed(op); rows != nil && query("fields") && query("sort") { // fields of a feed selects fields of data
		e.rowType(rows, query("etags"))
	}
	slices.SortStableFunc(op.Parameters, func(a, b *openapi3.ParameterRef) int { return rank(a.Value) - rank(b.Value) })
}

// rank returns the position of a parameter: path, search, filters, sort and pagination, then headers.
func rank(p *openapi3.Parameter) int {
	how := []string{"sort", "page", "limit", "after", "fields", "expand", "etags", "count"}
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

// rowType gives the rows of a list a separate type, in which only the id is required, because the fields parameter can exclude the
// other fields. If the list has the parameter etags, the type also has the field etag. Several lists can have the same rows.
func (e enricher) rowType(rows *openapi3.SchemaRef, etags bool) {
	row := *rows.Value
	row.Required = slices.DeleteFunc(slices.Clone(row.Required), func(name string) bool { return name != "id" })
	if len(row.Required) == len(rows.Value.Required) && !etags {
		return
	}
	if etags {
		etag := openapi3.NewStringSchema()
		etag.Description = "the ETag of the record; only with etags=true"
		row.Properties = maps.Clone(row.Properties)
		row.Properties["etag"] = openapi3.NewSchemaRef("", etag)
	}
	rows.Ref, rows.Value = rows.Ref+"Row", &row
	e.doc.Components.Schemas[path.Base(rows.Ref)] = openapi3.NewSchemaRef("", &row)
}
