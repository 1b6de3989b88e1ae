package article_test

import (
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	module "example.com/ginseng/modules/article"
	"example.com/ginseng/testkit"
)

// newResource returns what the declaration of articles promises. The generator writes this file again when fields change: make
// your changes of the table in router_test.go.
func newResource() testkit.Resource {
	return testkit.Resource{
		Start:        apitest.Start,
		Path:         "/articles",
		Owner:        true,
		OnUserDelete: resource.Keep,
		Changes:      true,
		Callers:      map[string]string{"create": "user", "list": "public", "show": "public", "update": "owner", "delete": "owner"},
		Fields: []testkit.Field{
			{Name: "title", Type: "string", Required: true, Search: true, Sort: true},
			{Name: "content", Type: "text", Search: true},
		},
		Insert: testkit.InsertJSON[module.Article](store.Spec{Name: "articles", Search: []string{"title", "content"}, Changes: true}),
	}.Complete()
}
