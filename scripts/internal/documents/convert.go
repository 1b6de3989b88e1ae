package documents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

// convert returns the OpenAPI 3.0 document for a Swagger 2 document. Annotations express what Swagger 2 cannot by these
// conventions:
//
//   - @x-optional-security true: a credential is optional
//   - @x-tag "text": the description of the operation's tag
//   - @x-intro "text": a paragraph of the document's description
//   - extensions:"x-omitempty" on a field of a response: the field can be absent; all other fields are required
//   - extensions:"x-nullable" on a field: the field can be null; in an input, null clears the field
//   - extensions:"x-json=NAME" on a field of an input: the value is JSON with the schema NAME, or any object if NAME is object
func convert(swagger []byte, license *openapi3.License) ([]byte, error) {
	swagger, err := prepare(swagger)
	if err != nil {
		return nil, fmt.Errorf("swagger.json: %w", err)
	}
	var from openapi2.T
	if err := json.Unmarshal(swagger, &from); err != nil {
		return nil, fmt.Errorf("swagger.json: %w", err)
	}
	if from.Consumes == nil {
		from.Consumes = bodyTypes
	}
	doc, err := openapi2conv.ToV3(&from)
	if err != nil {
		return nil, err
	}
	if err := enrich(doc, &from); err != nil {
		return nil, err
	}
	doc.Info.License = license
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) { // remove a type if only lists used it: lists now use the type with the suffix Row
		if doc.Components.Schemas[name+"Row"] != nil && !bytes.Contains(raw, []byte(`"#/components/schemas/`+name+`"`)) {
			delete(doc.Components.Schemas, name)
		}
	}
	if raw, err = json.MarshalIndent(doc, "", "  "); err != nil {
		return nil, err
	}
	written, err := openapi3.NewLoader().LoadFromData(raw) // resolves the new references
	if err == nil {
		err = written.Validate(context.Background(), openapi3.EnableExamplesValidation())
	}
	if err != nil {
		return nil, fmt.Errorf("the generated document is invalid: %w", err)
	}
	return append(raw, '\n'), nil
}

// exampleMark is an extension that keeps the example of a parameter during the conversion: swag writes examples of parameters,
// which Swagger 2 does not have.
const exampleMark = "x-example"

// decimalPattern is the form of store.Decimal.
const decimalPattern = `^-?\d{1,12}(\.\d{1,6})?$`

