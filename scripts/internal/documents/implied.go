package documents

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// bodyTypes are the media types of a body whose operation has no @Accept.
var bodyTypes = []string{"application/x-www-form-urlencoded", "multipart/form-data", "application/json"}

// implied adds what the path and the parameters of an operation imply: a parameter for each {name} in the path, and the responses
// to conditional and repeatable requests. Annotations take precedence.
func (e enricher) implied(op *openapi3.Operation, path string) {
	collection := ""
	for segment := range strings.SplitSeq(path, "/") {
		name, isParameter := strings.CutPrefix(segment, "{")
		if name = strings.TrimSuffix(name, "}"); !isParameter {
			collection = strings.ReplaceAll(segment, "-", " ")
			continue
		}
		if op.Parameters.GetByInAndName("path", name) == nil {
			op.AddParameter(openapi3.NewPathParameter(name).WithSchema(openapi3.NewStringSchema()).WithDescription("id of one of the " + collection))
		}
		e.imply(op, http.StatusNotFound, "not_found")
	}
	if op.Parameters.GetByInAndName("header", "If-None-Match") != nil {
		e.imply(op, http.StatusNotModified, "the response has not changed since the version in If-None-Match")
	}
	if op.Parameters.GetByInAndName("header", "If-Match") != nil {
		e.imply(op, http.StatusPreconditionFailed, "precondition_failed: the record does not have the version in If-Match")
	}
	if op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil {
		const running = "the first request with this Idempotency-Key is still running"
		if taken := op.Responses.Value("409"); taken == nil {
			e.imply(op, http.StatusConflict, "conflict: "+running)
		} else if text := *taken.Value.Description; !strings.HasSuffix(text, running) {
			*taken.Value.Description = text + ", or " + running
		}
		e.imply(op, http.StatusUnprocessableEntity, "idempotency_mismatch: the Idempotency-Key was already used with other parameters")
	}
}

// imply adds a response, unless an annotation already has a response with this status. The description of an error begins with
// its code.
func (e enricher) imply(op *openapi3.Operation, status int, description string) {
	key, response := strconv.Itoa(status), openapi3.NewResponse().WithDescription(description)
	code := strings.FieldsFunc(description, func(r rune) bool { return r == ',' || r == ':' })[0]
	if status >= http.StatusBadRequest {
		response.WithJSONSchemaRef(openapi3.NewSchemaRef(problemRef, nil))
	}
	if op.Responses.Value(key) == nil && (status < http.StatusBadRequest || e.hasCode(code)) {
		op.Responses.Set(key, &openapi3.ResponseRef{Value: response})
	}
}

// notEmpty sets the minimum length of required strings to 1, because the service rejects empty strings.
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

// partial makes the parameters of an update optional. Parameters that the annotated struct does not require can be null, which
// resets them.
func partial(op *openapi3.Operation) {
	schema := form(op)
	if schema == nil {
		return
	}
	for name, property := range schema.Properties {
		property.Value.Nullable = property.Value.Nullable || !slices.Contains(schema.Required, name)
		property.Value.Default = nil
	}
	schema.Required = nil
}
