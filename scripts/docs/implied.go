package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// bodyTypes are the media types of a body whose operation has no @Accept.
var bodyTypes = []string{"application/x-www-form-urlencoded", "multipart/form-data", "application/json"}

// implied adds what the parameters of an operation imply, unless an annotation says it: a parameter for each {name} in the
// path, and the responses of conditional and of repeatable requests.
func (e enricher) implied(op *openapi3.Operation, path string) {
	add := func(status int, description string) {
		key := fmt.Sprint(status)
		code, _, _ := strings.Cut(description, ":")
		if op.Responses.Value(key) == nil && (status < http.StatusBadRequest || e.hasCode(code)) {
			op.Responses.Set(key, &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(description)})
			if status >= http.StatusBadRequest {
				op.Responses.Value(key).Value.WithJSONSchemaRef(openapi3.NewSchemaRef(problemRef, nil))
			}
		}
	}
	for segment := range strings.SplitSeq(path, "/") {
		name, isParameter := strings.CutPrefix(segment, "{")
		if name = strings.TrimSuffix(name, "}"); !isParameter {
			continue
		}
		if op.Parameters.GetByInAndName("path", name) == nil {
			op.AddParameter(openapi3.NewPathParameter(name).WithSchema(openapi3.NewStringSchema()).WithDescription(name))
		}
		add(http.StatusNotFound, "not_found")
	}
	if op.Parameters.GetByInAndName("header", "If-None-Match") != nil {
		add(http.StatusNotModified, "not changed since that response")
	}
	if op.Parameters.GetByInAndName("header", "If-Match") != nil {
		add(http.StatusPreconditionFailed, "precondition_failed: the record has changed since")
	}
	if op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil {
		const running = "the first request with this key is still running"
		if taken := op.Responses.Value("409"); taken == nil {
			add(http.StatusConflict, "conflict: "+running)
		} else if text := *taken.Value.Description; !strings.HasSuffix(text, running) {
			*taken.Value.Description = text + ", or " + running
		}
		add(http.StatusUnprocessableEntity, "idempotency_mismatch: the key was used with other parameters")
	}
}

// notEmpty bounds required strings: an empty one is rejected.
func notEmpty(op *openapi3.Operation) {
	schema := form(op)
	if schema == nil {
		return
	}
	for _, name := range schema.Required {
		p := schema.Properties[name].Value
		if _, isJSON := p.Extensions["x-json"]; p.Type.Is("string") && !isJSON && p.Enum == nil {
			p.MinLength = max(p.MinLength, 1)
		}
	}
}

// partial makes the parameters of an update optional: none is required, and null resets those that are not required in the
// annotated struct.
func partial(op *openapi3.Operation) {
	schema := form(op)
	if schema == nil {
		return
	}
	required := map[string]bool{}
	for _, name := range schema.Required {
		required[name] = true
	}
	for name, property := range schema.Properties {
		property.Value.Nullable = property.Value.Nullable || !required[name]
		property.Value.Default = nil
	}
	schema.Required = nil
}
