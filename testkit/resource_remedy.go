package testkit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/ginseng/kit/rest"
)

// remedy returns the end of an error: the Go code with which the test of a project can comply with a rule of the project that causes
// the response.
func (s *suite) remedy(want int, r Request, response Response) string {
	if response.Status >= http.StatusInternalServerError {
		return ""
	}
	var lines []string
	name := anyField
	var p rest.Problem
	if json.Unmarshal(response.Body, &p) == nil && len(p.Errors) > 0 {
		name, _, _ = strings.Cut(p.Errors[0].Param, "[")
	}
	invalid := response.Status == http.StatusBadRequest || response.Status == http.StatusConflict
	switch isUpdate := r.Method == http.MethodPatch || r.Method == http.MethodPut; {
	case s.caller != "" && !invalid && r.As == s.accounts[s.caller].Token: // not a record that the check creates as another caller
		statuses := slices.Clone(s.Access[s.caller])
		statuses[slices.Index(s.Methods, s.methodOf(r))] = response.Status
		lines = append(lines, fmt.Sprintf("r.Access[%q] = []int{%s} // %s", s.caller, strings.Trim(strings.ReplaceAll(fmt.Sprint(statuses), " ", ", "), "[]"), strings.Join(s.Methods, ", ")))
	case want >= http.StatusBadRequest && !invalid:
	case r.Method == http.MethodPost && invalid:
		lines = append(lines, prepareLine("Prepare", name))
	case r.Method == http.MethodPost:
		lines = append(lines, "r.Records = append(r.Records, func(api *testkit.API, recordID, ownerID store.ID) { … }) // store what the owner needs")
	case isUpdate && invalid:
		lines = append(lines, prepareLine("PrepareUpdate", name))
	}
	if response.Status == http.StatusConflict && name == anyField && r.Method != http.MethodDelete {
		lines = append(lines, startLine)
	}
	if want < http.StatusBadRequest && response.Status != http.StatusUnauthorized && r.Method != http.MethodPost && (name == anyField || s.caller != "") {
		lines = append(lines, s.storedLine())
	}
	return s.advice(lines...)
}

// anyField stands for a field that the developer chooses.
const anyField = "FIELD"

// startLine is the Go code that raises a limit, such as one per user, for which no body is valid.
const startLine = `start := r.Start; r.Start = func(t testing.TB, options ...testkit.Option) *testkit.API { return start(t, append(options, testkit.Env("SETTING", "VALUE"))...) } // a limit that is a setting`

func prepareLine(function, field string) string {
	return fmt.Sprintf(`r.%s = func(api *testkit.API, n int, body map[string]any) { body[%q] = … }`, function, field)
}

// storedLine returns the Go code that changes the records which the check has stored.
func (s *suite) storedLine() string {
	if s.posted || s.Insert == nil {
		return prepareLine("Prepare", anyField)
	}
	return `insert := r.Insert; r.Insert = func(api *testkit.API, caller testkit.Caller, record map[string]any) store.ID { record["` + anyField + `"] = …; return insert(api, caller, record) }`
}

// advice returns the end of an error: the lines of Go code that a test can add, and the line that leaves out the check.
func (s *suite) advice(lines ...string) string {
	lines = append(lines, fmt.Sprintf("r.Skip(%q, \"REASON\")", s.check))
	return "\n\tIf a rule of yours causes this, add to the test, before r.Run(t):\n\t\t" + strings.Join(lines, "\n\tor\n\t\t")
}

// methodOf returns the method of Resource.Methods that a request calls.
func (s *suite) methodOf(r Request) string {
	switch {
	case r.Method == http.MethodPost:
		return "create"
	case r.Method == http.MethodPatch, r.Method == http.MethodPut:
		return "update"
	case r.Method == http.MethodDelete:
		return "delete"
	case r.Path == s.Path || r.Path == s.Path+"/changes":
		return "list"
	}
	return "show"
}
