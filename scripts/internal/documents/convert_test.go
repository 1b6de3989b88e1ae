package documents

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"example.com/ginseng/kit/apperr"
)

// sample is what swag writes, in small.
const sample = `{
  "swagger": "2.0", "info": {"title": "Sample", "version": "1"}, "basePath": "/",
  "paths": {
    "/auth": {"post": {
      "consumes": ["application/x-www-form-urlencoded", "application/json"], "security": [{"BasicAuth": [], "MasterKey": []}],
      "responses": {"204": {"description": "No Content"}, "429": {"description": "too_many_requests", "schema": {"$ref": "#/definitions/Problem"}}}
    }},
    "/things": {"get": {
      "tags": ["things"], "x-tag": "Everything else.", "x-intro": "Begin here.",
      "produces": ["application/json"],
      "parameters": [
        {"type": "string", "name": "fields", "in": "query"},
        {"type": "array", "items": {"type": "string", "enum": ["size"]}, "collectionFormat": "csv", "default": ["size"], "name": "sort", "in": "query"},
        {"type": "integer", "description": "equal to this value", "name": "size", "in": "query"}
      ],
      "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/listing.Page-Thing"}}}
    }},
    "/parts/{id}/things": {"get": {
      "tags": ["parts", "things"], "x-tag": "More.", "produces": ["application/json"],
      "parameters": [{"type": "string", "name": "fields", "in": "query"}, {"type": "string", "name": "sort", "in": "query"}],
      "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/listing.Page-Thing"}}}
    }},
    "/things/changes": {"get": {
      "produces": ["application/json"], "parameters": [{"type": "string", "name": "fields", "in": "query"}],
      "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Feed"}}}
    }},
    "/things/{id}": {"put": {
      "consumes": ["application/x-www-form-urlencoded", "application/json"], "security": [{"UserToken": []}], "x-optional-security": true,
      "parameters": [
        {"type": "string", "name": "id", "in": "path", "required": true},
        {"type": "string", "name": "If-Match", "in": "header"},
        {"type": "string", "maxLength": 9, "example": "text", "name": "name", "in": "formData", "required": true},
        {"type": "string", "name": "role", "in": "formData"},
        {"type": "string", "example": "{\"kind\": \"big\"}", "x-json": "Part", "x-nullable": true, "name": "part", "in": "formData"},
        {"type": "string", "example": "{\"a\": 1}", "x-json": "object", "name": "more", "in": "formData"}
      ],
      "responses": {
        "200": {"description": "OK", "schema": {"$ref": "#/definitions/Thing"}},
        "401": {"description": "unauthorized", "schema": {"$ref": "#/definitions/Problem"}}
      }
    }},
    "/raw": {"post": {
      "consumes": ["application/json"],
      "parameters": [{"name": "input", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Raw"}}],
      "responses": {"201": {"description": "Created", "schema": {"$ref": "#/definitions/Thing"}, "headers": {"Location": {"type": "string"}}},
        "409": {"description": "conflict: the room is taken", "schema": {"$ref": "#/definitions/Problem"}}}
    }}
  },
  "definitions": {
    "Raw": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
    "Part": {"type": "object", "properties": {"kind": {"type": "string"}}},
    "Problem": {"type": "object", "properties": {"code": {"$ref": "#/definitions/ErrorCode"}}},
    "ErrorCode": {"type": "string", "enum": ["conflict", "unauthorized", "too_many_requests", "validation_failed", "internal", "unavailable"]},
    "Thing": {"type": "object", "properties": {
      "size": {"type": "integer"}, "at": {"type": "string", "x-omitempty": true}, "part": {"$ref": "#/definitions/Part"},
      "state": {"type": "string", "enum": ["on"], "x-nullable": true}
    }},
    "Event": {"type": "object", "properties": {"id": {"type": "string"}, "data": {"type": "object"}}},
    "Feed": {"type": "object", "properties": {"rows": {"type": "array", "items": {"$ref": "#/definitions/Event"}}}},
    "listing.Page-Thing": {"type": "object", "properties": {"rows": {"type": "array", "items": {"$ref": "#/definitions/Thing"}}}}
  },
  "securityDefinitions": {
    "BasicAuth": {"type": "basic"},
    "MasterKey": {"type": "apiKey", "name": "access_token", "in": "query"},
    "UserToken": {"type": "apiKey", "name": "Authorization", "in": "header"},
    "Other": {"type": "apiKey", "name": "X-Key", "in": "header"}
  }
}`

// TestComponents checks that each error code of the runtime and of modules has an example.
func TestComponents(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	codes := document.Components.Schemas["ErrorCode"].Enum
	if len(codes) <= len(apperr.Codes) {
		t.Errorf("the codes of modules are missing: %v", codes)
	}
	for _, code := range codes {
		if components.Examples[code] == nil {
			t.Errorf("components.json has no example of %s", code)
		}
	}
}

