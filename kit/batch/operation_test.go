package batch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/apperr"
)

// TestParse parses lists of operations. Each error is "param code".
func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ operations, errors string }{
		{`[{"method":"POST","path":"/orders","body":{"note":"n"}}]`, ""},
		{`[{"name":"o","method":"POST","path":"/orders"},{"method":"POST","path":"/orders/$o.id/lines","body":{"a":[{"b":"$o.id"}]}}]`, ""},
		{`[{"method":"PATCH","path":"/orders/1","body":{"note":"$$5","other":"5$"},"ifMatch":"\"x\""}]`, ""},

		{`{}`, "operations type"},
		{`[]`, "operations required"},
		{`[5,null]`, "operations[0] type, operations[1] type"},
		{`[{}]`, "operations[0].method required, operations[0].path required"},
		{`[{"method":"GET","path":"/a"}]`, "operations[0].method one_of"},
		{`[{"method":"POST","path":"/a","headers":{}}]`, "operations[0].headers unknown"},
		{`[{"method":"POST","path":"/a","body":[]}]`, "operations[0].body type"},
		{`[{"method":"POST","path":"/a","body":"$a.b"}]`, "operations[0].body type"},
		{`[{"method":"POST","method":"PUT","path":"/a"}]`, "operations[0] type"},
		{`[{"name":"A","method":"POST","path":"/a"}]`, "operations[0].name format"},
		{`[{"name":"","method":"POST","path":"/a"},{"name":5,"method":"POST","path":"/a"}]`, "operations[0].name format, operations[1].name type"},
		{`[{"name":null,"method":"POST","path":"/a"}]`, ""},
		{`[{"name":"A","body":{"x":"$b.id"}},{"method":"GET","path":"a?b","body":5}]`,
			"operations[0].name format, operations[0].method required, operations[0].path required, operations[0].body.x unknown_reference, " +
				"operations[1].method one_of, operations[1].body type, operations[1].path format"},
		{`[{"name":"a","method":"POST","path":"/a"},{"name":"a","method":"POST","path":"/a"}]`, "operations[1].name conflict"},
		{`[{"name":"a","method":"POST","path":"/a/$a.id"}]`, "operations[0].path unknown_reference"},
		{`[{"method":"POST","path":"/a","body":{"x":"$b.id","y":{"z":[1,"$c.id"]}}},{"name":"b","method":"POST","path":"/a"}]`,
			"operations[0].body.x unknown_reference, operations[0].body.y.z[1] unknown_reference"},
		{`[{"method":"POST","path":"/a","body":{"x":"$","y":"$a","z":"$a.b.c","\u0024a.b":"\u0024a"}}]`,
			"operations[0].body.x format, operations[0].body.y format, operations[0].body.z format, operations[0].body.$a.b format"},

		{`[{"method":"POST","path":"a"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"//example.com/a"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"https://example.com/a"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a/../users"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a/./b"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a/%2e%2e/users"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a?access_token=x"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a#b"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a/"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a\\b"}]`, "operations[0].path format"},
		{`[{"method":"POST","path":"/a/x$a.id"}]`, "operations[0].path format"},
	} {
		var operations Operations
		var found []string
		for _, e := range operations.ParseInput("operations", json.RawMessage(test.operations)) {
			found = append(found, fmt.Sprintf("%s %s", e.Param, e.Code))
		}
		if got := strings.Join(found, ", "); got != test.errors {
			t.Errorf("%.200s: got %q, want %q", test.operations, got, test.errors)
		}
	}
}

// TestLimits checks bodies that need much more memory than they have bytes.
func TestLimits(t *testing.T) {
	t.Parallel()
	parse := func(operations string) []apperr.Field {
		return new(Operations).ParseInput("operations", json.RawMessage(operations))
	}
	create := func(body string) string { return `[{"method":"POST","path":"/a","body":` + body + `}]` }
	if errs := parse("[" + strings.Repeat("{},", maxOperations) + "{}]"); len(errs) != 1 || errs[0].Code != apperr.MaxLength {
		t.Errorf("many operations: %.500v", errs)
	}
	list := `["` + strings.Repeat(`$x","`, 2*maxErrors) + `"]`
	for name, body := range map[string]string{
		"long name": `{"` + strings.Repeat("x", 10*maxPath) + `":` + list + `}`,
		"nested":    `{"x":` + strings.Repeat("[", maxPath) + list + strings.Repeat("]", maxPath) + `}`,
	} {
		errs := parse(create(body))
		if len(errs) != maxErrors || len(errs[0].Param) < maxPath || len(errs[0].Param) > 3*maxPath {
			t.Errorf("%s: %d errors, %.100s", name, len(errs), errs[0].Param)
		}
	}
}

func TestReplaceReferences(t *testing.T) {
	t.Parallel()
	values := func(reference string) (jsontext.Value, string) {
		return jsontext.Value(`{"is":"` + reference[1:] + `"}`), ""
	}
	for body, want := range map[string]string{
		``:                          ``,
		`{}`:                        `{}`,
		`{"a":"$b.c","d":["$e.f"]}`: `{"a":{"is":"b.c"},"d":[{"is":"e.f"}]}`,
		`{"a":"$$b.c","d":"$$$"}`:   `{"a":"$b.c","d":"$$"}`,
		`{"$a.b":"c $d.e"}`:         `{"$a.b":"c $d.e"}`,
		`{"a":1e400,"b":0.10,"a":9007199254740993}`: `{"a":1e400,"b":0.10,"a":9007199254740993}`,
		`{"a":"<é\ud800>"}`:                         `{"a":"<é` + "\ufffd" + `>"}`,
	} {
		got, errs := replaceReferences(Object(body), values)
		if string(got) != want || errs != nil {
			t.Errorf("%s: got %s, want %s, errors %v", body, got, want, errs)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`[{"name":"o","method":"POST","path":"/orders/$o.id","body":{"a":["$o.id","$$"]}}]`)
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) {
			return
		}
		var operations Operations
		for _, e := range operations.ParseInput("operations", json.RawMessage(value)) {
			if !strings.HasPrefix(e.Param, "operations") || e.Code == "" || e.Message == "" {
				t.Errorf("%s: %+v", value, e)
			}
		}
	})
}
