package documents

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-openapi/spec"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
)

// things is the list of things, which are in boxes.
var things = listing.Spec{
	Name: "things", Search: []string{"hidden", "title"}, Sort: []string{"title"}, Expand: []string{"owner"},
	Filter: []listing.Filter{
		{Field: "state", Type: listing.Enum, Values: []string{"on", "off"}},
		{Field: "tags", List: true},
		{Field: "price", Type: listing.Decimal},
	},
}

// operations has the annotated operations of a service, by path and method.
type operations map[string]*spec.Operation

func (o operations) operation(key string, options ...func(*spec.Operation)) {
	op := spec.NewOperation("").RespondsWith(204, spec.NewResponse())
	op.Consumes, op.Extensions = []string{}, spec.Extensions{} // as swag does
	for _, option := range options {
		option(op)
	}
	o[key] = op
}

func returns(status int, definition, tag string) func(*spec.Operation) {
	return func(op *spec.Operation) {
		op.RespondsWith(status, spec.NewResponse().WithSchema(spec.RefProperty("#/definitions/"+definition))).WithTags(tag)
	}
}

// joined joins the operations with the routes that add adds, as JSON.
func (o operations) joined(t *testing.T, add func(*route.Router)) (*spec.Swagger, error) {
	t.Helper()
	var table route.Table
	add(table.Router())
	printed, err := json.Marshal(table.Describe())
	if err != nil {
		t.Fatal(err)
	}
	description := Table{References: map[string]map[string]string{"things": {"title": "titles", "gone": "others"}}}
	if err := json.Unmarshal(printed, &description); err != nil {
		t.Fatal(err)
	}
	paths := map[string]spec.PathItem{}
	for key, op := range o {
		method, path, _ := strings.Cut(key, " ")
		item := paths[path]
		*map[string]**spec.Operation{"GET": &item.Get, "POST": &item.Post, "PUT": &item.Put, "PATCH": &item.Patch, "DELETE": &item.Delete}[method] = op
		paths[path] = item
	}
	swagger := &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Paths: &spec.Paths{Paths: paths}, SecurityDefinitions: spec.SecurityDefinitions{},
		Definitions: spec.Definitions{
			"listing.Page-Thing": *new(spec.Schema).SetProperty("rows", *spec.ArrayProperty(spec.RefProperty("#/definitions/BigThing"))),
			"BigThing":           *new(spec.Schema).SetProperty("id", *spec.StringProperty()).SetProperty("title", *spec.StringProperty()).SetProperty("expand", *spec.StringProperty()),
			"listing.Page-Plan":  *new(spec.Schema).SetProperty("rows", *spec.ArrayProperty(spec.RefProperty("#/definitions/Plan"))),
			"Plan":               *new(spec.Schema).SetProperty("id", *spec.StringProperty()).SetProperty("organizationId", *spec.StringProperty()).SetProperty("userId", *spec.StringProperty()),
			"ErrorCode":          *new(spec.Schema).WithEnum("conflict"),
		},
	}}
	return swagger, join(swagger, description)
}

