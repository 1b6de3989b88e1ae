package testkit

import (
	"net/http"
	"strings"
	"testing"
)

// sample is a document in the shape of docs/openapi.json.
const sample = `{
  "paths": {
    "/things": {"get": {"responses": {"200": {
      "headers": {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}, "RateLimit": {"schema": {"type": "string"}}},
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ThingPage"}}}
    }}}},
    "/things/{id}": {
      "get": {"responses": {
        "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
        "304": {"description": "not changed"},
        "400": {"content": {"application/json": {
          "schema": {"type": "object"}, "examples": {"malformed_body": {"$ref": "#/components/examples/malformed_body"}}
        }}}
      }},
      "delete": {"responses": {"204": {"description": "No Content"}}}
    },
    "/things/me": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"type": "string"}}}}}}}
  },
  "components": {
    "examples": {"malformed_body": {"value": {}}},
    "headers": {"X-Request-Id": {"required": true, "schema": {"type": "string"}}},
    "schemas": {
      "Thing": {
        "type": "object", "required": ["id", "at", "labels", "part"],
        "properties": {
          "id": {"type": "string"}, "at": {"type": "string", "format": "date-time"},
          "size": {"type": "integer", "nullable": true},
          "labels": {"type": "object", "additionalProperties": {"type": "string"}},
          "part": {"allOf": [{"$ref": "#/components/schemas/Part"}]}
        }
      },
      "LandingPage": {"type": "object", "properties": {"id": {"type": "string"}}},
      "Part": {"type": "object", "properties": {"kind": {"type": "string", "enum": ["big", "small"]}}},
      "ThingPage": {"type": "object", "required": ["rows"], "properties": {"rows": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}}}
    }
  }
}`

func TestFaults(t *testing.T) {
	t.Parallel()
	d, err := newDocument([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	const thing = `{"id":"1","at":"2026-01-02T15:04:05.678Z","size":null,"labels":{"any":"text"},"part":{"kind":"big"}}`
	with := func(old, replacement string) string { return strings.Replace(thing, old, replacement, 1) }
	for _, test := range []struct {
		name, method, path string
		status             int
		body               string
		want               string // a part of the only difference; "" is none
	}{
		{"as documented", "GET", "/api/things/1", 200, thing, ""},
		{"of HEAD there is no body", "HEAD", "/api/things/1", 200, "", ""},
		{"optional, absent", "GET", "/api/things/1", 200, with(`"size":null,`, ""), ""},
		{"field that is not documented", "GET", "/api/things/1", 200, with(`"id"`, `"secret":1,"id"`), `property "secret" is unsupported`},
		{"the same further down", "GET", "/api/things/1", 200, with(`{"kind"`, `{"secret":1,"kind"`), `property "secret" is unsupported`},
		{"field that is missing", "GET", "/api/things/1", 200, with(`"id":"1",`, ""), `property "id" is missing`},
		{"another type", "GET", "/api/things/1", 200, with(`"1"`, "1"), "/id: value must be a string"},
		{"may not be null", "GET", "/api/things/1", 200, with(`"1"`, "null"), `/id: Value is not nullable; if the field can be null, add the tag extensions:"x-nullable"`},
		{"another format", "GET", "/api/things/1", 200, with("2026-01-02T", ""), "date-time"},
		{"none of the values", "GET", "/api/things/1", 200, with("big", "huge"), `["big","small"]`},
		{"another type in a map", "GET", "/api/things/1", 200, with(`"text"`, "1"), "value must be a string"},
		{"no JSON", "GET", "/api/things/1", 200, "{", "unexpected end of JSON input"},
		{"status that is not documented", "GET", "/api/things/1", 404, "", "is not documented"},
		{"code that is documented", "GET", "/api/things/1", 400, `{"code":"malformed_body"}`, ""},
		{"code that is not documented", "GET", "/api/things/1", 400, `{"code":"internal"}`, "the code is internal"},
		{"no body", "DELETE", "/api/things/1", 204, "", ""},
		{"not changed", "GET", "/api/things/1", 304, "", ""},
		{"body that is not documented", "DELETE", "/api/things/1", 204, thing, "has a body"},
		{"a word goes before a parameter", "GET", "/api/things/me", 200, `"me"`, ""},
		{"the same, not as documented", "GET", "/api/things/me", 200, thing, "value must be a string"},
		{"rows are whole", "GET", "/api/things", 200, `{"rows":[{"id":"1"}]}`, `property "at" is missing`},
		{"rows of chosen fields", "GET", "/api/things?fields=id", 200, `{"rows":[{"id":"1"}]}`, ""},
		{"rows of chosen fields without id", "GET", "/api/things?fields=at", 200, `{"rows":[{"at":"2026-01-02T15:04:05.678Z"}]}`, `property "id" is missing`},
		{"rows of fields that are not documented", "GET", "/api/things?fields=x", 200, `{"rows":[{"id":"1","x":1}]}`, `property "x" is unsupported`},
		{"page without rows", "GET", "/api/things?fields=id", 200, `{}`, `property "rows" is missing`},
		{"no operation: method", "POST", "/api/things", 405, "x", ""},
		{"no operation: path", "GET", "/api/things/1/2", 404, "x", ""},
		{"no operation: empty parameter", "GET", "/api/things/", 404, "x", ""},
		{"no operation: not below the root", "GET", "/things/1", 404, "x", ""},
	} {
		r, err := http.NewRequest(test.method, "http://localhost"+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response := Response{Status: test.status, Header: http.Header{"X-Request-Id": {"1"}}, Body: []byte(test.body)}
		if test.status == 200 || test.status == 400 {
			response.Header.Set("Content-Type", "application/json; charset=utf-8")
		}
		differences := d.differences("/api", r, response)
		if test.want == "" && len(differences) > 0 || test.want != "" && (len(differences) != 1 || !strings.Contains(differences[0], test.want)) {
			t.Errorf("%s: %v", test.name, differences)
		}
	}
	r, _ := http.NewRequest("GET", "http://localhost/things", nil)
	bare := Response{Status: 200, Header: http.Header{"Content-Type": {"text/html"}, "Etag": {`"1"`}}, Body: []byte(`{"rows":[]}`)}
	differences := strings.Join(d.differences("", r, bare), "\n")
	if !strings.Contains(differences, "header X-Request-Id is missing") || !strings.Contains(differences, "header ETag is not documented") || !strings.Contains(differences, `the type is "text/html"`) || strings.Count(differences, "\n") != 2 {
		t.Errorf("neither type nor header: %s", differences)
	}
}
