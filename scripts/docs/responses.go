package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// headers are those that answers bear by rule.
func headers() openapi3.Headers {
	text := openapi3.NewStringSchema
	out := openapi3.Headers{}
	for _, h := range []struct {
		name, about string
		required    bool
		schema      *openapi3.Schema
	}{
		{"X-Request-Id", "of the request: the client's own, or a new one; also in the log", true, text()},
		{"WWW-Authenticate", "how to prove who calls (RFC 9110)", true, text()},
		{"Retry-After", "in how many seconds it is worth trying again", true, openapi3.NewIntegerSchema().WithMin(0)},
		{"RateLimit", "what is left of each limit that was looked at (draft-ietf-httpapi-ratelimit-headers)", false, text()},
		{"RateLimit-Policy", "the limits that were looked at (draft-ietf-httpapi-ratelimit-headers)", false, text()},
		{"ETag", "names what this answer shows, as it is now", true, text()},
		{"Location", "address of the new record", true, text()},
		{"Idempotency-Replayed", "true: the first answer to this Idempotency-Key, again", false, text().WithEnum("true")},
	} {
		p := openapi3.Parameter{Description: h.about, Required: h.required, Schema: openapi3.NewSchemaRef("", h.schema)}
		out[h.name] = &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: p}}
	}
	return out
}

const problemRef = "#/components/schemas/Problem"

// responses gives errors their media type and examples, and every answer the headers that it bears.
func (e enricher) responses(op *openapi3.Operation) error {
	limited := op.Responses.Value("429") != nil
	for status, ref := range op.Responses.Map() {
		r := ref.Value
		if media := r.Content.Get("application/json"); media != nil && media.Schema.Ref == problemRef {
			r.Content = openapi3.Content{"application/problem+json": media}
			if err := e.examples(media, status, *r.Description); err != nil {
				return err
			}
		}
		names := []string{"X-Request-Id"}
		for name := range r.Headers { // that the annotations name
			names = append(names, name)
		}
		switch {
		case status == "401":
			names = append(names, "WWW-Authenticate")
		case status == "429", status == "503":
			names = append(names, "Retry-After")
		case status == "304", status == "200" && op.Parameters.GetByInAndName("header", "If-Match") != nil:
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
		bears := openapi3.Headers{}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
			bears[name] = r.Headers[name]
			if _, common := e.doc.Components.Headers[name]; common {
				bears[name] = &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
			}
		}
		r.Headers = bears
	}
	return nil
}

// examples gives an error one example for each of the codes that its description begins with: "not_found", or
// "malformed_body; validation_failed: two different access_token".
func (e enricher) examples(media *openapi3.MediaType, status, description string) error {
	number, err := strconv.Atoi(status)
	if err != nil {
		return fmt.Errorf("status %s is no number", status)
	}
	media.Examples = openapi3.Examples{}
	for _, part := range strings.FieldsFunc(description, func(r rune) bool { return r == ',' || r == ';' }) {
		code, _, _ := strings.Cut(strings.TrimSpace(part), ":")
		if e.doc.Components.Schemas["ErrorCode"] == nil || !slices.Contains(e.doc.Components.Schemas["ErrorCode"].Value.Enum, any(code)) {
			continue
		}
		problem := map[string]any{
			"type": "about:blank", "title": http.StatusText(number), "status": number, "code": code,
			"detail": "What is wrong, and what to do.", "requestId": "5f0e8c1b9d3a47e2a6c4",
		}
		if code == "validation_failed" {
			problem["errors"] = []any{map[string]any{"in": "body", "param": "title", "code": "required", "message": "Must be given."}}
		}
		e.doc.Components.Examples[code] = &openapi3.ExampleRef{Value: openapi3.NewExample(problem)}
		media.Examples[code] = &openapi3.ExampleRef{Ref: "#/components/examples/" + code}
	}
	if len(media.Examples) == 0 {
		return fmt.Errorf("status %s: its description %q does not begin with a code of errors", status, description)
	}
	return nil
}
