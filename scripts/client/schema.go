package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// verbs are the properties of a path in the types of openapi-typescript.
var verbs = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// schemaTypes returns schema.d.ts: the types paths and components in the shape of openapi-typescript 7, with the operations in paths. As
// with its option --default-non-nullable=false, a property with a default is required only if the document says so.
func (d document) schemaTypes() string {
	w := &printer{}
	w.open("export interface paths {")
	for _, name := range slices.Sorted(maps.Keys(d.Paths)) {
		w.open("%s: {", quote(name))
		w.line("parameters: { query?: never; header?: never; path?: never; cookie?: never }")
		for _, method := range verbs {
			if op := d.Paths[name][method]; op != nil {
				w.operation(method, op)
			} else {
				w.line("%s?: never", method)
			}
		}
		w.close()
	}
	w.close()
	w.open("export interface components {")
	w.open("schemas: {")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		w.property(name, d.Components.Schemas[name], true)
	}
	w.close()
	w.line("responses: never")
	w.line("parameters: never")
	w.line("requestBodies: never")
	w.open("headers: {")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Headers)) {
		w.comment(d.Components.Headers[name].Description)
		w.line("%s: %s", key(name), d.Components.Headers[name].Schema.typescript())
	}
	w.close()
	w.line("pathItems: never")
	w.close()
	return w.String()
}

// operation prints an operation of a path.
func (w *printer) operation(method string, op *operation) {
	w.comment(strings.TrimSpace(op.Summary + "\n" + op.Description))
	w.open("%s: {", method)
	w.open("parameters: {")
	for _, in := range []string{"query", "header", "path", "cookie"} {
		w.parameters(in, op.Parameters)
	}
	w.close()
	if op.RequestBody == nil {
		w.line("requestBody?: never")
	} else {
		w.open("requestBody%s: {", optional(op.RequestBody.Required))
		w.contents(op.RequestBody.Content)
		w.close()
	}
	w.open("responses: {")
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		w.comment(response.Description)
		w.open("%s: {", status)
		var headers []string
		for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
			headers = append(headers, response.Headers[name].typescript(name))
		}
		w.line("headers: { %s }", strings.Join(append(headers, "[name: string]: unknown"), "; "))
		w.contents(response.Content)
		w.close()
	}
	w.close()
	w.close()
}

// parameters prints the parameters in a place: the query, the path or the headers.
func (w *printer) parameters(in string, all []parameter) {
	var here []parameter
	required := false
	for _, p := range all {
		if p.In == in {
			here = append(here, p)
			required = required || p.Required
		}
	}
	if len(here) == 0 {
		w.line("%s?: never", in)
		return
	}
	w.open("%s%s: {", in, optional(required))
	for _, p := range here {
		w.comment(p.Description)
		w.line("%s%s: %s", key(p.Name), optional(p.Required), p.Schema.typescript())
	}
	w.close()
}

// contents prints the bodies of a request or response by media type.
func (w *printer) contents(bodies map[string]content) {
	if len(bodies) == 0 {
		w.line("content?: never")
		return
	}
	var parts []string
	for _, media := range slices.Sorted(maps.Keys(bodies)) {
		parts = append(parts, quote(media)+": "+bodies[media].Schema.typescript())
	}
	w.line("content: { %s }", strings.Join(parts, "; "))
}

// property prints a property with its description. Objects are printed in lines.
func (w *printer) property(name string, s *schema, required bool) {
	w.comment(s.Description)
	readonly := ""
	if s.ReadOnly {
		readonly = "readonly "
	}
	if s.Type != "object" || len(s.Properties) == 0 || len(s.Enum) > 0 {
		w.line("%s%s%s: %s", readonly, key(name), optional(required), s.typescript())
		return
	}
	w.open("%s%s%s: {", readonly, key(name), optional(required))
	for _, inner := range slices.Sorted(maps.Keys(s.Properties)) {
		w.property(inner, s.Properties[inner], slices.Contains(s.Required, inner))
	}
	if s.Nullable {
		w.closeWith("} | null")
	} else {
		w.close()
	}
}

// typescript returns a header as a property.
func (h *header) typescript(name string) string {
	if h.Ref != "" {
		return fmt.Sprintf("%s: components['headers'][%s]", key(name), quote(strings.TrimPrefix(h.Ref, "#/components/headers/")))
	}
	return key(name) + optional(h.Required) + ": " + h.Schema.typescript()
}

// typescript returns the type of the values of a schema.
func (s *schema) typescript() string {
	out := s.notNull()
	if s.Nullable && !slices.Contains(s.Enum, nil) {
		out += " | null"
	}
	return out
}

func (s *schema) notNull() string {
	switch {
	case s.Ref != "":
		return fmt.Sprintf("components['schemas'][%s]", quote(s.base()))
	case len(s.AllOf) > 0:
		var parts []string
		for _, part := range s.AllOf {
			parts = append(parts, part.typescript())
		}
		return strings.Join(parts, " & ")
	case len(s.Enum) > 0:
		return literals(s.Enum)
	}
	switch s.Type {
	case "string", "boolean":
		return s.Type
	case "integer", "number":
		return "number"
	case "array":
		item := s.Items.typescript()
		if strings.ContainsAny(item, "|&") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return s.object()
	}
	return "unknown"
}

// object returns the type of an object in one line.
func (s *schema) object() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		parts = append(parts, key(name)+optional(slices.Contains(s.Required, name))+": "+s.Properties[name].typescript())
	}
	var values schema
	switch extra := string(s.Additional); {
	case extra == "true":
		parts = append(parts, "[key: string]: unknown")
	case extra != "" && extra != "false" && json.Unmarshal(s.Additional, &values) == nil:
		parts = append(parts, "[key: string]: "+values.typescript())
	case len(parts) == 0:
		return "Record<string, never>"
	}
	return "{ " + strings.Join(parts, "; ") + " }"
}

// literals returns the union of values.
func literals(values []any) string {
	var out []string
	for _, value := range values {
		if text, ok := value.(string); ok {
			out = append(out, quote(text))
			continue
		}
		raw, _ := json.Marshal(value) // cannot fail: the value was read from JSON
		out = append(out, string(raw))
	}
	return strings.Join(out, " | ")
}

// quote returns text as a string literal.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// key returns the name of a property, in quotes if it needs them.
func key(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quote(name)
}

func optional(required bool) string {
	if required {
		return ""
	}
	return "?"
}

// printer prints indented lines.
type printer struct {
	strings.Builder
	depth int
}

func (w *printer) line(format string, args ...any) {
	w.WriteString(strings.Repeat("  ", w.depth) + fmt.Sprintf(format, args...) + "\n")
}

func (w *printer) open(format string, args ...any) {
	w.line(format, args...)
	w.depth++
}

func (w *printer) close() { w.closeWith("}") }

func (w *printer) closeWith(text string) {
	w.depth--
	w.line("%s", text)
}

// comment prints a doc comment, unless text is empty.
func (w *printer) comment(text string) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "*/", `*\/`), "\n")
	switch {
	case lines[0] == "":
	case len(lines) == 1:
		w.line("/** %s */", lines[0])
	default:
		w.line("/**")
		for _, line := range lines {
			w.line(" * %s", strings.TrimSpace(line))
		}
		w.line(" */")
	}
}
