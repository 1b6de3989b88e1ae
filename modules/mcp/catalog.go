package mcp

import (
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/ginseng/kit/route"
)

// catalog has the resources of the API, from its OpenAPI document.
type catalog struct {
	document  document
	names     []string // sorted
	resources map[string]resource
}

// resource has the paths of a resource's collection and records, and the operations on these paths. An operation that the API
// does not have is nil.
type resource struct {
	name, collection, record            string
	list, get, create, update, deletion *operation
}

type document struct {
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]any }
}

type operation struct {
	Summary, Description string
	Tags                 []string
	Parameters           []parameter
	RequestBody          content
	Responses            map[string]content
}

type parameter struct {
	Name, In, Description string
	Schema                map[string]any
}

type content struct {
	Content map[string]struct{ Schema map[string]any }
}

// newCatalog returns the catalog of the resources in the table.
func newCatalog(table *route.Table) *catalog {
	c := &catalog{resources: map[string]resource{}}
	if err := json.Unmarshal(table.Document(), &c.document); err != nil {
		panic(err) // unreachable: the document is embedded
	}
	for _, r := range table.Routes() {
		documented := strings.TrimPrefix(pathParameter.ReplaceAllString(r.Path, "{$1}"), table.Root())
		if op := c.document.Paths[documented][strings.ToLower(r.Method)]; op != nil && r.Resource != "" {
			found := c.resources[r.Resource]
			found.name = r.Resource
			found.add(r, documented, op)
			c.resources[r.Resource] = found
		}
	}
	maps.DeleteFunc(c.resources, func(_ string, r resource) bool { return r.collection == "" })
	c.names = slices.Sorted(maps.Keys(c.resources))
	return c
}

// pathParameter matches a parameter in the path of a route.
var pathParameter = regexp.MustCompile(`:(\w+)`)

// add adds an operation of a row with the documented path, unless the path is neither that of the list nor that of a record.
func (r *resource) add(row *route.Route, documented string, op *operation) {
	operations := map[string]**operation{}
	switch {
	case row.IsList():
		r.collection = documented
		operations = map[string]**operation{http.MethodGet: &r.list, http.MethodPost: &r.create}
	case row.IsRecord():
		r.collection, r.record = path.Dir(documented), documented
		operations = map[string]**operation{http.MethodGet: &r.get, http.MethodPatch: &r.update, http.MethodDelete: &r.deletion}
	}
	if operations[row.Method] != nil {
		*operations[row.Method] = op
	}
}

// parents returns the names of the resources under which the records are nested, outermost first.
func (r resource) parents() (names []string) {
	parts := strings.Split(r.collection, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			names = append(names, parts[i-1])
		}
	}
	return names
}

// about returns the description of the resource.
func (d document) about(r resource) string {
	for _, op := range []*operation{r.list, r.create, r.get, r.update, r.deletion} {
		for _, tag := range d.Tags {
			if op != nil && slices.Contains(op.Tags, tag.Name) {
				return tag.Description
			}
		}
	}
	return ""
}

// schema returns the schema of the JSON content. It replaces each reference with the schema that the reference names.
func (d document) schema(c content) map[string]any {
	schema, _ := d.inline(c.Content["application/json"].Schema, maxDepth).(map[string]any)
	return schema
}

const maxDepth = 8 // maximum depth of nested references, which can be recursive

func (d document) inline(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			if depth == 0 {
				return map[string]any{}
			}
			return d.inline(d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], depth-1)
		}
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = d.inline(value, depth)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = d.inline(value, depth)
		}
		return out
	}
	return v
}