// prepare adds the pattern of decimals, marks the examples of parameters, and removes Go packages from the names of
// definitions: listing.Page-Article becomes ArticlePage.
func prepare(swagger []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(swagger, &doc); err != nil {
		return nil, err
	}
	definitions, _ := doc["definitions"].(map[string]any)
	names := map[string]string{}
	for _, old := range slices.Sorted(maps.Keys(definitions)) {
		name := old[strings.LastIndexByte(old, '.')+1:]
		if generic, of, ok := strings.Cut(name, "-"); ok {
			name = of + generic
		}
		if _, taken := definitions[name]; taken && name != old {
			return nil, fmt.Errorf("the definitions %s and %s would have the same name; rename one with @name", old, name)
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
			if v["format"] == "decimal" {
				v["pattern"] = decimalPattern
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

// enricher adds to doc what Swagger 2 cannot express. doc is the conversion of from, a Swagger 2 document.
type enricher struct {
	doc  *openapi3.T
	from *openapi2.T
}

// enrich adds to doc what the extensions express (see convert), and what the operations imply.
func enrich(doc *openapi3.T, from *openapi2.T) error {
	e := enricher{doc, from}
	doc.Servers = openapi3.Servers{{URL: ".", Description: "this service"}}
	doc.Components.Headers, doc.Components.Examples = components.Headers, openapi3.Examples{}
	if doc.Paths == nil {
		doc.Paths = openapi3.NewPaths() // an API without routes
	}
	seen := map[*openapi3.Schema]bool{}
	eachOperation(doc, func(_, _ string, op *openapi3.Operation) {
		for _, response := range op.Responses.Map() {
			for _, name := range exportTypes {
				if media := response.Value.Content[name]; media != nil {
					media.Schema = openapi3.NewStringSchema().NewRef()
				}
			}
			for _, media := range response.Value.Content {
				requireFields(media.Schema, seen)
			}
		}
	})
	for _, schema := range doc.Components.Schemas { // also the schemas of bodies that are only JSON
		for _, property := range schema.Value.Properties {
			anyObject(property)
		}
	}
	e.securitySchemes()
	ids, tags := map[string]string{}, map[string]string{}
	var intros []string
	var errs []error
	eachOperation(doc, func(path, method string, op *openapi3.Operation) {
		op.OperationID = operationID(method, path)
		if other, taken := ids[op.OperationID]; taken {
			errs = append(errs, fmt.Errorf("%s %s and %s would have the same operation ID %s", method, path, other, op.OperationID))
		}
		ids[op.OperationID] = method + " " + path
		for _, tag := range op.Tags {
			about, _ := op.Extensions[tagMark].(string)
			tags[tag] += about
		}
		if intro, ok := op.Extensions[introMark].(string); ok {
			intros = append(intros, intro)
		}
		e.implied(op, path)
		notEmpty(op)
		if method == http.MethodPatch || method == http.MethodPut && doc.Paths.Value(path).Patch != nil {
			partial(op)
		}
		if err := e.operation(op, method); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", method, path, err))
		}
		for _, mark := range []string{tagMark, introMark, optionalMark, restrictedMark, rawMark, openMark, transferMark} {
			delete(op.Extensions, mark)
		}
	})
	slices.Sort(intros)
	doc.Info.Description = strings.Join(append([]string{doc.Info.Description}, intros...), "\n\n")
	var all openapi3.Tags
	for _, name := range slices.SortedFunc(maps.Keys(tags), byTag) {
		plain := strings.ToUpper(name[:1]) + name[1:] + "."
		tag := &openapi3.Tag{Name: name, Description: cmp.Or(tags[name], plain)}
		if joined := from.Tags.Get(name); joined != nil {
			tag.Extensions = joined.Extensions
		}
		all = append(all, tag)
	}
	doc.Tags = all
	return errors.Join(errs...)
}

// eachOperation calls f with each operation of a document, sorted by path and method.
func eachOperation(doc *openapi3.T, f func(path, method string, op *openapi3.Operation)) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		operations := doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			f(path, method, operations[method])
		}
	}
}

// Extensions of an operation; see convert. Operations with route.AllowRestricted have x-restricted, those with route.Raw x-raw,
// and those with route.Open x-open.
const (
	tagMark, introMark, optionalMark  = "x-tag", "x-intro", "x-optional-security"
	restrictedMark, rawMark, openMark = "x-restricted", "x-raw", "x-open"
)

// byTag compares tags: first the tags of accounts, because most operations need an account, then the others by name.
func byTag(a, b string) int {
	first := []string{"email-codes", "email-verifications", "password-resets", "auth", "users"}
	return cmp.Or(slices.Index(first, b)-slices.Index(first, a), strings.Compare(a, b))
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// operationID returns the method and the path in camelCase: getArticlesById for GET /articles/{id}.
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

// requireFields makes all fields of a response and of its nested schemas required, except fields with x-omitempty. It also adds
// null to the enums of nullable fields. It skips the schemas in seen, and adds the others to seen.
func requireFields(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}
	s := ref.Value
	seen[s] = true
	if s.Nullable && len(s.Enum) > 0 {
		s.Enum = append(s.Enum, nil)
	}
	anyObject(ref)
	s.Required, s.MinLength, s.MinItems = nil, 0, 0 // an absent string or list is empty
	for name, property := range s.Properties {
		if _, optional := extension(property, "x-omitempty"); !optional {
			s.Required = append(s.Required, name)
		}
		requireFields(property, seen)
	}
	slices.Sort(s.Required)
	for _, part := range s.AllOf {
		requireFields(part, seen)
	}
	requireFields(s.Items, seen)
	requireFields(s.AdditionalProperties.Schema, seen)
}

// anyObject replaces the extension x-json of a schema that is not part of a form with the type object.
func anyObject(ref *openapi3.SchemaRef) {
	if _, isObject := extension(ref, "x-json"); isObject {
		ref.Value.Type = &openapi3.Types{"object"}
		ref.Value.WithAnyAdditionalProperties() // otherwise, typed clients could not set properties
		parseExample(ref.Value)
	}
}

// parseExample replaces an example in JSON with its value. Invalid JSON stays a string, which the validation rejects.
func parseExample(s *openapi3.Schema) {
	if data, ok := s.Example.(string); ok {
		_ = json.Unmarshal([]byte(data), &s.Example)
	}
}

