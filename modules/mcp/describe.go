package mcp

import (
	"maps"
	"slices"
	"strings"
)

const maxDescription = 8 << 10 // bytes

// describe returns the description of a resource as JSON. If the description is larger than maxDescription, describe removes
// details: first examples, then descriptions and patterns, then enums and nested schemas, then list items and fields.
func (c *catalog) describe(r resource) string {
	d := c.document.describe(r)
	for _, details := range [][]string{
		nil, {"example"}, {"about", "description", "pattern", "title"}, {"enum", "items", "properties", "allOf", "additionalProperties"},
	} {
		strip(d, details)
		if text := encode(d); len(text) <= maxDescription {
			return text
		}
	}
	d["incomplete"] = "The resource has more fields than fit here. get_record returns all of them."
	for n := 64; ; n /= 2 {
		shorten(d, n)
		if text := encode(d); len(text) <= maxDescription || n == 0 {
			return text
		}
	}
}

// describe returns the description of a resource. The schemas are those of the OpenAPI document.
func (d document) describe(r resource) map[string]any {
	out := map[string]any{"resource": r.name, "tools": r.tools()}
	if about := d.about(r); about != "" {
		out["about"] = about
	}
	if parents := r.parents(); parents != nil {
		out["parent"] = parents
	}
	known := map[string]any{}
	if r.create != nil {
		data := d.schema(r.create.RequestBody)
		known, _ = data["properties"].(map[string]any)
		out["create"] = map[string]any{"fields": known, "required": data["required"]}
	}
	if r.update != nil {
		data, _ := d.schema(r.update.RequestBody)["properties"].(map[string]any)
		changes := map[string]any{}
		if !slices.Equal(sortedNames(data), sortedNames(known)) {
			changes["fields"] = data
		}
		if clears := slices.DeleteFunc(sortedNames(data), func(name string) bool { return !isNullable(data[name]) }); len(clears) > 0 {
			changes["nullClears"] = clears
		}
		out["update"] = changes
	}
	others := d.view(r)
	for name := range known {
		delete(others, name)
	}
	out["record"] = map[string]any{"fields": others}
	if r.list != nil {
		out["search"] = d.search(r.list)
	}
	return out
}

// tools returns the tools that work for the resource, and the summaries of their operations.
func (r resource) tools() map[string]string {
	out := map[string]string{}
	for name, op := range map[string]*operation{toolSearch: r.list, toolGet: r.get, toolCreate: r.create, toolUpdate: r.update, toolDelete: r.deletion} {
		if op != nil {
			out[name] = op.Summary
		}
	}
	return out
}

// view returns the schemas of the fields of a record.
func (d document) view(r resource) map[string]any {
	var schema map[string]any
	switch {
	case r.get != nil:
		schema = d.schema(r.get.Responses["200"])
	case r.create != nil:
		schema = d.schema(r.create.Responses["201"])
	case r.list != nil:
		pages, _ := d.schema(r.list.Responses["200"])["properties"].(map[string]any)
		rows, _ := pages["rows"].(map[string]any)
		schema, _ = rows["items"].(map[string]any)
	}
	fields, _ := schema["properties"].(map[string]any)
	return fields
}

// notFilters are the parameters of lists that are not filters.
var notFilters = []string{"q", "sort", "page", "limit", "after", "fields", "count", "expand", "etags", "format", "bom"}

// filters returns the parameters of a list that are filters, such as userId and createdAt[gte].
func (op *operation) filters() (out []parameter) {
	for _, p := range op.Parameters {
		if p.In == "query" && !slices.Contains(notFilters, p.Name) {
			out = append(out, p)
		}
	}
	return out
}

func (d document) search(list *operation) map[string]any {
	out := map[string]any{}
	for _, p := range list.Parameters {
		switch p.Name {
		case "q":
			out["q"] = map[string]any{"description": p.Description}
		case "sort":
			items, _ := p.Schema["items"].(map[string]any)
			values, _ := items["enum"].([]any)
			out["sort"] = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return strings.HasPrefix(v.(string), "-") })
			out["defaultSort"] = p.Schema["default"]
		}
	}
	filters := map[string]any{}
	for _, p := range list.filters() {
		name, operator, _ := strings.Cut(strings.TrimSuffix(p.Name, "]"), "[")
		filter, _ := filters[name].(map[string]any)
		if filter == nil {
			filter = map[string]any{}
			filters[name] = filter
		}
		if operator == "" {
			maps.Copy(filter, d.inline(p.Schema, maxDepth).(map[string]any))
			filter["description"] = p.Description
			continue
		}
		operators, _ := filter["operators"].([]any)
		filter["operators"] = append(operators, operator)
	}
	if len(filters) > 0 {
		out["filters"] = map[string]any{"fields": filters}
	}
	return out
}

func sortedNames(fields map[string]any) []string { return slices.Sorted(maps.Keys(fields)) }

func isNullable(schema any) bool {
	s, _ := schema.(map[string]any)
	return s["nullable"] == true
}

// strip removes details from a description. It keeps all keys of the maps named fields and properties, because these keys are
// names of fields.
func strip(v any, details []string) {
	object, _ := v.(map[string]any)
	for key, value := range object {
		fields, _ := value.(map[string]any)
		switch {
		case slices.Contains(details, key):
			delete(object, key)
		case key == "fields" || key == "properties":
			for _, schema := range fields {
				strip(schema, details)
			}
		default:
			strip(value, details)
		}
	}
}

// shorten keeps only the first n items of each list, and the first n names of each map named fields, in a description.
func shorten(v any, n int) {
	object, _ := v.(map[string]any)
	for key, value := range object {
		switch value := value.(type) {
		case []any:
			object[key] = value[:min(n, len(value))]
		case []string:
			object[key] = value[:min(n, len(value))]
		case map[string]any:
			if key == "fields" {
				for i, name := range sortedNames(value) {
					if i >= n {
						delete(value, name)
					}
				}
				continue
			}
			shorten(value, n)
		}
	}
}
