package documents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-openapi/spec"
)

// things is the model of a module with a list.
const things = `package thing

//	@Router	/shelves/{id}/things	[get]
//	@Router	/things/{id} [get]
func spec() listing.Spec {
	return listing.Spec{
		Name:   "things",
		Search: []string{"title", "hidden"},
		Sort:   []string{"title"},
		Filter: []listing.Filter{
			{Field: "state", Type: listing.Enum, Values: []string{"on", "off"}},
			{Field: "tags", List: true},
			{Field: "price", Type: listing.Decimal},
		},
		View:   View{},
		Expand: []string{"owner"},
	}
}
`

// listDocument writes the model of a module, and returns a document with a list of things and with one thing, and the error of
// addListParameters.
func listDocument(t *testing.T, model string) (list, one *spec.Operation, err error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "modules/thing"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "modules/thing/model.go"), []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := spec.ArrayProperty(spec.RefProperty("#/definitions/Thing"))
	page := spec.NewResponse().WithSchema(spec.RefProperty("#/definitions/listing.Page-Thing"))
	list, one = spec.NewOperation("").RespondsWith(200, page), spec.NewOperation("")
	list.Parameters = []spec.Parameter{*spec.QueryParam("limit"), *spec.QueryParam("sort").WithDescription("old")}
	return list, one, addListParameters(&spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Paths: &spec.Paths{Paths: map[string]spec.PathItem{
			"/shelves/{id}/things": {PathItemProps: spec.PathItemProps{Get: list}},
			"/things/{id}":         {PathItemProps: spec.PathItemProps{Get: one}},
			"/things/{id}/parts":   {PathItemProps: spec.PathItemProps{Post: spec.NewOperation("")}},
		}},
		Definitions: spec.Definitions{
			"listing.Page-Thing": *new(spec.Schema).SetProperty("rows", *rows),
			"Thing":              *new(spec.Schema).SetProperty("id", *spec.StringProperty()).SetProperty("title", *spec.StringProperty()).SetProperty("expand", *spec.StringProperty()),
		},
	}}, dir, t.TempDir())
}

func TestListParameters(t *testing.T) {
	t.Parallel()
	list, one, err := listDocument(t, things)
	if err != nil {
		t.Fatal(err)
	}
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
	if lines := encoded(one); len(lines) != 1 || !strings.Contains(lines[0], `"name":"expand"`) || strings.Contains(all, "old") {
		t.Errorf("one thing: %s", lines)
	}
}

// TestListVariables has the values of a filter in a variable.
func TestListVariables(t *testing.T) {
	t.Parallel()
	model := strings.Replace(things, `[]string{"on", "off"}`, "states", 1) + "\nvar states = []string{\"on\", \"off\"}\n"
	list, _, err := listDocument(t, model)
	if err != nil || len(list.Parameters[2].Enum) != 2 {
		t.Errorf("%v, %+v", err, list.Parameters)
	}
}

func TestListErrors(t *testing.T) {
	t.Parallel()
	for old, test := range map[string]struct{ replacement, want string }{
		`"things"`:               {`"others"`, ""}, // the only one
		"//\t@Router\t/shelves":  {"var first, second = listing.Spec{}, listing.Spec{}\n\n//\t@Router\t/shelves", ""},
		"listing.Spec{\n":        {"other{\n", "GET /shelves/{id}/things returns a listing.Page, but its package has no listing.Spec"},
		`[]string{"on", "off"}`:  {`states`, "model.go: listing.Filter.Values must be a literal, so that the API document can have it"},
		`listing.Enum`:           {`listing.Color`, "listing.Filter has the unknown Type Color"},
		`{Field: "tags", `:       {`{"tags", `, "needs the names of its fields"},
		`[]listing.Filter{`:      {`filters{`, ""},
		`func spec() listing.Sp`: {`func spec( listing.Sp`, "missing"},
	} {
		_, _, err := listDocument(t, strings.Replace(things, old, test.replacement, 1))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %s", test.replacement, err, test.want)
		}
	}
}
