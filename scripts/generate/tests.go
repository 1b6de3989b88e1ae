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

// This file holds what the templates of the tests ask for.

// Token is the Go expression of a credential that a method takes, in a test that has started the service as s.
func (r Resource) Token(method string) string {
	switch r.Rules[method] {
	case ruleUser:
		return "s.author.Token"
	case ruleAdmin:
		return "s.admin.Token"
	case ruleMaster:
		return "testkit.MasterKey"
	}
	return `""`
}

// As is the credential of a request, for its literal.
func (r Resource) As(method string) string {
	if r.Rules[method] == rulePublic {
		return ""
	}
	return ", As: " + r.Token(method)
}

// Asks reports whether any method has the rule.
func (r Resource) Asks(rule string) bool {
	return slices.ContainsFunc(r.Methods(), func(m string) bool { return r.Rules[m] == rule })
}

// Callers are the callers of TestAccess.
func (r Resource) Callers() []caller {
	out := []caller{{r, "nobody", `""`}, {r, "a bad token", `"x"`}, {r, "the master key", "testkit.MasterKey"}}
	if r.HasUser {
		out = append(out, caller{r, "a user", `s.SignUp("user").Token`}, caller{r, "an admin", `s.SignUp("admin").Token`})
	}
	if r.Owner {
		out = append(out, caller{r, "the author", "s.author.Token"})
	}
	return out
}

type caller struct {
	r           Resource
	Name, Token string
}

// Statuses are the answers to the caller, by method.
func (c caller) Statuses() string {
	var out []string
	for _, method := range c.r.Methods() {
		out = append(out, strconv.Itoa(c.status(method)))
	}
	return strings.Join(out, ", ")
}

func (c caller) status(method string) int {
	rule := c.r.Rules[method]
	user := c.Name == "a user" || c.Name == "the author" || c.Name == "an admin"
	change := method == methodUpdate || method == methodDelete
	switch {
	case c.Name == "a bad token",
		rule == ruleMaster && c.Name != "the master key",
		(rule == ruleUser || rule == ruleAdmin) && !user:
		return 401
	case rule == ruleAdmin && c.Name != "an admin", change && c.r.OwnerOnly(method) && c.Name == "a user":
		return 403
	}
	return map[string]int{methodCreate: 201, methodList: 200, methodShow: 200, methodUpdate: 200, methodDelete: 204}[method]
}

// Required are the fields that each creation names.
func (r Resource) Required() fieldList { return r.only(func(f Field) bool { return f.Required }) }

// Optional are the others.
func (r Resource) Optional() fieldList { return r.only(func(f Field) bool { return !f.Required }) }

// Counts reports whether valid parameters differ from call to call.
func (r Resource) Counts() bool {
	return slices.ContainsFunc(r.Required(), func(f Field) bool { return f.Unique && f.Type != typeRef })
}

// Fresh is a value that no other call of valid has given, in Go; the calls are counted in s.made.
func (f Field) Fresh() string {
	switch f.Type {
	case typeInt:
		low, err := strconv.ParseInt(f.Min, 10, 64)
		if err != nil {
			if low, err = strconv.ParseInt(f.Max, 10, 64); err != nil {
				low = 1000
			}
			low -= leastUnique
		}
		if low == 0 {
			return "float64(s.made)"
		}
		return fmt.Sprintf("float64(%d + s.made)", low)
	case typeTime:
		return "store.At(time.Unix(int64(s.made), 0)).String()"
	case typeEmail:
		return `fmt.Sprintf("a%d@example.com", s.made)`
	case typeURL:
		return `fmt.Sprintf("https://example.com/%d", s.made)`
	case typeRef:
		return "store.NewID().Hex()"
	}
	high, _ := strconv.Atoi(f.length())
	switch width := min(max(f.least(), 4), high); {
	case width < 4:
		least, _ := strconv.ParseInt("1"+strings.Repeat("0", width-1), 36, 64)
		return fmt.Sprintf("strconv.FormatInt(int64(%d+s.made), 36)", least)
	default:
		return fmt.Sprintf(`fmt.Sprintf("%%0%dd", s.made)`, width)
	}
}

// Valid is a value of the field in valid.
func (f Field) Valid() string {
	if f.Unique {
		return f.Fresh()
	}
	return f.Sent(0)
}

// Absent is what the field shows when nothing was given, in Go.
func (f Field) Absent() string {
	switch {
	case f.Defaults && (f.Type == typeInt || f.Type == typeFloat):
		x, _ := strconv.ParseFloat(f.Default, 64)
		return decimal(x)
	case f.Defaults && f.Type == typeBool:
		return f.Default
	case f.Defaults:
		return strconv.Quote(f.Default)
	}
	return f.Cleared()
}

// Cleared is what the field shows after null, in Go.
func (f Field) Cleared() string {
	switch {
	case f.IsText():
		return `""`
	case f.Type == typeList:
		return "[]any{}"
	}
	return "nil"
}

