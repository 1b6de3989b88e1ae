package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is an OpenAPI document that responses are checked against.
type document struct{ operations []operation }

// operation is a documented route.
type operation struct {
	method, path string
	segments     []string
	responses    map[string]response
}

// response is the documented response of a status.
type response struct {
	contentType string             // "" without a body
	headers     []string           // required headers
	codes       []string           // of an error
	body, rows  *jsonschema.Schema // rows: for a request with the parameter fields
}

var documents sync.Map // of func() (*document, error), by the first byte of the document

// cachedDocument compiles a document once per process.
func cachedDocument(raw []byte) (*document, error) {
	if len(raw) == 0 {
		return &document{}, nil
	}
	compile, _ := documents.LoadOrStore(&raw[0], sync.OnceValues(func() (*document, error) { return newDocument(raw) }))
	return compile.(func() (*document, error))()
}

// spec has the parts of an OpenAPI document that newDocument reads besides the schemas.
type spec struct {
	Paths map[string]map[string]struct {
		Responses map[string]responseSpec
	}
	Components struct{ Headers map[string]headerSpec }
}

type responseSpec struct {
	Content map[string]struct{ Examples map[string]any } // of errors, by code
	Headers map[string]headerSpec
}

type headerSpec struct {
	Ref      string `json:"$ref"`
	Required bool
}

// newDocument compiles a document. Undocumented fields are not allowed.
func newDocument(raw []byte) (*document, error) {
	var s spec
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	whole, err := compiler(raw, func(map[string]any) {})
	if err != nil {
		return nil, err
	}
	chosen, err := compiler(raw, onlyID)
	if err != nil {
		return nil, err
	}
	d := &document{}
	for path, operations := range s.Paths {
		for method, from := range operations {
			op := operation{method: strings.ToUpper(method), path: path, segments: strings.Split(path, "/"), responses: map[string]response{}}
			for status, documented := range from.Responses {
				r := response{headers: s.always(documented)}
				for contentType, media := range documented.Content {
					pointer := documentURL + "#/paths/" + escape(path) + "/" + method + "/responses/" + status +
						"/content/" + escape(contentType) + "/schema"
					r.contentType, r.codes = contentType, slices.Collect(maps.Keys(media.Examples))
					r.body, err = whole.Compile(pointer)
					if err != nil {
						return nil, err
					}
					r.rows, err = chosen.Compile(pointer)
					if err != nil {
						return nil, err
					}
				}
				op.responses[status] = r
			}
			d.operations = append(d.operations, op)
		}
	}
	return d, nil
}

// always returns the required headers of a response.
func (s spec) always(response responseSpec) (names []string) {
	for name, header := range response.Headers {
		if common, ok := s.Components.Headers[strings.TrimPrefix(header.Ref, "#/components/headers/")]; ok {
			header = common
		}
		if header.Required {
			names = append(names, name)
		}
	}
	return names
}

const documentURL = "openapi:///openapi.json"

// escape returns a name as a part of a JSON pointer in a URL.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}

// compiler returns a compiler of the document with changed schemas. OpenAPI 3.0 uses almost JSON Schema draft 4.
func compiler(raw []byte, change func(schemas map[string]any)) (*jsonschema.Compiler, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	components, _ := doc.(map[string]any)["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for _, schema := range schemas {
		closeObjects(schema)
	}
	change(schemas)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	c.AssertFormat()
	return c, c.AddResource(documentURL, doc)
}

// closeObjects disallows undocumented properties of the objects in a schema, and replaces nullable, which JSON Schema does
// not have.
func closeObjects(schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		if _, open := schema["additionalProperties"]; schema["properties"] != nil && !open {
			schema["additionalProperties"] = false
		}
		if schema["nullable"] == true {
			schema["type"] = []any{schema["type"], "null"}
		}
		for _, inner := range schema {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range schema {
			closeObjects(inner)
		}
	}
}

// onlyID makes all properties of the rows of pages optional, except the ID.
func onlyID(schemas map[string]any) {
	for name, schema := range schemas {
		if !strings.HasSuffix(name, "Page") {
			continue
		}
		properties, _ := schema.(map[string]any)["properties"].(map[string]any)
		rows, _ := properties["rows"].(map[string]any)
		items, _ := rows["items"].(map[string]any)
		ref, _ := items["$ref"].(string)
		if record, ok := schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any); ok {
			record["required"] = []any{"id"}
		}
	}
}

// find returns the operation of a request below the API root, or nil.
func (d *document) find(root string, r *http.Request) *operation {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path, below := strings.CutPrefix(r.URL.Path, root)
	if !below {
		return nil
	}
	segments := strings.Split(path, "/")
	var found *operation
	fewest := len(segments) + 1 // parameters: a literal segment takes precedence, also if that path lacks the method
	for i := range d.operations {
		op := &d.operations[i]
		parameters := strings.Count(op.path, "{")
		if parameters > fewest || !matches(op.segments, segments) {
			continue
		}
		if parameters < fewest {
			found, fewest = nil, parameters
		}
		if op.method == method {
			found = op
		}
	}
	return found
}

func matches(pattern, segments []string) bool {
	return slices.EqualFunc(pattern, segments, func(p, s string) bool {
		return p == s || strings.HasPrefix(p, "{") && s != ""
	})
}

// faults returns the differences between a response and its documentation.
func (d *document) faults(root string, r *http.Request, a Response) (faults []string) {
	op := d.find(root, r)
	if op == nil {
		return nil
	}
	add := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s %s, status %d: ", r.Method, op.path, a.Status)+fmt.Sprintf(format, args...))
	}
	want, documented := op.responses[fmt.Sprint(a.Status)]
	if !documented { // the codes of the default response imply their statuses
		want, documented = op.responses["default"]
	}
	if !documented {
		add("is not documented: %s", a.Body)
		return faults
	}
	for _, name := range want.headers {
		if a.Header.Get(name) == "" {
			add("the documented header %s is missing", name)
		}
	}
	if contentType, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type")); contentType != want.contentType {
		add("the type is %q, and documented is %q", contentType, want.contentType)
	}
	if want.body == nil || r.Method == http.MethodHead {
		if len(a.Body) > 0 {
			add("has a body, which is not documented: %s", a.Body)
		}
		return faults
	}
	schema := want.body
	if r.URL.Query().Has("fields") {
		schema = want.rows
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	if err == nil {
		err = schema.Validate(body)
	}
	if err != nil {
		add("%v: %s", err, a.Body)
		return faults
	}
	if problem, _ := body.(map[string]any); len(want.codes) > 0 && !slices.Contains(want.codes, fmt.Sprint(problem["code"])) {
		add("the code is %v, and documented is %v", problem["code"], want.codes)
	}
	return faults
}
