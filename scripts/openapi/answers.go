package main

import (
	"slices"

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
		{"ETag", "names this state of the record", true, text()},
		{"Location", "address of the new record", true, text()},
		{"Idempotency-Replayed", "true: the first answer to this Idempotency-Key, again", false, text().WithEnum("true")},
	} {
		p := openapi3.Parameter{Description: h.about, Required: h.required, Schema: openapi3.NewSchemaRef("", h.schema)}
		out[h.name] = &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: p}}
	}
	return out
}

const problemRef = "#/components/schemas/Problem"

// responses gives errors their media type, and every answer the headers that it bears.
func (e enricher) responses(op *openapi3.Operation) {
	limited := op.Responses.Value("429") != nil
	for status, ref := range op.Responses.Map() {
		r := ref.Value
		if media := r.Content.Get("application/json"); media != nil && media.Schema.Ref == problemRef {
			r.Content = openapi3.Content{"application/problem+json": media}
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
}
