package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi3"
)

// exampleMark is where the example of a parameter lies until it is put in its place: Swagger 2 knows none, swag writes one,
// and the conversion keeps extensions.
const exampleMark = "x-example"

// prepare marks the examples of parameters, and gives the definitions names without Go's packages: listing.Page-Article is
// ArticlePage.
func prepare(swagger []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(swagger, &doc); err != nil {
		return nil, err
	}
	definitions, _ := doc["definitions"].(map[string]any)
	names := map[string]string{}
	for old := range definitions {
		name := old[strings.LastIndexByte(old, '.')+1:]
		if generic, of, ok := strings.Cut(name, "-"); ok {
			name = of + generic
		}
		if _, taken := definitions[name]; taken && name != old {
			return nil, fmt.Errorf("the definitions %s and %s would have one name; give one another with @name", old, name)
		}
		names["#/definitions/"+old] = "#/definitions/" + name
		definitions[name] = definitions[old]
		if name != old {
			delete(definitions, old)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				v["$ref"] = names[ref]
			}
			if _, isParameter := v["in"].(string); isParameter && v["example"] != nil {
				v[exampleMark] = v["example"]
				delete(v, "example")
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(doc)
	return json.Marshal(doc)
}

// enricher adds to doc what from, of which it was made, cannot say or says in words of its own.
type enricher struct {
	doc  *openapi3.T
	from *openapi2.T
}

func enrich(doc *openapi3.T, from *openapi2.T) error {
	e := enricher{doc, from}
	doc.Servers = openapi3.Servers{{URL: ".", Description: "this service"}}
	doc.Components.Headers, doc.Components.Examples = headers(), openapi3.Examples{}
	if doc.Paths == nil {
		doc.Paths = openapi3.NewPaths() // of an API without a route
	}
	e.answers()
	e.securitySchemes()
	ids := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			op.OperationID = operationID(method, path)
			if other, taken := ids[op.OperationID]; taken {
				return fmt.Errorf("%s %s and %s would both be the operation %s", method, path, other, op.OperationID)
			}
			ids[op.OperationID] = method + " " + path
			if err := e.operation(op, from.Paths[path].GetOperation(method)); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
		}
	}
	return nil
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// operationID is the method and the path in words: getArticlesById.
func operationID(method, path string) string {
	path = strings.ReplaceAll(path, "{", "by-")
	id := strings.ToLower(method)
	for _, word := range notWord.Split(path, -1) {
		if word != "" {
			id += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return id
}

// answers says which fields of an answer are always there: all that do not say they may be absent.
func (e enricher) answers() {
	seen := map[*openapi3.Schema]bool{}
	for _, item := range e.doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				for _, media := range response.Value.Content {
					always(media.Schema, seen)
				}
			}
		}
	}
}

// always goes through a schema and those within. What may be null, and is one of a few values, may be null only if that
// is one of them.
func always(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}
	s := ref.Value
	seen[s] = true
	if s.Nullable && len(s.Enum) > 0 {
		s.Enum = append(s.Enum, nil)
	}
	s.Required = nil
	for name, property := range s.Properties {
		if _, optional := extension(property, "x-omitempty"); !optional {
			s.Required = append(s.Required, name)
		}
		always(property, seen)
	}
	slices.Sort(s.Required)
	for _, part := range s.AllOf {
		always(part, seen)
	}
	always(s.Items, seen)
	always(s.AdditionalProperties.Schema, seen)
}

// extension takes an extension out of a schema.
func extension(ref *openapi3.SchemaRef, name string) (value any, ok bool) {
	for _, extensions := range []map[string]any{ref.Extensions, valueExtensions(ref)} {
		if v, has := extensions[name]; has {
			value, ok = v, true
			delete(extensions, name)
		}
	}
	return value, ok
}

func valueExtensions(ref *openapi3.SchemaRef) map[string]any {
	if ref.Value == nil || ref.Ref != "" {
		return nil
	}
	return ref.Value.Extensions
}

