package documents

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:embed components.json
var componentsJSON []byte

// components has the headers of responses, and an example of each error code.
var components = func() (c openapi3.Components) {
	if err := json.Unmarshal(componentsJSON, &c); err != nil {
		panic(err)
	}
	return c
}()

const (
	problemRef  = "#/components/schemas/Problem"
	problemType = "application/problem+json"
)

// common are the error codes that every operation can return. The default response describes them.
var common = []string{
	"malformed_body", "validation_failed", "unauthorized", "request_timeout", "payload_too_large", "unsupported_media_type", "internal", "unavailable",
}

// restrictions returns the error codes with the status 403 that the operation can return because of an API key or an
// access.Restriction. Operations without a required credential have these codes too, because they reject a key without the scope
// and a token of a restricted user.
func (e enricher) restrictions(op *openapi3.Operation, method string) (codes []string) {
	switch {
	case op.Extensions[openMark] == true:
		return nil
	case e.doc.Components.SecuritySchemes[apiKeyScheme] == nil:
	case op.Extensions[scopeMark] != nil && e.hasCode("insufficient_scope"):
		codes = append(codes, "insufficient_scope")
	case !takes(op, apiKeyScheme) && e.hasCode("forbidden"):
		codes = append(codes, "forbidden")
	}
	if op.Extensions[restrictedMark] == true {
		return codes
	}
	if method != http.MethodGet && e.hasCode("email_not_verified") {
		codes = append(codes, "email_not_verified")
	}
	if e.hasCode("two_factor_required") {
		codes = append(codes, "two_factor_required")
	}
	return codes
}

// isSignIn reports whether an operation creates a session for a caller with a credential.
func (e enricher) isSignIn(op *openapi3.Operation) bool {
	created := op.Responses.Value("201")
	return created != nil && len(*op.Security) > 0 && created.Value.Content["application/json"].Schema.Ref == "#/components/schemas/AuthResult"
}

// defaultResponse adds the response "default" to an operation. It describes the errors of common and of restrictions, and the limit
// of a user's changes in progress.
func (e enricher) defaultResponse(op *openapi3.Operation, method string) {
	media := openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef(problemRef, nil))
	media.Examples = openapi3.Examples{}
	possible := slices.Clone(common)
	possible = slices.DeleteFunc(possible, func(code string) bool {
		return op.Extensions[rawMark] == true && code == "unsupported_media_type" || op.Extensions[openMark] == true && code == "unauthorized"
	})
	if method != http.MethodGet || op.Extensions[transferMark] == true {
		possible = append(possible, "too_many_requests")
	}
	var codes []string
	for _, code := range append(slices.DeleteFunc(possible, func(code string) bool { return !e.hasCode(code) }), e.restrictions(op, method)...) {
		codes = append(codes, fmt.Sprint(e.addExample(media, op, code), " ", code))
	}
	if len(codes) == 0 {
		return
	}
	response := openapi3.NewResponse().WithDescription("any other error: " + strings.Join(codes, ", ")).
		WithContent(openapi3.Content{problemType: media})
	response.Headers = openapi3.Headers{"X-Request-Id": {Ref: "#/components/headers/X-Request-Id"}}
	op.Responses.Set("default", &openapi3.ResponseRef{Value: response})
}

// responses adds the media type and examples to errors, adds headers to all responses, and adds the default response.
func (e enricher) responses(op *openapi3.Operation, method string) error {
	invalid := "validation_failed" // operations without parameters also return it, for unknown parameters
	if method != http.MethodGet {
		invalid += ", malformed_body"
	}
	e.imply(op, http.StatusBadRequest, invalid)
	if op.Extensions[openMark] != true {
		e.imply(op, http.StatusUnauthorized, "unauthorized") // public operations also return it, for an invalid credential
	}
	limited := op.Responses.Value("429") != nil
	for status, ref := range op.Responses.Map() {
		r := ref.Value
		if media := r.Content.Get("application/json"); media != nil && media.Schema.Ref == problemRef {
			r.Content = openapi3.Content{problemType: media}
			if err := e.examples(media, op, status, *r.Description); err != nil {
				return fmt.Errorf("status %s: %w", status, err)
			}
			switch {
			case status == "403":
				for _, code := range e.restrictions(op, method) {
					e.addExample(media, op, code)
				}
			case status == "401" && e.isSignIn(op) && e.doc.Paths.Value("/auth/second-factor") != nil:
				e.addExample(media, op, "second_factor_required")
			}
		}
		names := append(slices.Collect(maps.Keys(r.Headers)), "X-Request-Id")
		switch {
		case status == "401":
			names = append(names, "WWW-Authenticate")
		case status == "429", status == "503":
			names = append(names, "Retry-After")
		case status == "304", status == "200" && isConditional(op):
			names = append(names, "ETag")
		case r.Headers["Location"] != nil:
			names = append(names, "ETag")
			if op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil {
				names = append(names, "Idempotency-Replayed")
			}
		}
		if limited {
			names = append(names, "RateLimit", "RateLimit-Policy")
		}
		headers := openapi3.Headers{}
		for _, name := range names {
			headers[name] = r.Headers[name]
			if components.Headers[name] != nil {
				headers[name] = &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
			}
		}
		r.Headers = headers
	}
	e.defaultResponse(op, method)
	return nil
}