func TestListParameters(t *testing.T) {
	t.Parallel()
	ops := operations{}
	ops.operation("GET /boxes/{id}/things", returns(200, "listing.Page-Thing", "tag-of-things"), func(op *spec.Operation) {
		op.AddParam(spec.QueryParam("limit")).AddParam(spec.QueryParam("sort").WithDescription("old"))
	})
	ops.operation("GET /boxes/{id}/things/{thingId}")
	_, err := ops.joined(t, func(r *route.Router) {
		r = r.Resource(things)
		r.GET("/boxes/:id/things", route.Public, rest.NoContent, route.AnyQuery)
		r.GET("/boxes/:id/things/:thingId", route.Public, rest.NoContent)
	})
	if err != nil {
		t.Fatal(err)
	}
	list, one := ops["GET /boxes/{id}/things"], ops["GET /boxes/{id}/things/{thingId}"]
	encoded := func(op *spec.Operation) (lines []string) {
		for _, p := range op.Parameters {
			line, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
		}
		return lines
	}
	for i, want := range []string{
		`{"name":"limit","in":"query"}`,
		`{"maxLength":200,"type":"string","description":"up to 10 words, or beginnings of words, to search for in title","name":"q","in":"query"}`,
		`{"enum":["on","off"],"type":"string","description":"equal to this value","name":"state","in":"query"}`,
		`{"enum":["on","off"],"type":"string","description":"not equal to this value","name":"state[ne]","in":"query"}`,
		`{"type":"array","items":{"enum":["on","off"],"type":"string"},"collectionFormat":"multi","description":"one of these values; a single value can be a comma-separated list","name":"state[in]","in":"query"}`,
		`{"type":"string","description":"the list contains this value","name":"tags","in":"query"}`,
		`{"type":"array","items":{"type":"string"},"collectionFormat":"multi","description":"the list contains one of these values; a single value can be a comma-separated list","name":"tags[in]","in":"query"}`,
		`{"type":"string","format":"decimal","description":"equal to this value","name":"price","in":"query"}`,
		`{"type":"string","format":"decimal","description":"greater than this value","name":"price[gt]","in":"query"}`,
	} {
		if got := encoded(list)[i]; got != want {
			t.Errorf("parameter %d: %s, want %s", i, got, want)
		}
	}
	all := strings.Join(encoded(list), "\n")
	for _, want := range []string{
		`{"type":"array","items":{"enum":["title","-title","createdAt","-createdAt"],"type":"string"},"collectionFormat":"csv","default":["-createdAt"],"description":"the fields to sort by; a - before a name means descending order","name":"sort","in":"query"}`,
		`"items":{"enum":["id","title","-title"],"type":"string"}`,
		`"items":{"enum":["owner"],"type":"string"}`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the list does not have %s:\n%s", want, all)
		}
	}
	if lines := encoded(one); len(lines) != 2 || !strings.Contains(lines[0], `"name":"expand"`) || strings.Contains(all, "old") {
		t.Errorf("one thing: %s", lines)
	}
}

