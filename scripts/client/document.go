package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// document has the parts of the API document that the client depends on.
type document struct {
	Info struct {
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"info"`
	Tags []struct {
		Description string    `json:"description"`
		Resource    *resource `json:"x-resource"`
	} `json:"tags"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
		Headers map[string]*header `json:"headers"`
	} `json:"components"`
}

type operation struct {
	Summary     string      `json:"summary"`
	Description string      `json:"description"`
	Parameters  []parameter `json:"parameters"`
	RequestBody *struct {
		Required bool               `json:"required"`
		Content  map[string]content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Description string             `json:"description"`
		Headers     map[string]*header `json:"headers"`
		Content     map[string]content `json:"content"`
	} `json:"responses"`
	Batch  bool   `json:"x-batch"`
	Caller string `json:"x-caller"`
}

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Schema      *schema `json:"schema"`
}

type header struct {
	Ref         string  `json:"$ref"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Schema      *schema `json:"schema"`
}

type content struct {
	Schema *schema `json:"schema"`
}

type schema struct {
	Ref         string             `json:"$ref"`
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Nullable    bool               `json:"nullable"`
	ReadOnly    bool               `json:"readOnly"`
	Enum        []any              `json:"enum"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	AllOf       []*schema          `json:"allOf"`
	Additional  json.RawMessage    `json:"additionalProperties"` // true, false or a schema
	Reference   string             `json:"x-reference"`
	File        json.RawMessage    `json:"x-file"` // only of a property with a file, or with a list of files
}

// resource is a resource with its operations; those that the API does not have are nil.
type resource struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Record string `json:"record"`
	Parent string `json:"parent"`

	description                                 string
	nested                                      []*resource
	list, create, show, update, delete, changes *operation
	files                                       []fileField
}

// fileField is a field with a file, or with a list of files.
type fileField struct {
	name   string
	list   bool
	upload *operation
}

// reserved are the names of the client's own methods.
var reserved = []string{"batch", "request", "session"}

// methods are the names of the methods of a resource.
var methods = []string{"list", "all", "get", "create", "update", "delete", "follow"}

// resources returns the resources that are not nested, sorted by name, with their nested ones. It fails if two of them or of their
// records have the same name in TypeScript, if one has the name of a method, or if the client cannot call an operation.
func (d document) resources() (roots []*resource, err error) {
	all := map[string]*resource{}
	for _, tag := range d.Tags {
		r := tag.Resource
		if r == nil {
			continue
		}
		all[r.Name] = r
		r.description = tag.Description
		r.list, r.create = d.Paths[r.Path]["get"], d.Paths[r.Path]["post"]
		r.changes = d.Paths[r.Path+"/changes"]["get"]
		for name, item := range d.Paths {
			if below, ok := strings.CutPrefix(name, r.Path+"/{"); ok && !strings.Contains(below, "/") {
				r.show, r.update, r.delete = item["get"], item["patch"], item["delete"]
				r.files = d.filesOf(r, name)
				err = cmp.Or(err, item["patch"].checkBody("PATCH "+name), r.checkFiles())
			}
		}
		err = cmp.Or(err, d.checkPage(r), r.create.checkBody("POST "+r.Path))
	}
	names, records := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r, taken := all[name], reserved
		if parent := all[r.Parent]; parent != nil {
			parent.nested = append(parent.nested, r)
			taken = slices.Clone(methods)
			for _, f := range parent.files {
				taken = append(taken, f.name)
			}
		} else {
			roots = append(roots, r)
		}
		if slices.Contains(taken, camel(name)) {
			err = cmp.Or(err, fmt.Errorf("the resource %s has the name of a method of the client; generate it with another --plural", name))
		}
		if other, ok := names[camel(name)]; ok {
			err = cmp.Or(err, fmt.Errorf("the resources %s and %s have the same name in TypeScript; generate one with another --plural", other, name))
		}
		names[camel(name)] = name
		if other, ok := records[camel(r.Record)]; ok && r.Record != "" {
			err = cmp.Or(err, fmt.Errorf("the resources %s and %s have records with the same name in TypeScript; rename one", other, name))
		}
		records[camel(r.Record)] = name
	}
	return roots, err
}

