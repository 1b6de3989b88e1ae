package article_test

import (
	"strings"

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
		Methods:      []string{"create", "list", "show", "update", "delete"},
		Access: map[string][]int{
			"nobody":        {401, 200, 200, 401, 401},
			"invalid token": {401, 401, 401, 401, 401},
			"master key":    {401, 200, 200, 401, 401},
			"user":          {201, 200, 200, 403, 403},
			"admin":         {201, 200, 200, 200, 204},
			"deleted user":  {401, 401, 401, 401, 401},
			"demoted admin": {201, 200, 200, 403, 403},
			"owner":         {201, 200, 200, 200, 204},
		},
		Fields: []testkit.Field{
			{
				Name: "title", Required: true, Search: true, Sort: true,
				Samples: []any{"amber", "birch", "cedar"},
				Valid:   []any{strings.Repeat("ä", 200)},
				Invalid: map[string][]any{"max_length": {strings.Repeat("ä", 201)}, "required": {"  "}, "type": {5.0}},
			},
			{
				Name: "content", Search: true, Absent: "",
				Samples: []any{"daisy", "elder", "fennel"},
				Valid:   []any{"  ", strings.Repeat("ä", 100000)},
				Invalid: map[string][]any{"max_length": {strings.Repeat("ä", 100001)}, "type": {5.0}},
			},
		},
		Insert: testkit.InsertJSON[module.Article](store.Spec{Name: "articles", Search: []string{"title", "content"}}),
	}
}