// securitySchemes makes bearer tokens of what Swagger 2 can only call API keys: one that is the header Authorization, or
// that is sent as access_token (RFC 6750). So a person enters the bare token.
func (e enricher) securitySchemes() {
	for name, scheme := range e.from.SecurityDefinitions {
		header := scheme.In == openapi3.ParameterInHeader && scheme.Name == "Authorization"
		if scheme.Type == "apiKey" && (header || scheme.Name == accessToken) {
			e.doc.Components.SecuritySchemes[name].Value = &openapi3.SecurityScheme{
				Type: "http", Scheme: "bearer", Description: scheme.Description,
			}
		}
	}
}

const accessToken = "access_token"

// security keeps what swag says, but that HTTP Basic and a bearer token cannot both be in the header Authorization: then
// the token is access_token in the body.
func (e enricher) security(op *openapi3.Operation, from *openapi2.Operation) {
	if op.Security == nil {
		return
	}
	var out openapi3.SecurityRequirements
	for _, all := range *op.Security {
		names := slices.Sorted(maps.Keys(all))
		basic := slices.IndexFunc(names, func(n string) bool { return e.scheme(n).Scheme == "basic" })
		bearer := slices.IndexFunc(names, func(n string) bool { return e.scheme(n).Scheme == "bearer" })
		if basic < 0 || bearer < 0 {
			out = append(out, all)
			continue
		}
		out = append(out, openapi3.SecurityRequirement{names[basic]: {}})
		if op.RequestBody == nil {
			schema := &openapi3.Schema{Type: &openapi3.Types{"object"}, Properties: openapi3.Schemas{}}
			op.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithSchema(schema, from.Consumes)}
		}
		if body := form(op); body != nil {
			body.Properties[accessToken] = openapi3.NewSchemaRef("", &openapi3.Schema{
				Type: &openapi3.Types{"string"}, Format: "password", Description: e.scheme(names[bearer]).Description,
			})
		}
	}
	if _, optional := op.Extensions["x-optional-security"]; optional {
		delete(op.Extensions, "x-optional-security")
		out = append(out, openapi3.SecurityRequirement{})
	}
	op.Security = &out
}

func (e enricher) scheme(name string) *openapi3.SecurityScheme {
	if ref := e.doc.Components.SecuritySchemes[name]; ref != nil {
		return ref.Value
	}
	return &openapi3.SecurityScheme{}
}

func (e enricher) operation(op *openapi3.Operation, from *openapi2.Operation) error {
	requestBody(op)
	e.security(op, from)
	e.nameBody(op)
	if err := e.parameters(op); err != nil {
		return err
	}
	return e.responses(op)
}

// form is the schema of a body that was made of a form's parameters; nil if there is none.
func form(op *openapi3.Operation) *openapi3.Schema {
	if op.RequestBody == nil {
		return nil
	}
	for _, media := range op.RequestBody.Value.Content {
		if media.Schema.Ref == "" {
			return media.Schema.Value // all are one
		}
	}
	return nil
}

// requestBody puts examples where they belong, and JSON in the place of its text. The example of the whole is made of the
// properties that have one, so that nobody sends the rest by mistake.
func requestBody(op *openapi3.Operation) {
	schema := form(op)
	if schema == nil {
		return
	}
	examples := map[string]any{}
	for name, property := range schema.Properties {
		p := property.Value
		delete(p.Extensions, "x-formData-name")
		_, p.Nullable = extension(property, "x-nullable")
		p.Example, _ = extension(property, exampleMark)
		if kind, ok := extension(property, "x-json"); ok {
			var example any
			if text, isText := p.Example.(string); isText && json.Unmarshal([]byte(text), &example) == nil {
				p.Example = example
			}
			if kind == "object" || kind == true {
				p.Type = &openapi3.Types{"object"}
				p.WithAnyAdditionalProperties() // else a typed client could put nothing into it
			} else {
				p.Type, p.AllOf = nil, openapi3.SchemaRefs{openapi3.NewSchemaRef(fmt.Sprint("#/components/schemas/", kind), nil)}
			}
			jsonText(op, name)
		}
		if p.Nullable && len(p.Enum) > 0 {
			p.Enum = append(p.Enum, nil)
		}
		if p.Example != nil {
			examples[name] = p.Example
		}
	}
	lacking := func(name string) bool { return examples[name] == nil }
	if len(examples) > 0 && !slices.ContainsFunc(schema.Required, lacking) {
		schema.Example = examples
	}
	op.RequestBody.Value.Required = len(schema.Required) > 0
}

