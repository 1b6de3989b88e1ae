package testkit

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.com/ginseng/kit/store"
)

// permutations are the orders in which three records get the samples of a field. No order is sorted. Consecutive fields use
// different orders.
var permutations = [][3]int{{1, 0, 2}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}}

// listed has the three records of checkList, oldest first.
type listed struct {
	*suite
	paths []string
	views []map[string]any
}

// checkList checks each order, filter and search, both in one page and page by page.
func checkList(s *suite) {
	l := listed{suite: s.start(false)}
	if s.Insert != nil {
		l.Fields = slices.Concat(s.Fields, s.readOnly)
	}
	for record := range 3 {
		body := map[string]any{}
		for i, f := range l.Fields {
			if (f.Required || f.Search || f.Sort || f.Filter != "") && (f.Refers == nil || !f.Refers.Self) {
				body[f.Name] = f.Samples[permutations[i%len(permutations)][record]]
			}
		}
		l.Clock.Advance(time.Second)
		l.paths = append(l.paths, l.add(l.prepared(body)))
	}
	l.views = make([]map[string]any, 3)
	rows, numbers, _ := l.list("")
	l.rowsOf(s.callerOf("list"), rows, l.paths...)
	if numbers != "2 1 0" {
		s.t.Fatalf("the list is %s, want the newest first", numbers)
	}
	for i, row := range rows {
		l.views[2-i] = row
	}
	for part, queries := range map[string]map[string]string{"order": l.orders(), "filters": l.filters(), "search": l.searches()} {
		l.part(part, func(s *suite) {
			l := l
			l.suite = s
			for query, want := range queries {
				l.checkQuery(query, want)
			}
		})
	}
	name := slices.Concat(s.Fields, s.readOnly, s.fileFields)[0].Name
	for query, want := range map[string]bool{"fields=" + name: true, "fields=-" + name: false} {
		rows, _, _ := l.list(query)
		_, first := rows[0][name]
		if _, other := rows[0]["createdAt"]; first != want || other == want {
			s.t.Errorf("%s: %v", query, rows[0])
		}
	}
	for query, code := range map[string]string{"unknown=1": "unknown", "sort=unknown": "one_of"} {
		if body := l.expect(400, Request{Method: "GET", Path: s.Path + "?" + query, As: l.as("list")}).Body; !strings.Contains(string(body), `"code":"`+code+`"`) {
			s.t.Errorf("%s: %s", query, body)
		}
	}
}

// checkQuery checks the numbers of the rows that a query lists, in one page and page by page, and how many rows it exports.
func (l listed) checkQuery(query, want string) {
	l.t.Helper()
	if _, got, _ := l.list(query); got != want {
		l.t.Errorf("%s: %q, want %q", query, got, want)
	}
	if got := l.paged(query); got != want {
		l.t.Errorf("%s, page by page: %q, want %q", query, got, want)
	}
	if got, count := l.exported(l.as("list"), query), len(strings.Fields(want)); got != count {
		l.t.Errorf("%s: %d rows are exported, want %d", query, got, count)
	}
}

// list returns the rows of a query, their numbers (indexes in paths, separated by spaces), and the cursor of the next page.
func (l listed) list(query string) (rows []map[string]any, numbers, next string) {
	l.t.Helper()
	page := l.page(l.as("list"), query)
	for _, row := range page.Rows {
		if id, ok := row["id"].(string); ok {
			numbers += fmt.Sprint(" ", slices.Index(l.paths, l.Path+"/"+id))
		}
	}
	return page.Rows, strings.TrimSpace(numbers), page.Next
}

