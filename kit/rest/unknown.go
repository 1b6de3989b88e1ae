package rest

import (
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Credential is the parameter with the master key or a user token, which every body and query string can have.
const Credential = "access_token"

// plainName matches the names that an error repeats. Others can be values, for example of JSON that was sent as a form.
var plainName = regexp.MustCompile(`^[\w$.\-\[\]]{1,64}$`)

// UnknownQuery returns an error for each parameter of a query string that is not known, except access_token.
func UnknownQuery(query url.Values, known []string) []apperr.Field {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(query)), func(name string) bool { return name == Credential })
	return unknown("query", names, known, "")
}

// unknown returns an error for each name of a parameter that is not known, sorted; names that are not plain have one
// together, without a name. The message has the known name that is the most similar, or all of them, and the note.
func unknown(in string, names, known []string, note string) (faults []apperr.Field) {
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(known, name) })
	for i, name := range names {
		if !plainName.MatchString(name) {
			names[i] = ""
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		fault := apperr.Field{In: in, Param: name, Code: apperr.Unknown, Message: "Is not a parameter of this operation."}
		near := ""
		if len(faults) < maxErrors { // the others are not sent
			near = nearest(name, known)
		}
		switch {
		case near != "":
			fault.Message += " Did you mean " + near + "?"
		case len(faults) == 0 && len(known) > 0:
			fault.Message += " Allowed: " + strings.Join(known, ", ") + "."
			fault.Expected = known
		}
		fault.Message += note
		faults = append(faults, fault)
	}
	return faults
}

// nearest returns the known name with at most two other letters, regardless of case, or "".
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, candidate := range known {
		distance := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(candidate))
		if distance < min(least, len(candidate)) {
			best, least = candidate, distance
		}
	}
	return best
}

// unknown returns an error for each parameter that is neither a field nor, with a name of a view, part of a record that
// the client sends back.
func (p Params) unknown(fields []field, views []any) []apperr.Field {
	var names []string
	add := func(name string) {
		if name != Credential && !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			names = append(names, name)
		}
	}
	for name := range p.json {
		add(name)
	}
	for name := range p.form {
		add(name)
	}
	if names == nil {
		return nil
	}
	for _, view := range views {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(store.FieldNames(reflect.TypeOf(view)), name) })
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	note := " The body was read as JSON."
	if p.json == nil {
		note = " The body was read as a form; JSON needs Content-Type: application/json."
	}
	return unknown("body", names, known, note)
}
