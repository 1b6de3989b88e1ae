package mcp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

// TestLargeDescription describes resources with more and more fields. A description must have at most 8 KiB, and keep the details
// that fit.
func TestLargeDescription(t *testing.T) {
	t.Parallel()
	type object = map[string]any
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
		post := object{"requestBody": object{"content": object{"application/json": object{"schema": object{"properties": fields}}}}}
		document, err := json.Marshal(object{"paths": object{"/things": object{"post": post}}})
		if err != nil {
			t.Fatal(err)
		}
		var table route.Table
		table.Serve(gin.New(), "", document)
		table.Router().Resource(listing.Spec{Name: "things"}).POST("/things", route.User, rest.NoContent)
		c := newCatalog(&table)
		text := c.describe(c.resources["things"])
		if len(text) > maxDescription || !strings.Contains(text, test.want) || strings.Contains(text, test.not) || !strings.Contains(text, `"example":{"type":"string"}`) {
			t.Errorf("%d fields: %d bytes, %.1000s", test.fields, len(text), text)
		}
	}
}

// TestFilters converts filters to the query strings of lists, which split a single value of [in] at commas.
func TestFilters(t *testing.T) {
	t.Parallel()
	list := &operation{}
	for _, name := range []string{"title", "title[in]", "size[gte]"} {
		list.Parameters = append(list.Parameters, parameter{Name: name, In: "query"})
	}
	for filter, want := range map[string]string{
		`{"title":"Smith, John","size[gte]":10.50}`:    "size[gte]=10.50&title=Smith,+John",
		`{"title[in]":["Smith, John"]}`:                "title[in]=Smith,+John&title[in]=",
		`{"title[in]":["a","b,c",1,true]}`:             "title[in]=a&title[in]=b,c&title[in]=1&title[in]=true&title[in]=",
		`{"title[in]":"a,b","title":["a"]}`:            "title=a&title[in]=a,b",
		`{"title[in]":[]}`:                             "title[in]=",
		`{"title[in]":[["a"]],"x":1,"y":2,"title":{}}`: "filter unknown, filter.title type, filter.title[in] type",
	} {
		query, fieldErrs := searchArguments{Filter: Object(filter)}.query(resource{list: list})
		got, _ := url.QueryUnescape(strings.ReplaceAll(query.Encode(), "+", "%2B"))
		if fieldErrs != nil {
			var names []string
			for _, e := range fieldErrs {
				names = append(names, fmt.Sprintf("%s %s", e.Param, e.Code))
			}
			got = strings.Join(names, ", ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
	}
}
