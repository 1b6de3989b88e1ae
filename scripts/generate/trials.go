package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The templates of the tests use the methods below.

// HasRule reports whether a method has the rule.
func (r Resource) HasRule(rule string) bool {
	return slices.ContainsFunc(r.Methods(), func(m string) bool { return kindOf(r.Rules[m]) == rule })
}

// HasOwner reports whether the tests need an account that owns the records or their parent.
func (r Resource) HasOwner() bool { return r.HasRule(ruleUser) || r.HasRule(ruleOwn) || r.Owner }

// callers are the callers in the tests, besides the roles of the project. A project without users has only the first three
// callers.
var callers = []string{"nobody", "invalid token", "master key", "user", "admin", "deleted user", "demoted admin"}

// Callers returns the callers in the tests.
func (r Resource) Callers() []string {
	out := slices.Clone(callers)
	if !r.HasUser {
		out = out[:3]
	}
	out = append(out, r.UsedRoles()...)
	if r.HasOwner() {
		out = append(out, "owner")
	}
	return out
}

// Statuses returns the expected status of each method for a caller in the tests, separated by commas.
func (r Resource) Statuses(caller string) string {
	var out []string
	for _, method := range r.Methods() {
		out = append(out, strconv.Itoa(r.status(method, caller)))
	}
	return strings.Join(out, ", ")
}

// RefersToHidden reports whether a record must refer to a record that other users cannot see.
func (r Resource) RefersToHidden() bool {
	return slices.ContainsFunc(r.References(), func(f Field) bool { return f.Required && r.TargetOf(f).hides() })
}

// hides reports whether a user cannot see the records of another.
func (r Resource) hides() bool {
	if above := r.Above(); above != nil {
		return above.hides()
	}
	return r.See() == accessOf(ruleOwn)
}

// status returns the expected status when a caller in the tests calls a method.
func (r Resource) status(method, caller string) int {
	hasRole := slices.Contains(r.UsedRoles(), caller)
	isUser := hasRole || caller == "user" || caller == "demoted admin" // and neither an admin nor the owner
	signedIn := isUser || caller == "admin" || caller == "owner"
	switch rule := r.Rules[method]; {
	case caller == "invalid token", caller == "deleted user",
		rule == ruleMaster && caller != "master key",
		rule != ruleMaster && rule != rulePublic && !signedIn:
		return 401
	case rolesOf(rule) != nil && caller != "admin" && !slices.Contains(rolesOf(rule), caller):
		return 403
	case r.hides() && isUser && rule != ruleAdmin &&
		(r.Under != "" || method != methodCreate && method != methodList):
		return 404
	case method == methodCreate && rule != ruleAdmin && r.RefersToHidden() && isUser:
		return 400
	case rule == ruleAdmin && caller != "admin", r.ownersOnly(method) && isUser:
		return 403
	}
	return map[string]int{methodCreate: 201, methodList: 200, methodShow: 200, methodUpdate: 200, methodDelete: 204}[method]
}

// Absent returns Go code for the value in a response if the request had no value or null.
func (f Field) Absent() string {
	switch {
	case f.IsList():
		return "[]any{}"
	case f.Nullable():
		return "nil"
	case f.kind().isNumber && f.Type != typeDecimal:
		x, _ := strconv.ParseFloat(f.Default, 64) // valid: see checkDefault
		return decimal(x)
	case f.Type == typeBool:
		return f.Default
	}
	return strconv.Quote(f.Default)
}

// trial is Go code for a value of a field, and the expected error code; "" if the value is valid.
type trial struct{ Value, Code string }

// Valid returns Go code for valid values of the field. Invalid returns Go code for a map of invalid values by error code.
func (f Field) Valid() string {
	values := f.trials()[""]
	if values == nil {
		return ""
	}
	return "[]any{" + strings.Join(values, ", ") + "}"
}

func (f Field) Invalid() string {
	var out []string
	trials := f.trials()
	for _, code := range slices.Sorted(maps.Keys(trials)) {
		if code != "" {
			out = append(out, fmt.Sprintf("%q: {%s}", code, strings.Join(trials[code], ", ")))
		}
	}
	if out == nil {
		return ""
	}
	return "map[string][]any{" + strings.Join(out, ", ") + "}"
}

// trials returns Go code for values of the field by error code; "" is the code of valid values. The code of an error in the first
// item of a list is [0].CODE.
func (f Field) trials() map[string][]string {
	out, empty := map[string][]string{}, ""
	add := func(value, code string) {
		if !slices.Contains(out[code], value) {
			out[code] = append(out[code], value)
		}
	}
	if f.Required {
		empty = "required"
	}
	switch {
	case f.kind().isString:
		add("5.0", "type")
		add(`"  "`, empty)
	case f.IsList():
		add(`"x"`, "type")
		add("[]any{}", empty)
	}
	if f.Type == typeStrings {
		add("[]any{1.0}", "type")
		add(fmt.Sprintf(`slices.Repeat([]any{strings.Repeat("ä", %d)}, %d)`, maxString+1, max(1, f.MinLength())), "[0].max_length")
	}
	for _, t := range slices.Concat(f.kind().trials, f.bounded()) {
		add(t.Value, t.Code)
	}
	return out
}

// bounded returns values at and beyond the bounds of the field.
func (f Field) bounded() (out []trial) {
	if f.kind().maxLength > 0 {
		value := func(n int) string { return fmt.Sprintf(`strings.Repeat("ä", %d)`, n) }
		if f.IsList() {
			item := map[string]string{typeStrings: `"x"`, typeInts: "1.0", typeRefs: strconv.Quote(recordID(0))}[f.Type]
			value = func(n int) string { return fmt.Sprintf(`slices.Repeat([]any{%s}, %d)`, item, n) }
		}
		if n := f.MinLength(); n > 1 {
			out = append(out, trial{value(n - 1), "min_length"}, trial{value(n), ""})
		}
		return append(out, trial{value(f.MaxLength()), ""}, trial{value(f.MaxLength() + 1), "max_length"})
	}
	if !f.kind().isNumber {
		return nil
	}
	low, high := f.bounds()
	limit, value := float64(maxInt), decimal
	if f.Type == typeDecimal {
		limit, value = maxDecimal, func(x float64) string { return strconv.Quote(number(x)) }
	}
	low, high = max(low, -limit), min(high, limit)
	out = append(out, trial{value(low), ""}, trial{value(high), ""})
	if low > -limit {
		out = append(out, trial{value(low - 1), "min"})
	}
	if high < limit {
		out = append(out, trial{value(high + 1), "max"})
	}
	return out
}
