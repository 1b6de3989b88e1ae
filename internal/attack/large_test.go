package attack_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/docs"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/middleware"
	"example.com/ginseng/modules/apitest"
)

// What bounds the memory for large responses of a route.
const (
	boundPage        = "waits for a share of the budget before more than 128 KiB of records are read"
	boundRecord      = "reserves a share of the budget while it is encoded"
	boundCreation    = "the response has the record that was sent; counts as its body in the 32 KiB of a user's changes in progress"
	boundChange      = "counts as at least 2 KiB of the 32 KiB of a user's changes in progress"
	boundBatch       = "reserves a share of the budget before it is stored; has at most 1 MiB"
	boundText        = "has at most 32 KiB of text; what it reads reserves a share of the budget, and what it changes counts as a change"
	boundStatic      = "responses share one copy"
	boundStream      = "is decompressed while it is written"
	boundFeed        = "reads at most 128 KiB of records, or one record, and reserves a share of the budget while it is encoded"
	boundEntries     = "has at most 100 entries with the names of fields"
	boundFew         = "has at most ten short items"
	boundByProviders = "has an item per provider"
	boundPasskeys    = "has at most 20 passkeys"
	boundKeys        = "has at most 50 keys with at most 100 scopes"
	boundMembers     = "has at most 50 organizations, 1000 members or 100 invitations; admins get pages of organizations"
	boundJobs        = "has an item per job"
	boundWebhooks    = "has at most 100 webhooks with at most 100 events"
)

// large has the routes whose responses can have more than rest.LargeResponse bytes, or a list or map.
var large = map[string]string{
	"GET /openapi.json": boundStatic,
	"GET /docs/*any":    boundStream,

	"GET /users":                boundPage,
	"GET /auth/sessions":        boundPage,
	"GET /auth/identities":      boundByProviders,
	"GET /users/:id/sessions":   boundPage,
	"GET /users/:id/identities": boundByProviders,
	"PUT /users/me/two-factor":  boundFew,

	"POST /users/me/passkeys":      boundPasskeys,
	"GET /users/me/passkeys":       boundPasskeys,
	"GET /users/me/passkeys/:id":   boundPasskeys,
	"PATCH /users/me/passkeys/:id": boundPasskeys,
	"GET /users/:id/passkeys":      boundPasskeys,

	"POST /users/me/api-keys":        boundKeys,
	"GET /users/:id/api-keys":        boundKeys,
	"GET /users/:id/api-keys/:keyId": boundKeys,

	"GET /auth/providers": boundByProviders,

	"GET /organizations":                 boundMembers,
	"GET /organizations/:id/members":     boundMembers,
	"GET /organizations/:id/invitations": boundMembers,

	"GET /emails":           boundPage,
	"GET /jobs":             boundJobs,
	"GET /changes":          boundEntries,
	"GET /articles/changes": boundFeed,

	"GET /articles":       boundPage,
	"POST /articles":      boundCreation,
	"GET /articles/:id":   boundRecord,
	"PUT /articles/:id":   boundChange,
	"PATCH /articles/:id": boundChange,

	"POST /webhooks":               boundWebhooks,
	"GET /webhooks":                boundWebhooks,
	"GET /webhooks/:id":            boundWebhooks,
	"PATCH /webhooks/:id":          boundWebhooks,
	"POST /webhooks/:id/secret":    boundWebhooks,
	"GET /webhooks/:id/deliveries": boundPage,

	"POST /batch": boundBatch,
	"POST /mcp":   boundText,

	"GET /policies":           boundPage,
	"POST /policies":          boundCreation,
	"POST /policies/evaluate": boundPage,
	"GET /policies/:id":       boundRecord,
	"PUT /policies/:id":       boundChange,
	"PATCH /policies/:id":     boundChange,
}

// TestLargeResponses compares the routes that can have large responses with the table. A response can be large if its
// documented schema has a list or a map, or if records of its path are written with bodies above middleware.SmallBody: from a
// smaller body, JSON has at most six times as many bytes. Routes that are not documented are measured.
func TestLargeResponses(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	responses := successes(t)
	long := strings.Repeat("x", middleware.SmallBody+1)
	collection := func(path string) string { return strings.Split(path, "/")[1] }
	largeBodies := map[string]bool{}
	for _, route := range api.Handler.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if (method == "POST" || method == "PUT" || method == "PATCH") && !strings.HasSuffix(path, "/picture") { // its body is a file
			r := request{Method: method, Path: strings.ReplaceAll(path, ":", ""), Body: long, ContentType: "application/json"}
			largeBodies[collection(path)] = largeBodies[collection(path)] || api.Do(r).Status != 413
		}
	}
	var found []string
	for _, route := range api.Handler.Routes() {
		method, path, _ := strings.Cut(route, " ")
		schema, documented := responses[method+" "+pathParameter.ReplaceAllString(path, "{$1}")]
		switch {
		case strings.Contains(path, "*"),
			!documented && len(api.Do(request{Method: method, Path: path}).Body) > rest.LargeResponse,
			schema != nil && (largeBodies[collection(path)] || unbounded(schema)):
			found = append(found, route)
		}
	}
	for _, route := range found {
		if large[route] == "" {
			t.Errorf("%s can have a large response: add it to the table with what bounds its memory", route)
		}
	}
	for route := range maps.Keys(large) {
		if !slices.Contains(found, route) {
			t.Errorf("%s has no large response", route)
		}
	}
	if !largeBodies["articles"] || largeBodies["users"] {
		t.Errorf("large bodies are accepted by %v", largeBodies)
	}
}

var pathParameter = regexp.MustCompile(`:(\w+)`)

// successes returns the schemas of the successful responses of the documented operations, with their references replaced;
// nil for an operation whose response has no body.
func successes(t *testing.T) map[string]any {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema any }
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(docs.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	var resolve func(schema any) any
	resolve = func(schema any) any {
		switch schema := schema.(type) {
		case map[string]any:
			if ref, ok := schema["$ref"].(string); ok {
				return resolve(doc.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]])
			}
			out := map[string]any{}
			for name, value := range schema {
				out[name] = resolve(value)
			}
			return out
		case []any:
			out := make([]any, len(schema))
			for i := range schema {
				out[i] = resolve(schema[i])
			}
			return out
		}
		return schema
	}
	out := map[string]any{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			name := strings.ToUpper(method) + " " + path
			out[name] = nil
			for status, response := range op.Responses {
				for contentType, media := range response.Content { // an export has types of its own, and keeps no page in memory
					if status[0] == '2' && (out[name] == nil || contentType == "application/json") {
						out[name] = resolve(media.Schema)
					}
				}
			}
		}
	}
	return out
}

// unbounded reports whether a schema has a list, or a map.
func unbounded(schema any) bool {
	switch schema := schema.(type) {
	case map[string]any:
		if schema["type"] == "array" || schema["additionalProperties"] != nil && schema["additionalProperties"] != false {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(schema)), unbounded)
	case []any:
		return slices.ContainsFunc(schema, unbounded)
	}
	return false
}