// TestOwnCode has an error code that components.json does not know.
func TestOwnCode(t *testing.T) {
	t.Parallel()
	swagger := strings.NewReplacer(`"description": "conflict: the room is taken"`, `"description": "sold_out: no seat is left, or none is free; conflict: taken"`,
		`"enum": ["conflict"`, `"enum": ["sold_out", "conflict"`).Replace(sample)
	out, err := convert([]byte(swagger), nil)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Examples map[string]struct{ Value any }
				}
			}
		}
	}
	if err = errors.Join(err, json.Unmarshal(out, &doc)); err != nil {
		t.Fatal(err)
	}
	examples := doc.Paths["/raw"]["post"].Responses["409"].Content["application/problem+json"].Examples
	want := parsed(t, `{"type": "about:blank", "title": "Conflict", "status": 409, "code": "sold_out", "detail": "No seat is left, or none is free.", "requestId": "5f0e8c1b9d3a47e2a6c4"}`)
	if _, conflict := examples["conflict"]; !conflict || !reflect.DeepEqual(examples["sold_out"].Value, want) {
		t.Errorf("%v", examples)
	}
}

// TestRaw has an operation that accepts every media type, and reads no credential.
func TestRaw(t *testing.T) {
	t.Parallel()
	swagger := strings.NewReplacer(`"/raw": {"post": {`, `"/raw": {"post": {"x-raw": true, "x-open": true,`, `"enum": ["conflict"`, `"enum": ["unsupported_media_type", "conflict"`).Replace(sample)
	out, err := convert([]byte(swagger), nil)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Description string }
		}
	}
	if err = errors.Join(err, json.Unmarshal(out, &doc)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/raw": false, "/auth": true} {
		responses := doc.Paths[path]["post"].Responses
		got := responses["default"].Description
		if _, unauthorized := responses["401"]; strings.Contains(got, "unsupported_media_type") != want || strings.Contains(got, "unauthorized") != want || unauthorized != want {
			t.Errorf("%s: %v", path, responses)
		}
	}
}

