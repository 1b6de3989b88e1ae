package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/modules"
	"example.com/ginseng/server"
	"example.com/ginseng/testkit"
)

// lines is a resource under test-orders, a name that a project does not have. Its handlers respond with the request.
type lines struct{}

func (lines) Parts() kit.Parts { return kit.Parts{} }

func (lines) Routes(r *route.Router) {
	echo := func(g *gin.Context) error {
		body, err := rest.Body(g)
		if g.Param("lineId") == "panic" {
			panic("test")
		}
		if err != nil {
			return err
		}
		return rest.OK(g, object{"path": g.Request.URL.Path, "body": string(body.Canonical("")), "user": rest.Caller(g).UserID.Hex()})
	}
	r = r.Resource(listing.Spec{Name: "test-lines"})
	r.POST("/test-orders/:id/test-lines", route.User, echo, route.LargeBody)
	r.GET("/test-orders/:id/test-lines/:lineId", route.User, echo)
	r.PATCH("/test-orders/:id/test-lines/:lineId", route.Admin, echo)
}

func TestNested(t *testing.T) {
	t.Parallel()
	fields := object{"self": object{"$ref": "#/components/schemas/Line"}, "amount": object{"type": "integer", "nullable": true, "example": 5}}
	operation := func(schema object) object {
		content := object{"content": object{"application/json": object{"schema": schema}}}
		return object{"summary": "Do it", "tags": []string{"test-lines"}, "requestBody": content, "responses": object{"200": content}}
	}
	schema := object{"$ref": "#/components/schemas/Line"}
	document, err := json.Marshal(object{
		"openapi": "3.0.3", "info": object{"title": "Test", "version": "1"},
		"paths": object{
			"/test-orders/{id}/test-lines":          object{"post": operation(schema)},
			"/test-orders/{id}/test-lines/{lineId}": object{"get": operation(object{"properties": object{"id": object{"type": "string"}}}), "patch": operation(schema)},
		},
		"components": object{"schemas": object{"Line": object{"type": "object", "properties": fields, "required": []string{"self"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	api := testkit.Start(t, testkit.Service{Modules: testkit.Modules(modules.New), Documents: server.Documents{OpenAPI: document}},
		func(c *testkit.Config) { c.Modules = append(c.Modules, lines{}) })
	a := agent{t, api, api.SignUp("user").Token}
	for token, tools := range map[string]string{a.token: `"create_record","get_record"`, api.SignUp("admin").Token: `"create_record","get_record","update_record"`} {
		b := agent{t, api, token}
		if got, want := b.text("list_resources", object{}, false), `{"rows":[{"name":"test-lines","parent":["test-orders"],"tools":[`+tools+`]}]}`; got != want {
			t.Errorf("list_resources: %s, want %s", got, want)
		}
		isAdmin := strings.Contains(tools, "update")
		if got := b.tool("describe_resource", object{"resource": "test-lines"}); (got["update"] != nil) != isAdmin || got["create"] == nil {
			t.Errorf("describe_resource for %s: %v", tools, got)
		}
	}
	described := a.text("describe_resource", object{"resource": "test-lines"}, false)
	for _, want := range []string{`"parent":["test-orders"]`, `"amount":{"example":5,"nullable":true,"type":"integer"}`, `"required":["self"]`, `"record":{"fields":{"id":{`} {
		if !strings.Contains(described, want) {
			t.Errorf("describe_resource has no %s: %s", want, described)
		}
	}
	const order, line = "65f0c1d2e3a4b5c6d7e8f901", "65f0c1d2e3a4b5c6d7e8f902"
	created := a.tool("create_record", object{"resource": "test-lines", "parent": []string{order}, "data": json.RawMessage(`{"amount":9007199254740993}`)})["record"].(object)
	if created["path"] != "/test-orders/"+order+"/test-lines" || created["body"] != `{"amount":9007199254740993}` {
		t.Errorf("create_record: %v", created)
	}
	if got := a.tool("get_record", object{"resource": "test-lines", "parent": []string{order}, "id": line}); got["record"].(object)["path"] != "/test-orders/"+order+"/test-lines/"+line {
		t.Errorf("get_record: %v", got)
	}
	for arguments, want := range map[string]string{
		`{"resource":"test-lines","id":"` + line + `"}`:                             "validation_failed parent",
		`{"resource":"test-lines","parent":["a","b"],"id":"` + line + `"}`:          "validation_failed parent",
		`{"resource":"test-lines","parent":["a/../b"],"id":"` + line + `"}`:         "validation_failed parent[0]",
		`{"resource":"test-lines","parent":[""],"id":"` + line + `"}`:               "validation_failed parent",
		`{"resource":"test-lines","parent":["` + order + `"],"id":"panic"}`:         "internal",
		`{"resource":"test-lines","parent":"` + order + `","id":"` + line + `"}`:    "validation_failed parent",
		`{"resource":"test-lines","parent":["` + order + `"],"id":"a/../../users"}`: "validation_failed id",
	} {
		if got := a.problem("get_record", json.RawMessage(arguments)); got != want {
			t.Errorf("get_record %s: %s, want %s", arguments, got, want)
		}
	}
	if code := a.problem("update_record", object{"resource": "test-lines", "parent": []string{order}, "id": line, "data": object{}}); code != "forbidden" {
		t.Errorf("update_record of an admin's resource: %s", code)
	}
	for _, tool := range []string{"search_records", "delete_record"} {
		if code := a.problem(tool, object{"resource": "test-lines", "parent": []string{order}, "id": line}); !strings.HasPrefix(code, "validation_failed") {
			t.Errorf("%s, which the resource does not have: %s", tool, code)
		}
	}
}
