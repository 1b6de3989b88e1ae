package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
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

// newCatalog returns the catalog of the resources with the names.
func newCatalog(names []string, openAPI []byte) *catalog {
	c := &catalog{resources: map[string]resource{}}
	if err := json.Unmarshal(openAPI, &c.document); err != nil {
		panic(err) // unreachable: the document is embedded
	}
	for _, name := range names {
		if r := c.document.resource(name); r.collection != "" {
			c.resources[name] = r
		}
	}
	c.names = slices.Sorted(maps.Keys(c.resources))
	return c
}

// resource returns the resource with the name. The name is the last segment of the collection's path.
func (d document) resource(name string) resource {
	r := resource{name: name}
	for path, operations := range d.Paths {
		collection, last := path[:strings.LastIndexByte(path, '/')], path[strings.LastIndexByte(path, '/')+1:]
		switch {
		case last == name:
			r.collection, r.list, r.create = path, operations["get"], operations["post"]
		case last[0] == '{' && strings.HasSuffix(collection, "/"+name):
			r.collection, r.record = collection, path
			r.get, r.update, r.deletion = operations["get"], operations["patch"], operations["delete"]
		}
	}
	return r
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
