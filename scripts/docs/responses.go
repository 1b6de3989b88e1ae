package main

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// headers returns the headers of responses. responses refers to them.
func headers() openapi3.Headers {
	text := openapi3.NewStringSchema
	out := openapi3.Headers{}
	for _, h := range []struct {
		name, about string
		required    bool
		schema      *openapi3.Schema
	}{
		{"X-Request-Id", "the ID of the request, from the client or generated; it is in the log too", true, text()},
		{"WWW-Authenticate", "the accepted authentication schemes (RFC 9110)", true, text()},
		{"Retry-After", "seconds to wait before a retry", true, openapi3.NewIntegerSchema().WithMin(0)},
		{"RateLimit", "the remaining quota of each applied limit (draft-ietf-httpapi-ratelimit-headers)", false, text()},
		{"RateLimit-Policy", "the applied limits (draft-ietf-httpapi-ratelimit-headers)", false, text()},
		{"ETag", "the version of the representation", true, text()},
		{"Location", "the URL of the new record", true, text()},
		{"Idempotency-Replayed", "true: this is the first response to the same Idempotency-Key", false, text().WithEnum("true")},
	} {
		p := openapi3.Parameter{Description: h.about, Required: h.required, Schema: openapi3.NewSchemaRef("", h.schema)}
		out[h.name] = &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: p}}
	}
	return out
}

const (
	problemRef  = "#/components/schemas/Problem"
	problemType = "application/problem+json"
)

// details are messages of the service, for the examples of errors.
var details = map[string]string{
	"validation_failed":      "Some parameters are not valid; errors lists each of them.",
	"malformed_body":         "The body is not valid JSON; the error is after byte 17.",
	"unauthorized":           "A user token is missing. Sign in, and send the token as access_token, or in the header \"Authorization: Bearer …\".",
	"second_factor_required": "Send challenge with a code to POST /auth/second-factor.",
	"forbidden":              "Only the owner or an admin may do this.",
	"email_not_verified":     "Verify the email address of this account first, with the link in the email. A password reset verifies it too.",
	"suspended":              "An admin has suspended this account. Contact the operator of this service.",
	"two_factor_required":    "Admins must enrol in two-factor sign-in first: POST /users/me/two-factor.",
	"not_found":              "There is no such record.",
	"request_timeout":        "The body arrived too slowly.",
	"conflict":               "A record with the same value exists already.",
	"precondition_failed":    "The record has changed since it was read. Read it again, and repeat the change on what it is now.",
	"idempotency_mismatch":   "This Idempotency-Key was used with other parameters. Use a new key for a new request.",
	"too_many_requests":      "Too many attempts. Wait for the time in Retry-After, then try again.",
	"payload_too_large":      "The body is larger than 1048576 bytes.",
	"unsupported_media_type": "The body must be one of application/json, application/x-www-form-urlencoded, multipart/form-data, and have that Content-Type.",
	"internal":               "Internal error. Report the requestId: the log has the details.",
	"unavailable":            "The database is unavailable. Try again in a few seconds.",
}

// common are the errors that every operation can return. They are its default response.
var common = []struct {
	status int
	code   string
}{
	{http.StatusBadRequest, "malformed_body"},
	{http.StatusBadRequest, "validation_failed"},
	{http.StatusUnauthorized, "unauthorized"},
	{http.StatusRequestTimeout, "request_timeout"},
	{http.StatusRequestEntityTooLarge, "payload_too_large"},
	{http.StatusUnsupportedMediaType, "unsupported_media_type"},
	{http.StatusInternalServerError, "internal"},
	{http.StatusServiceUnavailable, "unavailable"},
}

// restrictions are the codes of the status 403 that a request of a user can have because of an access.Restriction.
var restrictions = []struct {
	code  string
	reads bool   // not only changes
	path  string // only in a document with this path; "" for all
}{
	{code: "email_not_verified"},
	{code: "two_factor_required", reads: true, path: "/users/me/two-factor"},
}

// addRestrictions adds the restrictions to a response. An operation without a required credential has them too: it rejects a
// token of a restricted user.
func (e enricher) addRestrictions(media *openapi3.MediaType, op *openapi3.Operation, method string) (added []string) {
	if op.Extensions[restrictedMark] == true {
		return nil
	}
	for _, r := range restrictions {
		applies := (r.reads || method != http.MethodGet) && (r.path == "" || e.doc.Paths.Value(r.path) != nil)
		if applies && e.hasCode(r.code) {
			e.addExample(media, op, http.StatusForbidden, r.code)
			added = append(added, r.code)
		}
	}
	return added
}

// isSignIn reports whether an operation returns tokens to a caller with a password or a provider's account.
func (e enricher) isSignIn(op *openapi3.Operation) bool {
	created := op.Responses.Value("201")
	return created != nil && len(*op.Security) > 0 && created.Value.Content["application/json"].Schema.Ref == "#/components/schemas/AuthResult"
}

