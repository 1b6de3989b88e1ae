package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/url"
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

// things is a resource with a name that a project does not have. Its list has one row, with the query string of the request.
type things struct{}

func (things) Parts() kit.Parts { return kit.Parts{} }

func (things) Routes(r *route.Router) {
	r = r.Resource(listing.Spec{Name: "test-things"})
	r.POST("/test-things", route.User, rest.NoContent)
	r.GET("/test-things", route.User, func(g *gin.Context) error {
		return rest.OK(g, object{"rows": []object{{"query": g.Request.URL.RawQuery}}})
	}, route.AnyQuery)
}

// startThings starts a service whose OpenAPI document has the operations of things.
func startThings(t *testing.T, operations object) agent {
	t.Helper()
	document, err := json.Marshal(object{
		"openapi": "3.0.3", "info": object{"title": "Test", "version": "1"}, "paths": object{"/test-things": operations}, "components": object{},
	})
	if err != nil {
		t.Fatal(err)
	}
	api := testkit.Start(t, testkit.Service{Modules: testkit.Modules(modules.New), Documents: server.Documents{OpenAPI: document}},
		func(c *testkit.Config) { c.Modules = append(c.Modules, things{}) })
	return agent{t, api, api.SignUp("user").Token}
}

// TestLargeDescription describes resources with more and more fields. A description must have at most 8 KiB, and keep the details
// that fit.
func TestLargeDescription(t *testing.T) {
	t.Parallel()
	field := object{"type": "string", "maxLength": 200, "example": "An example", "description": "What the field means, in a sentence.", "enum": []string{"low", "high"}}
	for _, test := range []struct {
		fields    int
		want, not string
	}{
		{20, `"example":"`, `"incomplete":`}, {60, `"description":`, `"example":"`}, {80, `"enum":`, `"description":`}, {120, `"maxLength":`, `"enum":`},
		{1000, `"incomplete":`, `"enum":`},
	} {
		fields := object{"example": object{"type": "string"}} // the name of a field
		for i := range test.fields {
			fields[fmt.Sprintf("field%04d", i)] = field
		}
		a := startThings(t, object{"post": object{"requestBody": object{"content": object{"application/json": object{"schema": object{"properties": fields}}}}}})
		text := a.text("describe_resource", object{"resource": "test-things"}, false)
		if len(text) > 8<<10 || !strings.Contains(text, test.want) || strings.Contains(text, test.not) || !strings.Contains(text, `"example":{"type":"string"}`) {
			t.Errorf("%d fields: %d bytes, %.1000s", test.fields, len(text), text)
		}
	}
}

// TestFilters converts filters to the query strings of lists, which split a single value of [in] at commas.
func TestFilters(t *testing.T) {
	t.Parallel()
	var parameters []object
	for _, name := range []string{"title", "title[in]", "size[gte]"} {
		parameters = append(parameters, object{"name": name, "in": "query", "schema": object{}})
	}
	a := startThings(t, object{"get": object{"parameters": parameters, "responses": object{"200": object{
		"content": object{"application/json": object{"schema": object{}}},
	}}}})
	for filter, want := range map[string]string{
		`{"title":"Smith, John","size[gte]":10.50}`: "size[gte]=10.50&title=Smith,+John",
		`{"title[in]":["Smith, John"]}`:             "title[in]=Smith,+John&title[in]=",
		`{"title[in]":["a","b,c",1,true]}`:          "title[in]=a&title[in]=b,c&title[in]=1&title[in]=true&title[in]=",
		`{"title[in]":"a,b","title":["a"]}`:         "title=a&title[in]=a,b",
		`{"title[in]":[]}`:                          "title[in]=",
	} {
		row := a.tool("search_records", object{"resource": "test-things", "filter": json.RawMessage(filter)})["rows"].([]any)[0].(object)
		if got, _ := url.QueryUnescape(strings.ReplaceAll(row["query"].(string), "+", "%2B")); got != want {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
	}
	wrong := object{"resource": "test-things", "filter": json.RawMessage(`{"title[in]":[["a"]],"x":1,"y":2,"title":{}}`)}
	text := a.text("search_records", wrong, true)
	for _, want := range []string{`"param":"filter","code":"unknown"`, `"param":"filter.title","code":"type"`, `"param":"filter.title[in]","code":"type"`} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%s is not once in %s", want, text)
		}
	}
	if strings.Count(text, `"param"`) != 3 {
		t.Error(text)
	}
}
