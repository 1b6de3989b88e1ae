package documents

import (
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// securitySchemes declares API keys in the Authorization header, or with the name access_token, as bearer tokens (RFC 6750),
// which Swagger 2 cannot express.
func (e enricher) securitySchemes() {
	for name, scheme := range e.from.SecurityDefinitions {
		header := scheme.In == openapi3.ParameterInHeader && scheme.Name == "Authorization"
		if scheme.Type == "apiKey" && (header || scheme.Name == accessToken) {
			e.doc.Components.SecuritySchemes[name].Value = &openapi3.SecurityScheme{
				Type: "http", Scheme: "bearer", Description: scheme.Description,
			}
		}
		if scheme.Type == "basic" { // swag reads no description
			e.doc.Components.SecuritySchemes[name].Value.Description = "The email address and the password of a user."
		}
	}
}

const accessToken = "access_token"

// security moves a bearer token to access_token in the body if the operation also requires HTTP Basic, because the Authorization
// header cannot have both.
func (e enricher) security(op *openapi3.Operation) {
	out := openapi3.SecurityRequirements{} // empty for public operations
	if op.Security == nil {
		op.Security = &out
		return
	}
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
			op.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithSchema(schema, e.from.Consumes)}
		}
		if body := form(op); body != nil {
			body.Properties[accessToken] = openapi3.NewSchemaRef("", &openapi3.Schema{
				Type: &openapi3.Types{"string"}, Description: e.scheme(names[bearer]).Description, Example: "your MASTER_KEY",
			})
		}
	}
	if _, optional := op.Extensions[optionalMark]; optional {
		out = append(out, openapi3.SecurityRequirement{})
	}
	op.Security = &out
}

// scheme returns the security scheme with the name; an empty scheme if there is none.
func (e enricher) scheme(name string) *openapi3.SecurityScheme {
	if ref := e.doc.Components.SecuritySchemes[name]; ref != nil {
		return ref.Value
	}
	return &openapi3.SecurityScheme{}
}