// filesOf returns the fields with files of the record at the path, sorted by name.
func (d document) filesOf(r *resource, path string) (out []fileField) {
	record := d.Components.Schemas[d.recordSchema(r)]
	if record == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(record.Properties)) {
		property, item := record.Properties[name], d.Paths[path+"/"+name]
		if property.File == nil || item == nil {
			continue
		}
		f := fileField{name: name, list: property.Type == "array", upload: item["put"]}
		if f.list {
			f.upload = item["post"]
		}
		if f.upload != nil {
			out = append(out, f)
		}
	}
	return out
}

// recordSchema returns the name of the schema of the records of a resource, or "".
func (d document) recordSchema(r *resource) string {
	for _, op := range []*operation{r.show, r.create, r.update} {
		if op != nil {
			return op.response().base()
		}
	}
	return ""
}

// checkFiles fails if a field with files has the name of a method.
func (r *resource) checkFiles() error {
	for _, f := range r.files {
		if slices.Contains(methods, f.name) {
			return fmt.Errorf("the field %s of the resource %s has the name of a method of the client; rename it", f.name, r.Name)
		}
	}
	return nil
}

// checkPage fails if the list of a resource does not return a page.
func (d document) checkPage(r *resource) error {
	if r.list == nil {
		return nil
	}
	page := d.Components.Schemas[r.list.response().base()]
	if page == nil || page.Properties["rows"] == nil || page.Properties["rows"].Items == nil {
		return fmt.Errorf("GET %s returns no page: a list of a resource must return an object with rows", r.Path)
	}
	return nil
}

// checkBody fails if the operation has a body, but none in JSON. name is its method and path.
func (op *operation) checkBody(name string) error {
	if op != nil && op.RequestBody != nil && op.RequestBody.Content["application/json"].Schema == nil {
		return fmt.Errorf("%s has no body in JSON: a create or update of a resource must accept one", name)
	}
	return nil
}

// each calls visit with each resource and its nested resources.
func each(resources []*resource, visit func(*resource)) {
	for _, r := range resources {
		visit(r)
		each(r.nested, visit)
	}
}

// operations returns those operations of the document that match, such as "POST /users".
func (d document) operations(match func(*operation) bool) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range verbs {
			if op := d.Paths[name][method]; op != nil && match(op) {
				out = append(out, strings.ToUpper(method)+" "+anonymous(name))
			}
		}
	}
	return out
}

// isMasterOnly reports whether the operation requires the master key.
func (op *operation) isMasterOnly() bool { return op.Caller == "master" }

// isDownload reports whether the operation responds with bytes.
func (op *operation) isDownload() bool {
	bodies := op.Responses["200"].Content
	_, isJSON := bodies["application/json"]
	return len(bodies) > 0 && !isJSON
}

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// anonymous returns a path without the names of its parameters.
func anonymous(name string) string { return pathParameter.ReplaceAllLiteralString(name, "{}") }

// parameter returns a query parameter of an operation, or nil.
func (op *operation) parameter(name string) *parameter {
	if op == nil {
		return nil
	}
	i := slices.IndexFunc(op.Parameters, func(p parameter) bool { return p.In == "query" && p.Name == name })
	if i < 0 {
		return nil
	}
	return &op.Parameters[i]
}

// idempotent reports whether the operation accepts an Idempotency-Key.
func (op *operation) idempotent() bool {
	return op != nil && slices.ContainsFunc(op.Parameters, func(p parameter) bool { return p.In == "header" && p.Name == "Idempotency-Key" })
}

// response returns the schema of the body of a successful response, or nil.
func (op *operation) response() *schema {
	for _, status := range []string{"200", "201"} {
		if body, ok := op.Responses[status].Content["application/json"]; ok {
			return body.Schema
		}
	}
	return nil
}

// base returns the name of the schema to which s refers.
func (s *schema) base() string {
	if s == nil {
		return ""
	}
	return path.Base(s.Ref)
}

// camel returns a name in kebab-case in camelCase.
func camel(name string) string {
	words := strings.Split(name, "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