// extension removes an extension from a schema and returns the value; ok is false if the schema does not have the extension.
func extension(ref *openapi3.SchemaRef, name string) (value any, ok bool) {
	extensions := ref.Extensions
	if ref.Ref == "" && ref.Value != nil {
		extensions = ref.Value.Extensions
	}
	value, ok = extensions[name]
	delete(extensions, name)
	return value, ok
}

// operation completes the body, the security requirements, the parameters and the responses of an operation.
func (e enricher) operation(op *openapi3.Operation, method string) error {
	requestBody(op, e.doc.Components.Schemas)
	e.security(op)
	e.nameBody(op, method)
	uploadBody(op)
	e.parameters(op)
	return e.responses(op, method)
}

// form returns the schema of a body that consists of form parameters; nil if there is none.
func form(op *openapi3.Operation) *openapi3.Schema {
	if op.RequestBody == nil {
		return nil
	}
	for _, media := range op.RequestBody.Value.Content {
		if media.Schema.Ref == "" {
			return media.Schema.Value // all media types share the schema
		}
	}
	return nil
}

// requestBody converts the extensions of form parameters; schemas are those of the components. The body has an example if all
// required properties have one.
func requestBody(op *openapi3.Operation, schemas openapi3.Schemas) {
	schema := form(op)
	if schema == nil {
		if op.RequestBody != nil {
			delete(op.RequestBody.Value.Extensions, "x-originalParamName")
		}
		return
	}
	examples, encoding := map[string]any{}, openapi3.Encodings{}
	for name, property := range schema.Properties {
		p := property.Value
		delete(p.Extensions, "x-formData-name")
		_, nullable := extension(property, "x-nullable")
		p.Nullable = p.Nullable || nullable
		p.Example, _ = extension(property, exampleMark)
		if kind, ok := extension(property, "x-json"); ok {
			parseExample(p)
			if kind == "object" || kind == true {
				p.Type = &openapi3.Types{"object"}
				p.WithAnyAdditionalProperties() // otherwise, typed clients could not set properties
			} else {
				p.Type, p.AllOf = nil, openapi3.SchemaRefs{openapi3.NewSchemaRef(fmt.Sprint("#/components/schemas/", kind), nil)}
				if named := schemas[fmt.Sprint(kind)]; p.Nullable && named != nil { // allOf would not allow null; orval 7 fails at an enum of only null
					p.Type, p.AllOf, p.Required = named.Value.Type, nil, named.Value.Required
					p.Properties, p.AdditionalProperties = named.Value.Properties, named.Value.AdditionalProperties
				}
			}
			encoding[name] = &openapi3.Encoding{ContentType: "application/json"}
		}
		if p.Nullable && len(p.Enum) > 0 {
			p.Enum = append(p.Enum, nil)
		}
		if p.Example != nil {
			examples[name] = p.Example
		}
	}
	for mediaType, media := range op.RequestBody.Value.Content {
		if mediaType != "application/json" && len(encoding) > 0 {
			media.Encoding = encoding
		}
	}
	lacking := func(name string) bool { return examples[name] == nil }
	if len(examples) > 0 && !slices.ContainsFunc(schema.Required, lacking) {
		schema.Example = examples
	}
	op.RequestBody.Value.Required = len(schema.Required) > 0
}

// nameBody moves the schema of a form to the components, where it has a name derived from the operation's ID. A multipart form
// with files has a schema of its own.
func (e enricher) nameBody(op *openapi3.Operation, method string) {
	schema := form(op)
	if schema == nil {
		return
	}
	name := strings.ToUpper(op.OperationID[:1]) + op.OperationID[1:] + "Body"
	files := takeFiles(schema, method != http.MethodPost)
	e.doc.Components.Schemas[name] = openapi3.NewSchemaRef("", schema)
	for _, media := range op.RequestBody.Value.Content {
		media.Schema = openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
	}
	if len(files) > 0 {
		form := *schema
		form.Properties = maps.Clone(schema.Properties)
		maps.Copy(form.Properties, files)
		e.doc.Components.Schemas[name+"WithFiles"] = openapi3.NewSchemaRef("", &form)
		op.RequestBody.Value.Content[multipartType].Schema = openapi3.NewSchemaRef("#/components/schemas/"+name+"WithFiles", nil)
	}
}
