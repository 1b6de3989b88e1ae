package modules_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/testkit"
)

// invalid has an invalid value of each parameter, by name.
type invalid map[string]any

const nul = "x\x00" // no parameter accepts U+0000

// ofNoType returns values that no parameter accepts.
func (op operation) ofNoType() invalid {
	out := invalid{}
	for name, p := range op.body() {
		out[name] = 5
		if p.Type == "string" {
			out[name] = nul
		} else if p.Type == "integer" || p.Type == "number" {
			out[name] = "x"
		}
	}
	return out
}

// ofWrongType returns values of another type.
func (op operation) ofWrongType() invalid {
	out := invalid{}
	for name, p := range op.body() {
		out[name] = map[string]any{"$gt": ""}
		if p.Type != "string" && p.Type != "integer" && p.Type != "boolean" {
			out[name] = "x"
		}
	}
	return out
}

// ofWrongForm returns values of the right type that violate a documented rule, for the parameters that have such a rule.
func (op operation) ofWrongForm() invalid {
	out := invalid{}
	for name, p := range op.body() {
		switch {
		case p.Format == "email" || p.Format == "uri" || p.Enum != nil:
			out[name] = "x"
		case p.Maximum != nil:
			out[name] = *p.Maximum + 1
		case p.MinLength > 1:
			out[name] = strings.Repeat("x", p.MinLength-1)
		case p.MaxLength > 0 && p.MaxLength <= 4096: // a route without long parameters accepts only small bodies
			out[name] = strings.Repeat("x", p.MaxLength+1)
		}
	}
	return out
}

// missing returns the names of the required parameters, with nil values.
func (op operation) missing() invalid {
	out := invalid{}
	for name, p := range op.body() {
		if slices.Contains(op.Input.Required, name) || strings.Contains(p.Description, "required unless") {
			out[name] = nil
		}
	}
	return out
}

// body returns the parameters of the body, except the credential, which is verified before the others.
func (op operation) body() map[string]property {
	out := map[string]property{}
	for name, p := range op.Input.Properties {
		if name != rest.Credential || p.MaxLength > 0 { // the access_token of a provider has a maximum length
			out[name] = p
		}
	}
	return out
}

// query returns an invalid query string.
func (op operation) query() url.Values {
	out := url.Values{}
	for _, p := range op.Parameters {
		if p.In == "query" {
			out.Set(p.Name, nul)
		}
	}
	return out
}

// TestAllMistakesAtOnce sends each operation requests in which every parameter is invalid. The response must report all of
// them.
func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	ops := operations(t)
	for name, op := range sampled(ops) {
		query := op.query()
		if len(op.Input.Properties) == 0 && len(query) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newRequestBuilder(t, ops, name)
			if n := strings.Count(k.path, "{"); k.method == "GET" && (n > 1 || n == 1 && k.record() == "") {
				return // needs a record that the API cannot create here; the tests of its module send an unknown expand
			}
			if strings.HasSuffix(k.path, "/picture") {
				return // every filename is valid; the tests of the module send what is not a picture
			}
			good := k.good()
			send := func(kind string, values invalid, body any) {
				r := good
				r.Form, r.JSON = nil, body
				if len(query) > 0 {
					r.Path += "?" + query.Encode()
				}
				response := k.api.Do(r)
				var problem rest.Problem
				if err := json.Unmarshal(response.Body, &problem); err != nil || response.Status != 400 {
					t.Fatalf("%s: %d %s", kind, response.Status, response.Body)
				}
				for param := range values {
					if !reports(problem, "body", param) {
						t.Errorf("%s: %s is not reported: %s", kind, param, response.Body)
					}
				}
				for param := range query {
					if !reports(problem, "query", param) {
						t.Errorf("the parameter %s of the query is not reported: %s", param, response.Body)
					}
				}
			}
			if len(op.Input.Properties) == 0 {
				send("query", nil, nil)
				return
			}
			for kind, values := range map[string]invalid{"characters": op.ofNoType(), "type": op.ofWrongType(), "rules": op.ofWrongForm()} {
				if len(values) > 0 {
					send(kind, values, values)
				}
			}
			if missing := op.missing(); len(missing) > 0 {
				send("missing", missing, invalid{})
			}
			k.reportsLateRules(t, good)
		})
	}
}

// plausible returns a value of the right type that violates a rule which only the service can check, if there is one.
func (p property) plausible() string {
	if p.Format == "date-time" {
		return "2000-01-01T00:00:00Z"
	}
	return "x"
}

// reportsLateRules checks that a parameter that is invalid among valid ones is also reported among invalid ones: a module must
// check its own rules even if Bind fails. good is a valid request.
func (k *requestBuilder) reportsLateRules(t *testing.T, good testkit.Request) {
	t.Helper()
	reported := func(r testkit.Request, param string) bool {
		var problem rest.Problem
		response := k.api.Do(r)
		if response.Status != 400 || json.Unmarshal(response.Body, &problem) != nil {
			return false
		}
		problem.Errors = slices.DeleteFunc(problem.Errors, func(e apperr.Field) bool { // a rule about several parameters, or about the stored record
			return e.Code == apperr.FieldConflict || e.Param == "after"
		})
		return reports(problem, "body", param)
	}
	for name, p := range k.op.body() {
		among := k.op.ofWrongType()
		if among[name] = p.plausible(); p.Type == "array" {
			among[name] = []string{p.plausible()}
		}
		r := good
		r.Form, r.JSON = nil, among
		if reported(r, name) {
			continue
		}
		r.Form, r.JSON = url.Values{}, nil
		maps.Copy(r.Form, good.Form)
		r.Form.Set(name, p.plausible())
		if reported(r, name) {
			t.Errorf("%s=%s is not reported if other parameters are invalid", name, p.plausible())
		}
	}
}

// reports reports whether a problem has an error of the parameter, or of a part of it.
func reports(p rest.Problem, in, param string) bool {
	for _, e := range p.Errors {
		if rest, ok := strings.CutPrefix(e.Param, param); ok && e.In == in && (rest == "" || rest[0] == '.' || in == "body" && rest[0] == '[') {
			return true
		}
	}
	return false
}