// TestFacts joins operations with routes, in a service with API keys.
func TestFacts(t *testing.T) {
	t.Parallel()
	ops := operations{}
	forbidden := func(op *spec.Operation) {
		op.RespondsWith(403, spec.NewResponse().WithDescription("forbidden: it is closed"))
	}
	ops.operation("GET /users/{id}/api-keys")
	ops.operation("GET /things", returns(200, "listing.Page-Thing", "tag-of-things"))
	ops.operation("POST /things", returns(201, "BigThing", "tag-of-things"), func(op *spec.Operation) {
		op.AddParam(spec.FormDataParam("title")).AddParam(spec.FormDataParam("other"))
	})
	ops.operation("GET /things/{id}")
	ops.operation("DELETE /things/{id}")
	ops.operation("PATCH /things/{id}", forbidden)
	ops.operation("GET /things/changes")
	ops.operation("GET /plans", returns(200, "listing.Page-Plan", "plans"))
	ops.operation("GET /plans/{id}")
	ops.operation("POST /auth/{provider}")
	ops.operation("POST /off")
	ops.operation("POST /role")
	ops.operation("POST /step", forbidden)
	ops.operation("POST /step/admin")
	ops.operation("POST /step/others")
	ops.operation("POST /page")
	ops.operation("POST /page/admin")
	ops.operation("POST /open")
	ops.operation("POST /others", func(op *spec.Operation) { op.AddExtension(restrictedMark, false) })
	ops.operation("POST /auth", func(op *spec.Operation) {
		op.Security = []map[string][]string{{"BasicAuth": {}, "MasterKey": {}}}
	})
	ops.operation("POST /key", func(op *spec.Operation) {
		op.SecuredWith("UserToken", []string{}...)
		op.Security = append(op.Security, map[string][]string{apiKeyScheme: {}})
	})
	ops.operation("GET /admin")
	ops.operation("PUT /both", func(op *spec.Operation) {
		op.RespondsWith(403, spec.NewResponse().WithDescription("reauthentication_required: as before"))
	})
	shared := *ops["PUT /both"]
	ops["PATCH /both"] = &shared // as swag does for two paths of an annotation
	swagger, err := ops.joined(t, func(r *route.Router) {
		r.Codes("sold_out")
		r.GET("/users/:id/api-keys", route.User, rest.NoContent)
		r.GET("/plans", route.Admin, rest.NoContent, route.List(listing.Spec{Name: "plans", Title: "id"}))
		r.GET("/plans/:id", route.Admin, rest.NoContent)
		r.POST("/auth/a", route.Provider, rest.NoContent, route.Documented("/auth/{provider}"), route.Setting("A", true))
		r.POST("/auth/b", route.Provider, rest.NoContent, route.Documented("/auth/{provider}"), route.Setting("B", false))
		r.POST("/off", route.User, rest.NoContent, route.Setting("OFF", false), route.AllowAPIKey)
		r.POST("/role", route.Role("cook", "baker"), rest.NoContent)
		r.POST("/step", route.StepUp, rest.NoContent)
		r.POST("/step/admin", route.StepUpAdmin, rest.NoContent)
		r.POST("/step/others", route.StepUpOthers, rest.NoContent)
		r.POST("/page", route.Refresh, rest.NoContent, route.CheckOrigin, route.JSONOnly, route.AllowRestricted)
		r.POST("/page/admin", route.Admin, rest.NoContent, route.CheckOrigin)
		r.POST("/others", route.User, rest.NoContent, route.AllowRestricted)
		r.POST("/open", route.Open, rest.NoContent)
		r.POST("/auth", route.Master, rest.NoContent)
		r.POST("/key", route.User, rest.NoContent, route.AllowAPIKey)
		r.GET("/admin", route.Admin, rest.NoContent, route.AllowAdminKey)
		r.PUT("/both", route.StepUp, rest.NoContent)
		r.PATCH("/both", route.StepUpAdmin, rest.NoContent, route.AllowRestricted)
		r = r.Resource(things)
		r.GET("/things", route.Public, rest.NoContent, route.AnyQuery)
		r.POST("/things", route.Master, rest.NoContent, route.Idempotent)
		r.GET("/things/changes", route.User, rest.NoContent, route.Stream)
		r.GET("/things/:id", route.Public, rest.NoContent)
		r.DELETE("/things/:id", route.User, rest.NoContent)
		r.PATCH("/things/:id", route.Admin, rest.NoContent)
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"GET /things":           `public scope=things:read`,
		"POST /things":          `master MasterKey Idempotency-Key 401:unauthorized: the master key is missing or wrong`,
		"GET /things/changes":   `user UserToken APIKey scope=things:read Last-Event-ID 429:too_many_requests`,
		"GET /things/{id}":      `public scope=things:read If-None-Match`,
		"DELETE /things/{id}":   `user UserToken APIKey scope=things:write batch If-Match`,
		"PATCH /things/{id}":    `admin UserToken APIKey scope=things:write batch If-Match 403:forbidden: it is closed`,
		"GET /plans/{id}":       `admin UserToken If-None-Match 403:forbidden: the caller is not an admin`,
		"POST /auth/{provider}": `provider UserToken optional`,
		"POST /off":             `user UserToken APIKey setting=OFF`,
		"POST /role":            `role UserToken roles=[cook baker] 403:forbidden: the caller is neither an admin nor a user with the role cook or baker`,
		"POST /step":            `step-up UserToken BasicAuth 403:forbidden: it is closed; reauthentication_required 429:too_many_requests recent`,
		"POST /step/admin":      `step-up UserToken BasicAuth roles=[admin] 403:forbidden: the caller is not an admin; reauthentication_required 429:too_many_requests recent`,
		"POST /step/others":     `user UserToken BasicAuth 403:forbidden: the caller is neither the user nor an admin; reauthentication_required 429:too_many_requests`,
		"POST /page":            `public restricted [application/json] 403:forbidden: the header Origin is not one of CORS_ORIGINS`,
		"POST /page/admin":      `admin UserToken 403:forbidden: the caller is not an admin; forbidden: the header Origin is not one of CORS_ORIGINS`,
		"POST /open":            `public`,
		"POST /others":          `user UserToken`,
		"POST /key":             `user UserToken APIKey`,
		"GET /admin":            `admin UserToken APIKey scope=admin 403:forbidden: the caller is not an admin`,
		"PUT /both":             `step-up UserToken BasicAuth 403:reauthentication_required: as before 429:too_many_requests recent`,
		"PATCH /both":           `step-up UserToken BasicAuth roles=[admin] restricted 403:reauthentication_required: as before 429:too_many_requests recent`,
	} {
		if got := facts(ops[key]); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if got := ops["POST /auth"].Extensions[callerMark]; got != "sign-in" {
		t.Errorf("POST /auth: %v", got)
	}
	description := keyUsage + "*:read, *:write, admin, things:read, things:write."
	if scheme := swagger.SecurityDefinitions[apiKeyScheme]; scheme == nil || scheme.Description != description {
		t.Errorf("API keys: %v", scheme)
	}
	if codes := swagger.Definitions["ErrorCode"]; fmt.Sprint(codes.Enum, codes.Extensions["x-enum-varnames"]) != "[conflict sold_out] [SoldOut]" {
		t.Errorf("codes: %v", codes)
	}
	want := `[{"name":"plans","x-resource":{"name":"plans","own":"organization","path":"/plans","record":"plan","title":"id"}},{"name":"tag-of-things","x-resource":{"name":"things","path":"/things","record":"big-thing","title":"title"}}]`
	if tags, err := json.Marshal(swagger.Tags); err != nil || string(tags) != want {
		t.Errorf("%v: %s", err, tags)
	}
	record, _ := json.Marshal(swagger.Definitions["BigThing"].Properties)
	body, _ := json.Marshal(ops["POST /things"].Parameters[:2])
	for _, got := range []string{string(record), string(body)} {
		if strings.Count(got, `"x-reference"`) != 1 || !strings.Contains(got, `"x-reference":"titles"`) {
			t.Errorf("references: %s", got)
		}
	}
}

// facts returns what join has added to an operation, in short.
func facts(op *spec.Operation) string {
	out := []string{fmt.Sprint(op.Extensions[callerMark])}
	for _, all := range op.Security {
		for scheme := range all {
			out = append(out, scheme)
		}
	}
	for _, mark := range []string{rolesMark, scopeMark, settingMark} {
		if value := op.Extensions[mark]; value != nil {
			out = append(out, fmt.Sprint(strings.TrimPrefix(mark, "x-"), "=", value))
		}
	}
	for mark, word := range map[string]string{batchMark: "batch", restrictedMark: "restricted", optionalMark: "optional"} {
		if op.Extensions[mark] == true {
			out = append(out, word)
		}
	}
	if len(op.Consumes) > 0 {
		out = append(out, fmt.Sprint(op.Consumes))
	}
	for _, p := range op.Parameters {
		if p.In == "header" && (p.Name != "If-None-Match" || op.Produces == nil) {
			out = append(out, p.Name)
		}
	}
	for _, status := range []int{401, 403, 429} {
		if r, ok := op.Responses.StatusCodeResponses[status]; ok {
			description, _, _ := strings.Cut(r.Description, ": the session")
			description, _, _ = strings.Cut(description, ": too")
			out = append(out, fmt.Sprint(status, ":", description))
		}
	}
	if strings.Contains(op.Description, recentSignIn) {
		out = append(out, "recent")
	}
	return strings.Join(out, " ")
}

// TestWithoutKeys has a service without API keys.
func TestWithoutKeys(t *testing.T) {
	t.Parallel()
	ops := operations{}
	ops.operation("POST /things", func(op *spec.Operation) {
		op.Security = []map[string][]string{{"UserToken": {}}, {apiKeyScheme: {}}}
	})
	swagger, err := ops.joined(t, func(r *route.Router) { r.Resource(things).POST("/things", route.User, rest.NoContent) })
	if got := facts(ops["POST /things"]); err != nil || got != "user UserToken batch" || swagger.SecurityDefinitions[apiKeyScheme] != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestNoRoute(t *testing.T) {
	t.Parallel()
	ops := operations{}
	ops.operation("POST /things")
	_, err := ops.joined(t, func(r *route.Router) { r.GET("/things", route.User, rest.NoContent) })
	if err == nil || !strings.Contains(err.Error(), "POST /things is annotated, but no router adds this route") {
		t.Error(err)
	}
}

// TestExtensionsGuide checks that the guide lists the extensions that describe resources, properties and access.
func TestExtensionsGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{resourceMark, referenceMark, fileMark, callerMark, rolesMark, scopeMark, batchMark, settingMark} {
		if !strings.Contains(string(guide), "\n| `"+mark+"` |") {
			t.Errorf("docs/client.md does not list %s", mark)
		}
	}
}