// checkETags checks that the etag of a row is valid in If-None-Match and If-Match until the record changes.
func checkETags(s *suite) {
	s = s.start(true)
	path := s.add(s.valid())
	row := s.rowsOf(s.callerOf("list"), s.page(s.as("list"), "etags=true&fields=id").Rows, path)[0]
	tag := textOf(row["etag"])
	header := http.Header{"If-Match": {tag}}
	if s.has("show") {
		s.expect(304, Request{Method: "GET", Path: path, As: s.as("show"), Header: http.Header{"If-None-Match": {tag}}})
	}
	if s.has("update") {
		update := Request{Method: "PATCH", Path: path, As: s.as("update"), JSON: s.preparedUpdate(s.samples(1)), Header: header}
		s.expect(200, update)
		s.expect(412, update)
	}
	if s.has("delete") {
		status := 204
		if s.has("update") {
			status = 412
		}
		s.expect(status, Request{Method: "DELETE", Path: path, As: s.as("delete"), Header: header})
	}
}

// exported returns the number of rows that a caller exports.
func (s *suite) exported(token, query string) int {
	s.t.Helper()
	return strings.Count(string(s.expect(200, Request{Method: "GET", Path: s.Path + "?format=ndjson&" + query, As: token}).Body), "\n")
}

// paged returns the same numbers as list, but reads one row per page.
func (l listed) paged(query string) string {
	l.t.Helper()
	var numbers []string
	for next := "&limit=1"; next != "" && len(numbers) <= len(l.paths); {
		_, number, cursor := l.list(query + next)
		numbers = append(numbers, number)
		if next = ""; cursor != "" {
			next = "&limit=1&after=" + cursor
		}
	}
	return strings.Join(numbers, " ")
}

// fields returns the fields that the records have values of.
func (l listed) fields() []Field {
	return slices.DeleteFunc(slices.Clone(l.Fields), func(f Field) bool { return f.Refers != nil && f.Refers.Self })
}

// orders returns a query for each order, with the numbers of the records that the query must list. filters returns queries for each
// operator of each filter, and searches for each searched field.
func (l listed) orders() map[string]string {
	out := map[string]string{
		"": "2 1 0", "sort=createdAt": "0 1 2", "sort=-createdAt": "2 1 0", "sort=updatedAt": "0 1 2", "sort=-updatedAt": "2 1 0",
	}
	for _, f := range l.fields() {
		if f.Sort {
			records := []int{0, 1, 2}
			slices.SortStableFunc(records, func(a, b int) int { return f.compare(l.views[a][f.Name], l.views[b][f.Name]) })
			out["sort="+f.Name] = numbersOf(records)
			slices.Reverse(records)
			out["sort=-"+f.Name] = numbersOf(records)
		}
	}
	return out
}

func (l listed) filters() map[string]string {
	out := map[string]string{"createdAt[gte]=" + store.At(l.Clock.Now()).String(): "2"}
	if l.Owner {
		owner := l.account("owner").ID
		out["userId="+owner], out["userId[ne]="+owner] = "2 1 0", ""
	}
	for _, f := range l.fields() {
		operand := l.middle(f)
		for operator := range strings.FieldsSeq(f.Filter) {
			query := strings.Replace(f.Name+"["+operator+"]=", "[eq]", "", 1) + url.QueryEscape(textOf(operand))
			out[query] = l.only(func(view map[string]any) bool { return f.satisfies(view[f.Name], operator, operand) })
		}
	}
	return out
}

func (l listed) searches() map[string]string {
	out := map[string]string{}
	for _, f := range l.fields() {
		if words := searchWords(textOf(l.middle(f))); f.Search && len(words) > 0 {
			out["q="+strings.ToUpper(words[0])] = l.only(func(view map[string]any) bool { return l.hasWord(view, words[0]) })
		}
	}
	return out
}

func numbersOf(records []int) string { return strings.Trim(fmt.Sprint(records), "[]") }

// only returns the numbers of the records that match, newest first.
func (l listed) only(matches func(view map[string]any) bool) string {
	return numbersOf(slices.DeleteFunc([]int{2, 1, 0}, func(record int) bool { return !matches(l.views[record]) }))
}

// middle sorts the three values of a field and returns the second value. If that value is a list, middle returns its first item.
func (l listed) middle(f Field) any {
	values := []any{l.views[0][f.Name], l.views[1][f.Name], l.views[2][f.Name]}
	slices.SortStableFunc(values, f.compare)
	if items, isList := values[1].([]any); isList && len(items) > 0 {
		return items[0]
	}
	return values[1]
}