// isConditional reports whether an operation has the parameter If-Match or If-None-Match.
func isConditional(op *openapi3.Operation) bool {
	header := op.Parameters.GetByInAndName
	return header("header", "If-Match") != nil || header("header", "If-None-Match") != nil
}

// codeShape matches what looks like an error code, and not like a word of a description.
var codeShape = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)

// examples adds an example for each code in the description of an error with the status, for example "not_found", or
// "conflict: the seat is taken; sold_out: no seat is left". The detail of the example of a conflict, and of a code without an
// example in components.json, is the text after the code. examples fails if the description does not begin with a code, or has
// a code that no module declares.
func (e enricher) examples(media *openapi3.MediaType, op *openapi3.Operation, status, description string) error {
	media.Examples = openapi3.Examples{}
	for _, part := range strings.FieldsFunc(description, func(r rune) bool { return r == ',' || r == ';' }) {
		code, _, explained := strings.Cut(strings.TrimSpace(part), ":")
		_, text, _ := strings.Cut(description, code+": ")
		text, _, _ = strings.Cut(text, ";")
		switch {
		case e.declares(code) && components.Examples[code] == nil:
			number, _ := strconv.Atoi(status)
			problem := map[string]any{
				"type": "about:blank", "title": http.StatusText(number), "status": number, "code": code, "detail": sentence(text), "requestId": "5f0e8c1b9d3a47e2a6c4",
			}
			media.Examples[code] = &openapi3.ExampleRef{Value: openapi3.NewExample(problem)}
		case code == "conflict" && strings.HasPrefix(description, "conflict: ") && e.hasCode(code):
			problem := maps.Clone(components.Examples[code].Value.Value.(map[string]any))
			problem["detail"] = sentence(strings.TrimPrefix(description, "conflict: "))
			media.Examples[code] = &openapi3.ExampleRef{Value: openapi3.NewExample(problem)}
		case e.hasCode(code):
			e.addExample(media, op, code)
		case explained && codeShape.MatchString(code):
			return fmt.Errorf("%w: no module declares the error code %s in the description %q; add r.Codes to the Routes of its module", ErrMismatch, code, description)
		}
	}
	if len(media.Examples) == 0 {
		return fmt.Errorf("the description %q does not begin with an error code; a module declares codes of its own with r.Codes", description)
	}
	return nil
}

// sentence returns a text with a capital letter at its beginning and a full stop.
func sentence(text string) string {
	if text == "" {
		return "The error has no description."
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// declares reports whether the document declares the error code.
func (e enricher) declares(code string) bool {
	schema := e.doc.Components.Schemas["ErrorCode"]
	return schema != nil && slices.Contains(schema.Value.Enum, any(code))
}

// hasCode reports whether the document declares the error code, and components.json has an example of it.
func (e enricher) hasCode(code string) bool {
	return e.declares(code) && components.Examples[code] != nil
}

// addExample adds the example of an error and returns the status of the error. The operations share an example, unless the
// example depends on the operation.
func (e enricher) addExample(media *openapi3.MediaType, op *openapi3.Operation, code string) (status any) {
	shared := components.Examples[code]
	problem := maps.Clone(shared.Value.Value.(map[string]any))
	switch {
	case code == "unauthorized" && !takesUserToken(op):
		problem["detail"] = "The master key is missing. Send it from a server, as access_token in the body; a page or an app must not contain it."
	case code == "second_factor_required" && !e.isSignIn(op):
		problem["title"], problem["status"], problem["detail"] = "Forbidden", 403, "Two-factor sign-in is on. Also send either code (from the authenticator app) or recovery_code."
		delete(problem, "challenge")
	case code == "validation_failed":
		problem["errors"] = []any{e.invalidParameter(op)}
	default:
		e.doc.Components.Examples[code] = shared
		media.Examples[code] = &openapi3.ExampleRef{Ref: "#/components/examples/" + code}
		return problem["status"]
	}
	media.Examples[code] = &openapi3.ExampleRef{Value: openapi3.NewExample(problem)}
	return problem["status"]
}

// takesUserToken reports whether the operation requires or accepts a user token, or no credential at all.
func takesUserToken(op *openapi3.Operation) bool {
	return len(*op.Security) == 0 || takes(op, "UserToken")
}

// takes reports whether one of the security requirements of the operation has the scheme.
func takes(op *openapi3.Operation, scheme string) bool {
	return slices.ContainsFunc(*op.Security, func(all openapi3.SecurityRequirement) bool { return all[scheme] != nil })
}

// invalidParameter returns an example of an ErrorField: a missing parameter of the body, a limit that is too large, or an unknown
// parameter.
func (e enricher) invalidParameter(op *openapi3.Operation) map[string]any {
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Value.Content {
			body := e.doc.Components.Schemas[path.Base(media.Schema.Ref)]
			if body != nil && len(body.Value.Required) > 0 {
				return map[string]any{"in": "body", "param": body.Value.Required[0], "code": "required", "message": "Must be given."}
			}
		}
	}
	if op.Parameters.GetByInAndName("query", "limit") != nil {
		return map[string]any{"in": "query", "param": "limit", "code": "max", "message": "Must be at most 100.", "expected": 100}
	}
	return map[string]any{"in": "query", "param": "colour", "code": "unknown", "message": "Is not a parameter of this operation."}
}
