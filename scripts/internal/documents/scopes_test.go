package documents

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/go-openapi/spec"
)

// TestScopes adds the scopes of a resource to a document, of a project with API keys and without.
func TestScopes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, source := range map[string]string{
		"note": `r.GET("/open", route.Public, c.open)
			r = r.Resource("notes")
			r.GET("/books/:id/notes", route.User, c.list)
			r.POST("/books/:id/notes", route.User, c.create, route.Idempotent)`,
		"other": `r.GET("/others", route.User, c.list)`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, "modules", name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "modules", name, "router.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, hasKeys := range []bool{true, false} {
		token, key := map[string][]string{"UserToken": {}}, map[string][]string{apiKeyScheme: {}}
		operation := func(security ...map[string][]string) *spec.Operation {
			return &spec.Operation{OperationProps: spec.OperationProps{Security: security}}
		}
		list, create, open, marked := operation(), operation(token), operation(), operation(token, key)
		paths := map[string]spec.PathItem{
			"/books/{id}/notes": {PathItemProps: spec.PathItemProps{Get: list, Post: create}},
			"/open":             {PathItemProps: spec.PathItemProps{Get: open}},
			"/users/me":         {PathItemProps: spec.PathItemProps{Get: marked}},
		}
		if hasKeys {
			paths[apiKeysPath] = spec.PathItem{}
		}
		swagger := &spec.Swagger{SwaggerProps: spec.SwaggerProps{Paths: &spec.Paths{Paths: paths}, SecurityDefinitions: spec.SecurityDefinitions{}}}
		if err := addScopes(swagger, dir); err != nil {
			t.Fatal(err)
		}
		got := []any{list.Extensions[scopesMark], create.Extensions[scopesMark], open.Extensions[scopesMark], len(list.Security), len(create.Security), len(marked.Security)}
		want := []any{[]string{"notes:read"}, []string{"notes:write"}, nil, 0, 2, 2}
		description := keyUsage + "*:read, *:write, admin, notes:read, notes:write."
		if !hasKeys {
			want, description = []any{nil, nil, nil, 0, 1, 1}, ""
		}
		if !slices.EqualFunc(got, want, reflect.DeepEqual) {
			t.Errorf("with keys %t: %v, want %v", hasKeys, got, want)
		}
		if scheme := swagger.SecurityDefinitions[apiKeyScheme]; (scheme != nil) != hasKeys || hasKeys && scheme.Description != description {
			t.Errorf("with keys %t: the scheme is %v", hasKeys, scheme)
		}
	}
}