// defaultResponse adds the response "default" to an operation.
func (e enricher) defaultResponse(op *openapi3.Operation, method string) {
	media := openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef(problemRef, nil))
	media.Examples = openapi3.Examples{}
	var codes []string
	for _, c := range common {
		if e.hasCode(c.code) {
			e.addExample(media, op, c.status, c.code)
			codes = append(codes, fmt.Sprintf("%d %s", c.status, c.code))
		}
	}
	if len(codes) == 0 {
		return
	}
	for _, code := range e.addRestrictions(media, op, method) {
		codes = append(codes, "403 "+code)
	}
	response := openapi3.NewResponse().WithDescription("any other error: " + strings.Join(codes, ", ")).
		WithContent(openapi3.Content{problemType: media})
	response.Headers = openapi3.Headers{"X-Request-Id": {Ref: "#/components/headers/X-Request-Id"}}
	op.Responses.Set("default", &openapi3.ResponseRef{Value: response})
}

// responses adds media type and examples to errors, headers to all responses, and the default response.
func (e enricher) responses(op *openapi3.Operation, method string) error {
	invalid := "validation_failed" // also with no parameters: unknown ones are rejected
	if method != http.MethodGet {
		invalid += ", malformed_body"
	}
	e.imply(op, http.StatusBadRequest, invalid)
	e.imply(op, http.StatusUnauthorized, "unauthorized") // also with no required credential: an invalid one is rejected
	limited := op.Responses.Value("429") != nil
	for status, ref := range op.Responses.Map() {
		r := ref.Value
		if media := r.Content.Get("application/json"); media != nil && media.Schema.Ref == problemRef {
			r.Content = openapi3.Content{problemType: media}
			if err := e.examples(media, op, status, *r.Description); err != nil {
				return err
			}
			switch {
			case status == "403":
				e.addRestrictions(media, op, method)
			case status == "401" && e.isSignIn(op) && e.doc.Paths.Value("/auth/second-factor") != nil:
				e.addExample(media, op, http.StatusUnauthorized, "second_factor_required")
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
		for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
			headers[name] = r.Headers[name]
			if _, shared := e.doc.Components.Headers[name]; shared {
				headers[name] = &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
			}
		}
		r.Headers = headers
	}
	e.defaultResponse(op, method)
	return nil
}

// isConditional reports whether the operation compares an ETag.
func isConditional(op *openapi3.Operation) bool {
	header := op.Parameters.GetByInAndName
	return header("header", "If-Match") != nil || header("header", "If-None-Match") != nil
}

// examples adds an example for each code at the beginning of the description of an error, for example "not_found", or
// "malformed_body; validation_failed: two different access_token".
func (e enricher) examples(media *openapi3.MediaType, op *openapi3.Operation, status, description string) error {
	number, err := strconv.Atoi(status)
	if err != nil {
		return fmt.Errorf("status %s is not a number", status)
	}
	media.Examples = openapi3.Examples{}
	for _, part := range strings.FieldsFunc(description, func(r rune) bool { return r == ',' || r == ';' }) {
		if code, _, _ := strings.Cut(strings.TrimSpace(part), ":"); e.hasCode(code) {
			e.addExample(media, op, number, code)
		}
	}
	if len(media.Examples) == 0 {
		return fmt.Errorf("status %s: the description %q does not begin with an error code", status, description)
	}
	return nil
}

// hasCode reports whether the document declares an error code.
func (e enricher) hasCode(code string) bool {
	schema := e.doc.Components.Schemas["ErrorCode"]
	return schema != nil && slices.Contains(schema.Value.Enum, any(code))
}

// addExample adds an example of an error. The operations share them, except those that name a parameter.
func (e enricher) addExample(media *openapi3.MediaType, op *openapi3.Operation, status int, code string) {
	problem := map[string]any{
		"type": "about:blank", "title": http.StatusText(status), "status": status, "code": code,
		"detail": details[code], "requestId": "5f0e8c1b9d3a47e2a6c4",
	}
	switch {
	case code == "second_factor_required":
		problem["challenge"] = "Zk3n0cXGk2…"
	case code == "unauthorized" && !takesUserToken(op):
		problem["detail"] = "The master key is missing. Send it from a server, as access_token in the body; a page or an app must not contain it."
		media.Examples[code] = &openapi3.ExampleRef{Value: openapi3.NewExample(problem)}
		return
	case code == "validation_failed":
		problem["errors"] = []any{e.invalidParameter(op)}
		media.Examples[code] = &openapi3.ExampleRef{Value: openapi3.NewExample(problem)}
		return
	}
	e.doc.Components.Examples[code] = &openapi3.ExampleRef{Value: openapi3.NewExample(problem)}
	media.Examples[code] = &openapi3.ExampleRef{Ref: "#/components/examples/" + code}
}

// takesUserToken reports whether the operation requires or accepts a user token, or no credential at all.
func takesUserToken(op *openapi3.Operation) bool {
	return len(*op.Security) == 0 || slices.ContainsFunc(*op.Security, func(all openapi3.SecurityRequirement) bool { return all["UserToken"] != nil })
}

// invalidParameter returns an example of an ErrorField: a missing parameter of the body, a page that is too long, or an
// unknown parameter.
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