// jsonText says that a form holds a parameter as JSON.
func jsonText(op *openapi3.Operation, name string) {
	for kind, media := range op.RequestBody.Value.Content {
		if kind == "application/json" {
			continue
		}
		if media.Encoding == nil {
			media.Encoding = map[string]*openapi3.Encoding{}
		}
		media.Encoding[name] = &openapi3.Encoding{ContentType: "application/json"}
	}
}

// nameBody names a form's schema after the operation, for all of the media types that the operation takes.
func (e enricher) nameBody(op *openapi3.Operation) {
	schema := form(op)
	if schema == nil {
		return
	}
	name := strings.ToUpper(op.OperationID[:1]) + op.OperationID[1:] + "Body"
	e.doc.Components.Schemas[name] = openapi3.NewSchemaRef("", schema)
	for _, media := range op.RequestBody.Value.Content {
		media.Schema = openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
	}
}

// operators says what a filter's operator means.
var operators = map[string]string{
	"gt": "greater than this", "gte": "this or greater", "lt": "less than this", "lte": "this or less", "ne": "not this",
	"in": "one of these",
}

var operator = regexp.MustCompile(`\w*\[(\w+)\]`)

// parameters makes one parameter of a list for each operator of a filter, and lists of those that are lists.
func (e enricher) parameters(op *openapi3.Operation) error {
	var out openapi3.Parameters
	row := listed(op)
	for _, ref := range op.Parameters {
		p := ref.Value
		p.Example = p.Extensions[exampleMark]
		delete(p.Extensions, exampleMark)
		out = append(out, ref)
		if p.Name == "Idempotency-Key" {
			p.Schema.Value.Pattern = "^[!-~]{1,255}$"
		}
		if p.In != openapi3.ParameterInQuery || row == nil {
			continue
		}
		switch p.Name {
		case "fields":
			asList(p, signed(slices.Sorted(maps.Keys(row.Properties)), "id")...)
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

// rank orders parameters: first those of the path, then the words and filters of a list, last how it is shown.
func rank(p *openapi3.Parameter) int {
	how := []string{"sort", "page", "limit", "after", "fields", "count"}
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

// alternatives are the other parameters of a filter: one for each operator that its description names.
func alternatives(p *openapi3.Parameter) (out openapi3.Parameters, err error) {
	also, isFilter := strings.CutPrefix(p.Description, "also ")
	if !isFilter {
		return nil, nil
	}
	p.Description = "exactly this"
	for _, found := range operator.FindAllStringSubmatch(also, -1) {
		meaning, known := operators[found[1]]
		if !known {
			return nil, fmt.Errorf("the parameter %s has the unknown operator %s", p.Name, found[1])
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

// listed is what the rows of a list are; nil if the operation shows none.
func listed(op *openapi3.Operation) *openapi3.Schema {
	answer := op.Responses.Value("200")
	if answer == nil || answer.Value.Content.Get("application/json") == nil {
		return nil
	}
	page := answer.Value.Content.Get("application/json").Schema.Value
	if rows := page.Properties["rows"]; rows != nil && rows.Value.Items != nil {
		return rows.Value.Items.Value
	}
	return nil
}

// signed are the names, and the same with - before them, unless they are among those that are never so.
func signed(names []string, never ...string) (out []any) {
	for _, name := range names {
		out = append(out, name)
		if !slices.Contains(never, name) {
			out = append(out, "-"+name)
		}
	}
	return out
}

// asList turns a parameter into a list with commas between its items, which are some of the values, if there are any.
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