// AfterNull is what null makes of the nth sample, in Go.
func (f Field) AfterNull(n int) string {
	if f.Required {
		return f.Sent(n)
	}
	return f.Cleared()
}

// Unset is the change that clears the field.
func (f Field) Unset() string {
	switch {
	case f.AbsentIfEmpty(), f.Nullable():
		return fmt.Sprintf("store.Unset(%q)", f.Name)
	case f.Type == typeList:
		return fmt.Sprintf("store.Set(%q, []string{})", f.Name)
	}
	return fmt.Sprintf(`store.Set(%q, "")`, f.Name)
}

// Clearing is what clears the field, in UpdateInput.
func (f Field) Clearing() string {
	switch {
	case f.IsText():
		return `new("")`
	case f.Type == typeList:
		return "new([]string(nil))"
	}
	return "new((*" + f.base() + ")(nil))"
}

// Zero is the cleared field in the document.
func (f Field) Zero() string {
	switch {
	case f.IsText():
		return `""`
	case f.Type == typeList:
		return "[]string{}"
	}
	return "nil"
}

// Pointers are the required fields that CreateInput holds as pointers.
func (r Resource) Pointers() fieldList {
	return r.only(func(f Field) bool { return f.Required && strings.HasPrefix(f.CreateType(), "*") })
}

// rule is one value of a field, and the code with which it is refused at creation and at a change; "" is accepted.
type rule struct{ Param, Value, Create, Update string }

// Trials are the bounds of the field's rules, each with what lies just beyond.
func (f Field) Trials() (out []rule) {
	try := func(value, code string) {
		if !slices.ContainsFunc(out, func(r rule) bool { return r.Value == value }) {
			out = append(out, rule{f.Name, value, code, code})
		}
	}
	null := rule{f.Name, "nil", "", ""}
	if f.Required {
		null.Create = "required"
	}
	out = append(out, null)
	texts := func(n int) string { return fmt.Sprintf(`strings.Repeat("ä", %d)`, n) }
	empty := ""
	if f.Required {
		empty = "required"
	}
	if f.IsText() {
		try("5.0", "type")
		try(`"  "`, empty)
	}
	high, _ := strconv.Atoi(f.length())
	switch f.Type {
	case typeString, typeText:
		if f.least() > 1 {
			try(texts(f.least()-1), "min_length")
			try(texts(f.least()), "")
		}
		try(texts(high), "")
		try(texts(high+1), "max_length")
	case typeEmail:
		try(f.Sent(0), "")
		try(`"nobody"`, "format")
		try(`strings.Repeat("a", 255-len("@example.com")) + "@example.com"`, "max_length")
	case typeURL:
		base := `"https://example.com/" + strings.Repeat("x", `
		try(base+strconv.Itoa(maxURL-len("https://example.com/"))+")", "")
		try(base+strconv.Itoa(maxURL+1-len("https://example.com/"))+")", "max_length")
		try(`"javascript:alert(1)"`, "format")
	case typeInt, typeFloat:
		try(`"ten"`, "type")
		if f.Type == typeInt {
			try("1.5", "type")
			try(decimal(maxInt+1), "type")
		}
		low, errLow := strconv.ParseFloat(f.Min, 64)
		if errLow != nil {
			low = -maxInt
		}
		most, errMost := strconv.ParseFloat(f.Max, 64)
		if errMost != nil {
			most = maxInt
		}
		try(decimal(low), "")
		try(decimal(most), "")
		if low > -maxInt {
			try(decimal(low-1), "min")
		}
		if most < maxInt {
			try(decimal(most+1), "max")
		}
	case typeBool:
		try(`"true"`, "type")
		try("false", "")
		try("true", "")
	case typeTime:
		try(f.Sent(0), "")
		try(`"yesterday"`, "type")
	case typeEnum:
		for _, value := range f.Values {
			try(strconv.Quote(value), "")
		}
		try(`"none of these"`, "one_of")
		try("5.0", "type")
	case typeRef:
		try(f.Sent(0), "")
		try(`"x"`, "format")
		try("5.0", "type")
	case typeList:
		items := func(n int) string { return fmt.Sprintf(`slices.Repeat([]any{"x"}, %d)`, n) }
		try(`"x"`, "type")
		try("[]any{1.0}", "type")
		try("[]any{}", empty)
		if f.least() > 1 {
			try(items(f.least()-1), "min_length")
			try(items(f.least()), "")
		}
		try(items(high), "")
		try(items(high+1), "max_length")
		n := max(1, f.least())
		long := fmt.Sprintf(`slices.Repeat([]any{strings.Repeat("ä", %d)}, %d)`, maxString+1, n)
		out = append(out, rule{f.Name + "[0]", long, "max_length", "max_length"})
	}
	return out
}

// permutations are orders of the three rows of the list's test, none of them sorted, in either direction.
var permutations = [][3]int{{1, 0, 2}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}}

// place is the number of the sample that a row has in a field.
func (f Field) place(row int) int { return permutations[f.at%len(permutations)][row] }

