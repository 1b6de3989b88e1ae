package main

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The methods below are what the templates of the tests use.

// Token returns Go code for the credential that a method requires.
func (r Resource) Token(method string) string { return factsOf(r.Rules[method]).token }

// AdminToken returns Go code for a credential that allows a method on all records.
func (r Resource) AdminToken(method string) string {
	if r.Rules[method] == ruleMaster {
		return r.Token(method)
	}
	return "admin.Token"
}

// As returns Go code that adds the credential of a method to a request; "" if the method is public.
func (r Resource) As(method string) string {
	if r.Rules[method] == rulePublic {
		return ""
	}
	return ", As: " + r.Token(method)
}

// HasRule reports whether a method has the rule.
func (r Resource) HasRule(rule string) bool {
	return slices.ContainsFunc(r.Methods(), func(m string) bool { return kindOf(r.Rules[m]) == rule })
}

// HasOwner reports whether the tests have the account of the owner of the records, or of their parent.
func (r Resource) HasOwner() bool { return r.HasRule(ruleUser) || r.HasRule(ruleOwn) }

// CountsCalls reports whether the helper valid counts its calls.
func (r Resource) CountsCalls() bool {
	return slices.ContainsFunc(r.Required(), func(f Field) bool { return f.Unique && f.Type != typeRef })
}

// Statuses returns the expected status of each method for a caller of TestAccess, separated by commas.
func (r Resource) Statuses(caller string) string {
	var out []string
	for _, method := range r.Methods() {
		out = append(out, strconv.Itoa(r.status(method, caller)))
	}
	return strings.Join(out, ", ")
}

// RefersToHidden reports whether a record must refer to one that other users cannot see.
func (r Resource) RefersToHidden() bool {
	return slices.ContainsFunc(r.References(), func(f Field) bool { return f.Required && r.TargetOf(f).hides() })
}

// hides reports whether a user cannot see the records of another.
func (r Resource) hides() bool {
	if above := r.Above(); above != nil {
		return above.hides()
	}
	return r.See() == factsOf(ruleOwn).access
}

// status returns the expected status of a method for a caller of TestAccess.
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

// trial is Go code for a value of a field, with the expected error code of the field; "" if the value is valid.
type trial struct{ Value, Code string }

// Trials returns the rows of TestRules: values at the bounds of the field's rules, and beyond them. A row is Go code for the
// field's name, the value and the error code.
func (f Field) Trials() (out []string) {
	row := func(param, value, code string) {
		text := fmt.Sprintf("%q, %s, %q", param, value, code)
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	empty := ""
	if f.Required {
		empty = "required"
	}
	row(f.Name, "nil", empty)
	switch {
	case f.kind().isString:
		row(f.Name, "5.0", "type")
		row(f.Name, `"  "`, empty)
	case f.IsList():
		row(f.Name, `"x"`, "type")
		row(f.Name, "[]any{}", empty)
	}
	if f.Type == typeStrings {
		row(f.Name, "[]any{1.0}", "type")
		item := fmt.Sprintf(`slices.Repeat([]any{strings.Repeat("ä", %d)}, %d)`, maxString+1, max(1, f.MinLength()))
		row(f.Name+"[0]", item, "max_length")
	}
	for _, t := range slices.Concat(f.kind().trials, f.bounded()) {
		row(f.Name, t.Value, t.Code)
	}
	return out
}

// bounded returns values at the bounds of the field, and beyond them.
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
		return []trial{{f.Sent(0), ""}}
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

// permutations are unsorted orders of the three records of TestList.
var permutations = [][3]int{{1, 0, 2}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}}

// sample returns the number of the sample that is the field's value in a record of TestList.
func (f Field) sample(record int) int { return permutations[f.index%len(permutations)][record] }

// Listed reports whether the records of TestList have a value of the field.
func (r Resource) Listed(f Field) bool {
	return (f.Required || f.Search || f.Sort || f.Filter) && f.Target != r.Name
}

// Sample returns Go code for the field's value in a record of TestList.
func (f Field) Sample(record int) string { return f.Sent(f.sample(record)) }

// query is a query string of TestList, with the numbers of the expected records, separated by spaces.
type query struct{ Query, Want string }

// Queries returns queries for each sort order, each filter with each operator, and each searched field.
func (r Resource) Queries() (out []query) {
	add := func(text string, records []int) {
		out = append(out, query{text, strings.Trim(fmt.Sprint(records), "[]")})
	}
	newest := []int{2, 1, 0}
	add("", newest)
	for _, f := range r.Sorted() {
		if f.IsRef() && f.Target == r.Name {
			continue // the records of the test refer to none
		}
		records := []int{0, 1, 2}
		if f.Type != "" {
			slices.SortStableFunc(records, func(a, b int) int { return f.compare(f.sample(a), f.sample(b)) })
		}
		add("sort="+f.Name, records)
		slices.Reverse(records)
		add("sort=-"+f.Name, records)
	}
	only := func(matches func(record int) bool) []int {
		return slices.DeleteFunc(slices.Clone(newest), func(record int) bool { return !matches(record) })
	}
	for _, f := range r.Filtered() {
		if f.Target == r.Name {
			continue // the records of the test refer to none
		}
		for _, operator := range append([]string{""}, f.kind().operators...) {
			name := f.Name
			if operator != "" {
				name += "[" + operator + "]"
			}
			value, matches := f.text(1), func(record int) bool { return slices.Contains(satisfied[operator], f.compare(f.sample(record), 1)) }
			if f.IsList() {
				value, matches = f.items(1)[0], func(record int) bool { return f.sample(record) == 1 }
			}
			add(name+"="+url.QueryEscape(value), only(matches))
		}
	}
	for _, f := range r.Searched() {
		word := searchWords(f.text(1))[0]
		add("q="+strings.ToUpper(word), only(func(record int) bool {
			return slices.ContainsFunc(r.Searched(), func(other Field) bool {
				return slices.ContainsFunc(searchWords(other.text(other.sample(record))), func(w string) bool { return strings.HasPrefix(w, word) })
			})
		}))
	}
	return out
}

// satisfied has, for each operator of a filter, the results of compare(value, operand) that satisfy it.
var satisfied = map[string][]int{"": {0}, "in": {0}, "ne": {-1, 1}, "lt": {-1}, "lte": {-1, 0}, "gt": {1}, "gte": {0, 1}}

// compare compares the samples a and b in the order of the store. It returns -1, 0 or 1.
func (f Field) compare(a, b int) int {
	if f.kind().isNumber {
		return cmp.Compare(f.number(a), f.number(b))
	}
	return cmp.Compare(f.text(a), f.text(b))
}

// searchWords returns the words of a sample that a search finds, without those that every sample of a URL or email address
// has.
func searchWords(text string) []string {
	words := strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return slices.DeleteFunc(words, func(w string) bool { return w == "https" || w == "example" || w == "com" })
}