// TestUnusedRows converts a document in which only a list has things.
func TestUnusedRows(t *testing.T) {
	t.Parallel()
	only := strings.ReplaceAll(sample, `"schema": {"$ref": "#/definitions/Thing"}`, `"schema": {"$ref": "#/definitions/Raw"}`)
	out, err := convert([]byte(only), nil)
	if err != nil || strings.Contains(string(out), `"Thing":`) || !strings.Contains(string(out), `"ThingRow":`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	out, err := convert([]byte(sample), nil)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	const body = "#/components/schemas/PutThingsByIdBody"
	for _, test := range []struct{ path, want string }{
		{"openapi", `"3.0.3"`},
		{"servers", `[{"description":"this service","url":"."}]`},
		{"components securitySchemes BasicAuth", `{"description":"The email address and the password of a user.","scheme":"basic","type":"http"}`},
		{"components securitySchemes MasterKey", `{"scheme":"bearer","type":"http"}`},
		{"components securitySchemes UserToken", `{"scheme":"bearer","type":"http"}`},
		{"components securitySchemes Other", `{"in":"header","name":"X-Key","type":"apiKey"}`},
		{"paths /auth post operationId", `"postAuth"`},
		{"paths /auth post security", `[{"BasicAuth":[]}]`},
		{"paths /auth post requestBody content application/json schema $ref", `"#/components/schemas/PostAuthBody"`},
		{"components schemas PostAuthBody properties access_token type", `"string"`},
		{"paths /auth post responses 429 headers", `{"RateLimit":{"$ref":"#/components/headers/RateLimit"},"RateLimit-Policy":{"$ref":"#/components/headers/RateLimit-Policy"},` +
			`"Retry-After":{"$ref":"#/components/headers/Retry-After"},"X-Request-Id":{"$ref":"#/components/headers/X-Request-Id"}}`},
		{"paths /things get parameters 0", `{"description":"equal to this value","in":"query","name":"size","schema":{"type":"integer"}}`},
		{"paths /things get parameters 1", `{"explode":false,"in":"query","name":"sort","schema":{"default":["size"],"items":{"enum":["size"],"type":"string"},"type":"array"},"style":"form"}`},
		{"paths /things get responses 200 content application/json schema $ref", `"#/components/schemas/ThingPage"`},
		{"components schemas Thing required", `["part","size","state"]`},
		{"components schemas Thing properties state", `{"enum":["on",null],"nullable":true,"type":"string"}`},
		{"paths /raw post security", `[]`},
		{"components schemas ThingPage properties rows items $ref", `"#/components/schemas/ThingRow"`},
		{"components schemas ThingRow required", `null`},
		{"components schemas ThingRowRow", `null`}, // two lists have the same rows
		{"components schemas Feed properties rows items $ref", `"#/components/schemas/Event"`},
		{"components schemas Event required", `["data","id"]`}, // fields selects the fields of data
		{"tags", `[{"description":"More.","name":"parts"},{"description":"More.Everything else.","name":"things"}]`},
		{"info description", `"\n\nBegin here."`},
		{"components schemas ThingPage required", `["rows"]`},
		{"components schemas Raw required", `["a"]`},
		{"paths /raw post requestBody content application/json schema $ref", `"#/components/schemas/Raw"`},
		{"paths /raw post responses 201 headers ETag $ref", `"#/components/headers/ETag"`},
		{"paths /raw post responses 409 content application/problem+json examples conflict value detail", `"The room is taken."`},
		{"paths /things/{id} put security", `[{"UserToken":[]},{}]`},
		{"paths /things/{id} put x-optional-security", `null`},
		{"paths /things/{id} put requestBody required", `true`},
		{"paths /things/{id} put requestBody content application/json", `{"schema":{"$ref":"` + body + `"}}`},
		{"paths /things/{id} put requestBody content application/x-www-form-urlencoded",
			`{"encoding":{"more":{"contentType":"application/json"},"part":{"contentType":"application/json"}},"schema":{"$ref":"` + body + `"}}`},
		{"components schemas PutThingsByIdBody required", `["name"]`},
		{"components schemas PutThingsByIdBody example", `{"more":{"a":1},"name":"text","part":{"kind":"big"}}`},
		{"paths /things/{id} put parameters 1 name", `"If-Match"`},
		{"components schemas PutThingsByIdBody properties name", `{"example":"text","maxLength":9,"minLength":1,"type":"string"}`},
		{"components schemas PutThingsByIdBody properties part", `{"example":{"kind":"big"},"nullable":true,"properties":{"kind":{"type":"string"}},"required":["kind"],"type":"object"}`},
		{"components schemas PutThingsByIdBody properties more", `{"additionalProperties":true,"example":{"a":1},"type":"object"}`},
		{"paths /things/{id} put responses 200 headers ETag $ref", `"#/components/headers/ETag"`},
		{"paths /things/{id} put responses 401 headers WWW-Authenticate $ref", `"#/components/headers/WWW-Authenticate"`},
		{"paths /things/{id} put responses 401 content", `{"application/problem+json":{"examples":{"unauthorized":{"$ref":"#/components/examples/unauthorized"}},` +
			`"schema":{"$ref":"#/components/schemas/Problem"}}}`},
		{"paths /raw post responses default description", `"any other error: 400 validation_failed, 401 unauthorized, 500 internal, 503 unavailable, 429 too_many_requests"`},
		{"paths /raw post responses default content application/problem+json schema $ref", `"#/components/schemas/Problem"`},
		{"paths /raw post responses default content application/problem+json examples internal $ref", `"#/components/examples/internal"`},
		{"components examples unauthorized value title", `"Unauthorized"`},
	} {
		if got := at(doc, strings.Fields(test.path)); !reflect.DeepEqual(got, parsed(t, test.want)) {
			raw, _ := json.Marshal(got)
			t.Errorf("%s:\n%s, want\n%s", test.path, raw, test.want)
		}
	}
	if again, err := convert([]byte(sample), nil); err != nil || string(again) != string(out) {
		t.Errorf("the second time it is another: %v", err)
	}
}

// at is what stands in a document below the names, or the numbers of items.
func at(v any, names []string) any {
	for _, name := range names {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[name]
		case []any:
			v = inner[name[0]-'0']
		}
	}
	return v
}

func parsed(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, old, replacement, want string }{
		{"one name for two operations", `"/raw"`, `"/things/by-id"`, ""},
		{"one name for two definitions", `"Raw": {`, `"other.Thing": {"type": "object"}, "Raw": {`, "would have the same name; rename one with @name"},
		{"error without a code", `"description": "unauthorized"`, `"description": "who is it?"`, `PUT /things/{id}: status 401: the description "who is it?" does not begin with an error code; a module declares codes of its own with r.Codes`},
		{"code that is not declared", `"description": "conflict: the room is taken"`, `"description": "conflict: the room is taken; sold_out: no seat is left"`,
			`POST /raw: status 409: the annotations do not fit the service: no module declares the error code sold_out in the description "conflict: the room is taken; sold_out: no seat is left"; add r.Codes`},
		{"unknown credential", `{"UserToken": []}`, `{"Token": []}`, `undefined security scheme "Token"`},
		{"example of another type", `"maxLength": 9`, `"maxLength": 3`, "maximum string length is 3"},
	} {
		swagger := strings.Replace(sample, test.old, test.replacement, 1)
		if test.want == "" { // the same method, too
			swagger = strings.Replace(swagger, `{"post": {
      "consumes": ["application/json"]`, `{"put": {
      "consumes": ["application/json"]`, 1)
			test.want = "would have the same operation ID putThingsById"
		}
		if _, err := convert([]byte(swagger), nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	empty := `{"swagger": "2.0", "info": {"title": "Empty", "version": "1"}, "paths": {}}`
	if _, err := convert([]byte(empty), nil); err != nil {
		t.Errorf("an API without a route: %v", err)
	}
}
