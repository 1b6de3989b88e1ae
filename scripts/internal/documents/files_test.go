package documents

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-openapi/spec"
)

// described is what swag writes of a resource with files.
const described = `{
  "swagger": "2.0", "info": {"title": "Sample", "version": "1"}, "basePath": "/",
  "paths": {
    "/boxes/{id}/things": {"post": {
      "tags": ["things"], "parameters": [{"type": "string", "name": "name", "in": "formData", "required": true}],
      "responses": {"201": {"description": "Created", "schema": {"$ref": "#/definitions/box.View"}}}
    }},
    "/boxes/{id}/things/{thingId}": {
      "get": {"tags": ["things"], "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/box.View"}}}},
      "patch": {
        "tags": ["things"], "parameters": [{"type": "string", "name": "name", "in": "formData", "required": true}],
        "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/box.View"}}}
      }
    }
  },
  "definitions": {
    "box.View": {"type": "object", "properties": {
      "id": {"type": "string"}, "name": {"type": "string"},
      "cover": {"x-nullable": true, "description": "the front", "allOf": [{"$ref": "#/definitions/File"}]},
      "papers": {"type": "array", "description": "the manuals", "items": {"$ref": "#/definitions/File"}}
    }},
    "File": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "width": {"type": "integer", "x-omitempty": true}}},
    "Problem": {"type": "object", "properties": {"code": {"$ref": "#/definitions/ErrorCode"}}},
    "ErrorCode": {"type": "string", "enum": ["conflict", "forbidden", "payload_too_large", "quota_exceeded", "range_not_satisfiable", "not_supported", "validation_failed", "too_many_requests"]}
  },
  "securityDefinitions": {"UserToken": {"type": "apiKey", "name": "Authorization", "in": "header"}}
}`

// TestFiles describes the files of a resource from the table alone.
func TestFiles(t *testing.T) {
	t.Parallel()
	cover, papers := file{Name: "cover", Image: true, MaxBytes: 5_000_000}, file{Name: "papers", List: true, Types: []string{"application/pdf"}, MaxBytes: 1000}
	things := &list{Name: "things", Files: []file{cover, papers}}
	const one = "/boxes/:id/things/:thingId"
	table := Table{Routes: []row{
		{Method: "POST", Path: "/boxes/:id/things", Files: true}, {Method: "GET", Path: one}, {Method: "PATCH", Path: one, Files: true},
		{Method: "PUT", Path: one + "/cover", Upload: &cover, Raw: 5_000_000}, {Method: "GET", Path: one + "/cover", Download: true},
		{Method: "DELETE", Path: one + "/cover"}, {Method: "POST", Path: one + "/cover/link", Read: true},
		{Method: "POST", Path: one + "/papers", Upload: &papers, Raw: 1000}, {Method: "GET", Path: one + "/papers/:fileId"},
		{Method: "DELETE", Path: one + "/papers/:fileId"}, {Method: "POST", Path: one + "/papers/:fileId/link", Read: true},
	}}
	for i := range table.Routes {
		r := &table.Routes[i]
		r.Resource, r.List, r.Caller = "things", things, "user"
	}
	var swagger spec.Swagger
	if err := json.Unmarshal([]byte(described), &swagger); err != nil {
		t.Fatal(err)
	}
	if err := join(&swagger, table); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(swagger)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = convert(data, nil); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	at := func(path string) any {
		var v any = doc
		for key := range strings.SplitSeq(path, " ") {
			m, _ := v.(map[string]any)
			v = m[key]
		}
		return v
	}
	const record, paths, schemas = "/boxes/{id}/things/{thingId}", "paths ", "components schemas "
	for path, want := range map[string]string{
		schemas + "View properties cover x-file":                                                    `{"maxBytes":5000000,"types":["image/png","image/jpeg","image/gif","image/webp"]}`,
		schemas + "View properties cover nullable":                                                  `true`,
		schemas + "View properties cover description":                                               `"the front"`,
		schemas + "View properties cover required":                                                  `["name","width"]`,
		schemas + "View properties papers x-file":                                                   `{"maxBytes":1000,"types":["application/pdf"]}`,
		schemas + "View properties papers items":                                                    `{"$ref":"#/components/schemas/File"}`,
		schemas + "File required":                                                                   `["id","name"]`,
		schemas + "FileLink required":                                                               `["expiresAt","url"]`,
		schemas + "PostBoxesByIdThingsBody properties cover":                                        `null`,
		schemas + "PatchBoxesByIdThingsByThingIdBody properties cover":                              `{"additionalProperties":true,"description":"null deletes the file; an object of a response is ignored","nullable":true,"type":"object"}`,
		schemas + "PatchBoxesByIdThingsByThingIdBody properties papers type":                        `"array"`,
		schemas + "PostBoxesByIdThingsBodyWithFiles properties cover":                               `{"description":"at most 5000000 bytes; image/png, image/jpeg, image/gif, image/webp","format":"binary","type":"string"}`,
		schemas + "PostBoxesByIdThingsBodyWithFiles required":                                       `["name"]`,
		schemas + "PatchBoxesByIdThingsByThingIdBodyWithFiles properties papers":                    `{"description":"at most 1000 bytes; application/pdf","items":{"format":"binary","type":"string"},"type":"array"}`,
		paths + record + "/cover put summary":                                                       `"Store the cover"`,
		paths + record + "/cover put tags":                                                          `["things"]`,
		paths + record + "/cover put x-batch":                                                       `null`,
		paths + record + "/cover put x-caller":                                                      `"user"`,
		paths + record + "/cover delete x-batch":                                                    `true`,
		paths + record + "/cover put responses 413 description":                                     `"payload_too_large: the file is larger than 5000000 bytes; quota_exceeded: the files of the user would be larger than FILES_QUOTA"`,
		paths + record + "/cover put requestBody content application/octet-stream":                  `{"schema":{"format":"binary","type":"string"}}`,
		paths + record + "/cover put requestBody content multipart/form-data":                       `{"schema":{"$ref":"#/components/schemas/PutBoxesByIdThingsByThingIdCoverBody"}}`,
		paths + record + "/cover get responses 206 content":                                         `{"*/*":{"schema":{"format":"binary","type":"string"}}}`,
		paths + record + "/cover get responses 403 description":                                     `"forbidden: the link has ended, or was changed"`,
		paths + record + "/papers post responses 201 content application/json schema":               `{"$ref":"#/components/schemas/View"}`,
		paths + record + "/papers/{fileId} delete responses 204 description":                        `"No Content"`,
		paths + record + "/papers/{fileId}/link post responses 201 content application/json schema": `{"$ref":"#/components/schemas/FileLink"}`,
	} {
		got, err := json.Marshal(at(path))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
