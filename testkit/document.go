package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/legacy/pathpattern"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// document is an OpenAPI document that responses are checked against.
type document struct {
	all    *openapi3.T        // for requests without the fields parameter
	chosen func() *openapi3.T // for requests with the fields parameter: only the id of a row is required
	paths  pathpattern.Node   // documented paths
}

var documents sync.Map // func() (*document, error) by the address of the document's first byte

// cachedDocument parses a document once per process.
func cachedDocument(raw []byte) (*document, error) {
	if len(raw) == 0 {
		return &document{}, nil
	}
	parse, _ := documents.LoadOrStore(&raw[0], sync.OnceValues(func() (*document, error) { return newDocument(raw) }))
	return parse.(func() (*document, error))()
}

func newDocument(raw []byte) (*document, error) {
	all, err := parseClosed(raw)
	if err != nil {
		return nil, err
	}
	d := &document{all: all, chosen: sync.OnceValue(func() *openapi3.T { return parseChosen(raw) })}
	for _, path := range all.Paths.InMatchingOrder() {
		if err := d.paths.Add(path, path, nil); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// parseChosen is parseClosed for a document without errors. Only the id of a row is required.
func parseChosen(raw []byte) *openapi3.T {
	chosen, _ := parseClosed(raw)
	for name, schema := range chosen.Components.Schemas {
		rows := schema.Value.Properties["rows"] // nil in the schema of a resource such as landing-page
		if strings.HasSuffix(name, "Page") && rows != nil && rows.Value.Items != nil {
			rows.Value.Items.Value.Required = []string{"id"}
		}
	}
	return chosen
}

// parseClosed parses a document, and disallows undocumented properties of the objects in its schemas.
func parseClosed(raw []byte) (*openapi3.T, error) {
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	components, _ := doc["components"].(map[string]any)
	closeObjects(components["schemas"])
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(raw)
}

func closeObjects(schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		if _, open := schema["additionalProperties"]; schema["properties"] != nil && !open {
			schema["additionalProperties"] = false
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

// find returns the documented path and the documented responses of the operation that a request calls. root is the path of the
// API. If the operation is not documented, responses is nil.
func (d *document) find(root string, r *http.Request) (path string, responses *openapi3.Responses) {
	requested, below := strings.CutPrefix(r.URL.Path, root)
	if !below || strings.HasSuffix(requested, "/") {
		return "", nil
	}
	node, _ := d.paths.Match(requested)
	if node == nil {
		return "", nil
	}
	doc := d.all
	if r.URL.Query().Has("fields") {
		doc = d.chosen()
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path = node.Value.(string)
	op := doc.Paths.Value(path).Operations()[method]
	if op == nil {
		return "", nil
	}
	return path, op.Responses
}

// validation are the options for the validation of bodies: short errors, and the formats that openapi3 does not know.
var validation = []openapi3.SchemaValidationOption{
	openapi3.VisitAsResponse(),
	openapi3.SetSchemaErrorMessageCustomizer(func(err *openapi3.SchemaError) string {
		text := "/" + strings.Join(err.JSONPointer(), "/") + ": " + err.Reason
		if err.Origin != nil {
			text += ": " + err.Origin.Error()
		}
		if err.SchemaField == "nullable" {
			text += "; if the field can be null, add the tag extensions:\"x-nullable\" to it in the view, then run make docs"
		}
		return text
	}),
	openapi3.WithStringFormatValidator("email", openapi3.NewCallbackValidator(func(value string) error {
		address, err := mail.ParseAddress(value)
		if err == nil && address.Address != value {
			err = errors.New("not only an address")
		}
		return err
	})),
	openapi3.WithStringFormatValidator("uuid", openapi3.NewCallbackValidator(func(value string) error {
		_, err := store.ParseUUID(value)
		return err
	})),
	openapi3.WithStringFormatValidator("uri", openapi3.NewCallbackValidator(func(value string) error {
		u, err := url.Parse(value)
		if err == nil && !u.IsAbs() {
			err = errors.New("not an absolute URI")
		}
		return err
	})),
}

// isOnlyID reports whether body can be the response to a write of an API key that may not read the record; see rest.OnlyID. A
// request without an Authorization header can have the key in its body.
func isOnlyID(r *http.Request, body any) bool {
	view, _ := body.(map[string]any)
	credential := r.Header.Get("Authorization")
	hasKey := credential == "" || strings.HasPrefix(credential, "Bearer "+access.KeyPrefix)
	return hasKey && r.Method != http.MethodGet && len(view) == 1 && view["id"] != nil
}

// differences returns the differences between a response and the documentation of its operation; nil if the operation is not
// documented.
func (d *document) differences(root string, r *http.Request, a Response) (differences []string) {
	path, responses := d.find(root, r)
	if responses == nil {
		return nil
	}
	add := func(format string, args ...any) {
		differences = append(differences, fmt.Sprintf("%s %s, status %d: ", r.Method, path, a.Status)+fmt.Sprintf(format, args...))
	}
	want := responses.Status(a.Status)
	if want == nil { // the default response lists error codes; each code implies its status
		want = responses.Default()
	}
	if want == nil {
		add("is not documented: %s", a.Body)
		return differences
	}
	contentType, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	for name, header := range want.Value.Headers {
		if isExport := name == "ETag" && r.URL.Query().Has("format"); header.Value.Required && a.Header.Get(name) == "" && !isExport {
			add("the documented header %s is missing", name)
		}
	}
	if a.Header.Get("ETag") != "" && want.Value.Headers["ETag"] == nil {
		add("the header ETag is not documented; annotate the handler with @Header %d {string} ETag", a.Status)
	}
	media := want.Value.Content[contentType]
	if media == nil {
		media = want.Value.Content["*/*"]
	}
	if media == nil && (contentType != "" || len(want.Value.Content) > 0) {
		add("the type is %q, but the documented types are %q", contentType, slices.Collect(maps.Keys(want.Value.Content)))
	}
	switch {
	case len(want.Value.Content) == 0 || r.Method == http.MethodHead:
		if len(a.Body) > 0 {
			add("has a body, which is not documented: %s", a.Body)
		}
		return differences
	case media == nil, contentType != "application/json" && contentType != "application/problem+json":
		return differences
	}
	var body any
	err := json.Unmarshal(a.Body, &body)
	if err == nil && !isOnlyID(r, body) {
		err = media.Schema.Value.VisitJSON(body, validation...)
	}
	if err != nil {
		add("%v: %s", err, a.Body)
		return differences
	}
	if problem, _ := body.(map[string]any); len(media.Examples) > 0 && media.Examples[fmt.Sprint(problem["code"])] == nil {
		add("the code is %v, but the documented codes are %v", problem["code"], slices.Collect(maps.Keys(media.Examples)))
	}
	return differences
}