// Rows are the records of the list's test: what they are created with.
func (r Resource) Rows() (out []string) {
	for row := range 3 {
		var pairs []string
		for _, f := range r.Fields {
			if f.Required || f.Search || f.Sort || f.Filter {
				pairs = append(pairs, fmt.Sprintf("%q: %s", f.Name, f.Sent(f.place(row))))
			}
		}
		out = append(out, "{"+strings.Join(pairs, ", ")+"}")
	}
	return out
}

// query is one question of the list's test: the places of the rows that answer it, in order.
type query struct{ Query, Want string }

// Queries ask for each sort in both directions, each filter, and each searched field.
func (r Resource) Queries() (out []query) {
	ask := func(text string, rows []int) {
		var places []string
		for _, row := range rows {
			places = append(places, strconv.Itoa(row))
		}
		out = append(out, query{text, strings.Join(places, " ")})
	}
	newest := []int{2, 1, 0}
	ask("", newest)
	for _, f := range r.Sorted() {
		rows := []int{0, 1, 2}
		if f.Type != "" {
			slices.SortStableFunc(rows, func(a, b int) int { return f.compare(f.place(a), f.place(b)) })
		}
		ask("sort="+f.Name, rows)
		slices.Reverse(rows)
		ask("sort=-"+f.Name, rows)
	}
	keep := func(holds func(row int) bool) []int {
		return slices.DeleteFunc(slices.Clone(newest), func(row int) bool { return !holds(row) })
	}
	for _, f := range r.Filtered() {
		value := f.text(1)
		of := func(holds func(int) bool) []int {
			return keep(func(row int) bool { return holds(f.compare(f.place(row), 1)) })
		}
		escaped := url.QueryEscape(value)
		ask(f.Name+"="+escaped, of(func(c int) bool { return c == 0 }))
		for _, operator := range f.operators() {
			ask(f.Name+"["+operator+"]="+escaped, of(map[string]func(int) bool{
				"gt": func(c int) bool { return c > 0 }, "gte": func(c int) bool { return c >= 0 },
				"lt": func(c int) bool { return c < 0 }, "lte": func(c int) bool { return c <= 0 },
				"ne": func(c int) bool { return c != 0 }, "in": func(c int) bool { return c == 0 },
			}[operator]))
		}
	}
	for _, f := range r.Searched() {
		word := letters(f.text(1))[0]
		ask("q="+strings.ToUpper(word), keep(func(row int) bool {
			return slices.ContainsFunc(r.Searched(), func(other Field) bool {
				return slices.ContainsFunc(letters(other.text(other.place(row))), func(w string) bool { return strings.HasPrefix(w, word) })
			})
		}))
	}
	return out
}

// letters are the words that a search finds in a sample.
func letters(text string) []string {
	words := strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	slices.SortStableFunc(words, func(a, b string) int { // what is not common to all e-mail and web addresses first
		common := func(w string) int {
			if w == "https" || w == "example" || w == "com" {
				return 1
			}
			return 0
		}
		return common(a) - common(b)
	})
	return words
}

// compare orders two samples as the store does.
func (f Field) compare(a, b int) int {
	if f.Type == typeInt || f.Type == typeFloat {
		return cmp.Compare(f.number(a), f.number(b))
	}
	return cmp.Compare(f.text(a), f.text(b))
}

// First is the field with which tests change a record.
func (r Resource) First() Field { return r.Fields[0] }

// HasOne reports whether any method is about one record.
func (r Resource) HasOne() bool {
	return r.Has(methodShow) || r.Has(methodUpdate) || r.Has(methodDelete)
}

// ZeroPointer is a pointer to the zero value of a required field, in Go.
func (f Field) ZeroPointer() string { return "new(" + f.base() + ")" }

// Initial is the field of a document that no input sets, "" where that is Go's zero value.
func (f Field) Initial() string {
	switch {
	case f.Defaults && f.IsText():
		return f.defaultGo()
	case f.Defaults:
		return "new(" + f.defaultGo() + ")"
	}
	return ""
}

// InitialView is the same of the view.
func (f Field) InitialView() string {
	if f.Type == typeList {
		return "[]string{}"
	}
	return f.Initial()
}

// Expects reports whether the tests of the service look for what a method has stored.
func (r Resource) Expects() bool {
	return r.Has(methodCreate) || r.Has(methodUpdate) || r.Has(methodDelete)
}

// Adds reports whether the tests over HTTP make records beforehand.
func (r Resource) Adds() bool {
	return r.HasOne() || r.Has(methodList) || r.Has(methodCreate) && len(r.Uniques()) > 0
}

// MethodFields are the names of the methods as fields of a struct.
func (r Resource) MethodFields() string { return strings.Join(r.Methods(), ", ") }

// Trial is a rule as an element of the table.
func (r Resource) Trial(t rule) string {
	out := fmt.Sprintf("%q, %s", t.Param, t.Value)
	if r.Has(methodCreate) {
		out += fmt.Sprintf(", %q", t.Create)
	}
	if r.Has(methodUpdate) {
		out += fmt.Sprintf(", %q", t.Update)
	}
	return out
}