// compare compares two values of a field as the store sorts them. It returns -1, 0 or 1.
func (f Field) compare(a, b any) int {
	if items, isList := a.([]any); isList {
		other, _ := b.([]any)
		return slices.CompareFunc(items, other, f.compare)
	}
	if x, y, isNumber := numbers(a, b, f.Decimal); isNumber {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(textOf(a), textOf(b))
}

// numbers returns a and b as numbers. If decimal is true, a and b are strings. ok is false if a or b is not a number.
func numbers(a, b any, decimal bool) (x, y float64, ok bool) {
	if decimal {
		x, err := strconv.ParseFloat(textOf(a), 64)
		y, other := strconv.ParseFloat(textOf(b), 64)
		return x, y, err == nil && other == nil
	}
	x, okX := a.(float64)
	y, okY := b.(float64)
	return x, y, okX && okY
}

// satisfies reports whether a value satisfies a filter.
func (f Field) satisfies(value any, operator string, operand any) bool {
	if items, isList := value.([]any); isList {
		return slices.ContainsFunc(items, func(item any) bool { return f.compare(item, operand) == 0 })
	}
	want := map[string][]int{"eq": {0}, "in": {0}, "ne": {-1, 1}, "lt": {-1}, "lte": {-1, 0}, "gt": {1}, "gte": {0, 1}}[operator]
	return slices.Contains(want, f.compare(value, operand))
}

// hasWord reports whether a searched field of a record has a word that begins with prefix.
func (l listed) hasWord(view map[string]any, prefix string) bool {
	return slices.ContainsFunc(l.Fields, func(f Field) bool {
		return f.Search && slices.ContainsFunc(searchWords(textOf(view[f.Name])), func(word string) bool { return strings.HasPrefix(word, prefix) })
	})
}

// searchWords returns the searchable words of a string, in lower case. It omits words that every sample of a URL or email
// address contains.
func searchWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return slices.DeleteFunc(words, func(w string) bool { return w == "https" || w == "example" || w == "com" })
}

// checkChanges creates, updates and deletes a record, and reads each change from the feed. If no route creates records, it inserts one.
func checkChanges(s *suite) {
	s = s.start(true)
	type changes struct {
		Rows []struct {
			Event string
			Data  struct{ ID string }
		}
		Next string
	}
	read := func(query string) (page changes) {
		s.t.Helper()
		s.expect(200, Request{Method: "GET", Path: s.Path + "/changes" + query, As: s.asCreator("list")}).decode(200, &page)
		return page
	}
	position := read("").Next
	path := ""
	switch {
	case s.has("create"):
		path = s.create(s.valid()).Header.Get("Location")
	case s.Insert != nil:
		path = s.add(s.valid())
	default:
		return
	}
	last := int64(0) // number of the last change
	check := func(event string) {
		s.t.Helper()
		id, _ := store.ParseID(strings.TrimPrefix(path, s.Path+"/"))
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			entries, err := s.DB.Log().Newest(s.t.Context(), store.LogFilter{RecordID: id, Limit: 1})
			s.must(err)
			if len(entries) == 1 && entries[0].Number > last {
				last = entries[0].Number
				break // on MongoDB, the log has a change only a moment after the write
			}
		}
		page := read("?after=" + url.QueryEscape(position))
		if len(page.Rows) != 1 || page.Rows[0].Event != event || s.Path+"/"+page.Rows[0].Data.ID != path {
			s.t.Fatalf("the changes are %+v, want %s of %s%s", page.Rows, event, path, s.advice(s.storedLine()))
		}
		position = page.Next
	}
	check("created")
	if s.has("update") {
		body := map[string]any{}
		if len(s.Fields) > 0 {
			body[s.Fields[0].Name] = s.Fields[0].Samples[1]
		}
		s.update(path, s.preparedUpdate(body))
		check("updated")
	}
	if s.has("delete") {
		s.expect(204, Request{Method: "DELETE", Path: path, As: s.as("delete")})
		check("deleted")
	}
}
