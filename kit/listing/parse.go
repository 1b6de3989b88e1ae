package listing

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Query is the parsed query string of a list.
type Query struct {
	store.Query
	Expand []string                  // references to expand
	count  bool                      // the page has a count
	paged  bool                      // the page parameter was given
	fields []string                  // fields of the view that the client selected; nil: all
	format exchange.Format           // format of the export; "" for a page
	bom    bool                      // the export begins with a byte order mark
	etag   tagFunc                   // returns the ETag of a row; nil: rows have no ETags
	name   string                    // name of the list
	seal   func(values []any) string // returns the cursor of a position
}

// Only restricts the query to the records that f selects. nil selects all records.
func (q Query) Only(f store.Filter) Query {
	if f != nil {
		q.Filter = store.And(q.Filter, f)
	}
	return q
}

// Lister parses the query strings of a list.
type Lister struct {
	spec    Spec
	cursors Cursors
	fields  []string // field names allowed in the fields parameter
	params  []string // names of the allowed parameters, sorted

	conditions []condition
}

// condition is a parameter that compares a field, such as createdAt[gt].
type condition struct {
	Filter
	op   store.Op
	name string
}

// NewLister returns the Lister of a Spec.
func NewLister(spec Spec, cursors Cursors) *Lister {
	l := &Lister{spec: spec, cursors: cursors, fields: store.FieldNames(reflect.TypeOf(spec.View))}
	l.params = []string{"page", "limit", "sort", "fields", "after", "count", paramFormat, paramBOM}
	if spec.ETag != NoETag {
		l.params = append(l.params, paramETags)
	}
	if len(spec.Search) > 0 {
		l.params = append(l.params, "q")
	}
	if len(spec.Expand) > 0 {
		l.params = append(l.params, paramExpand)
		l.fields = slices.DeleteFunc(l.fields, func(name string) bool { return name == paramExpand })
	}
	for _, f := range spec.Filter {
		l.conditions = append(l.conditions, condition{f, store.OpEq, f.Field})
		for _, op := range f.operators() {
			l.conditions = append(l.conditions, condition{f, op, f.Field + "[" + string(op) + "]"})
		}
	}
	for _, c := range l.conditions {
		l.params = append(l.params, c.name)
	}
	slices.Sort(l.params)
	return l
}

// Parse parses a query string. of is the ID of the record or user that the list belongs to, if any: of the parent, or of the caller
// if the list has only the caller's records. A list that shows everyone's records but hides some of them, such as drafts, needs no ID,
// because each page has only what its caller sees. A cursor is valid only for the list that returned the cursor. ValidationFailed: at least one parameter is invalid; the error lists all invalid
// parameters.
func (l *Lister) Parse(values url.Values, of ...store.ID) (Query, error) {
	p := parser{Lister: l, values: values}
	q := Query{paged: p.given("page"), name: l.spec.Name}
	p.checkNames()
	q.count = p.flag("count", true)
	limit := p.number("limit", DefaultLimit, 1, MaxLimit)
	page := p.number("page", 1, 1, 1<<31) // with this maximum, the product below does not overflow
	if (page-1)*limit > MaxSkip {
		p.bad("page", apperr.Max, fmt.Sprintf("Must not skip more than %d rows. Use after=… with the value of next in the previous page instead.", MaxSkip), MaxSkip/limit+1)
	}
	q.Limit, q.Skip = limit, (page-1)*limit
	if p.given(paramFormat) {
		q.format, q.count, q.Limit = p.format(), false, exportRows
	}
	q.bom = p.bom(q.format)
	q.etag = p.etag()
	if q.etag != nil && q.format != "" {
		p.bad(paramETags, apperr.FieldConflict, "Can be true only without format: an export has no ETags.", nil)
	}
	q.Sort = p.sort()
	q.fields = p.selection()
	q.Filter = p.filter()
	if len(p.spec.Expand) > 0 {
		q.Expand = p.expand(p.spec.Expand)
	}
	if q.fields != nil {
		q.Fields = slices.Concat(q.fields, q.Expand)
		for _, order := range q.Sort {
			q.Fields = append(q.Fields, order.Field)
		}
		if q.etag != nil {
			q.Fields = append(q.Fields, "version")
		}
		slices.Sort(q.Fields)
		q.Fields = slices.Compact(q.Fields)
		if q.etag != nil && p.spec.ETag == ViewETag {
			q.Fields = nil // the tag depends on all fields
		}
		if slices.ContainsFunc(p.spec.Files, func(f files.Field) bool { return slices.Contains(q.fields, f.Name) }) {
			q.Fields = nil // the path of a file depends on other fields
		}
		if q.Expand != nil {
			q.fields = append(q.fields, paramExpand)
		}
	}
	scope := p.scope(of)
	q.seal = func(values []any) string { return l.cursors.Seal(scope, values) }
	if after := p.get("after"); after != "" {
		switch position, ok := l.cursors.Open(scope, after, len(q.Sort)); {
		case q.paged:
			p.bad("after", apperr.FieldConflict, "Cannot be given together with page.", nil)
		case !ok:
			p.bad("after", apperr.Format, "Must be the value of next in a page of this list with the same q, sort and filters.", nil)
		default:
			q.After = position
		}
	}
	if len(p.fieldErrs) > 0 {
		return Query{}, apperr.Invalid(p.fieldErrs...)
	}
	return q, nil
}

// parser collects the errors of a query string.
type parser struct {
	*Lister
	values    url.Values
	fieldErrs []apperr.Field
}

func (p *parser) bad(param string, code apperr.FieldCode, message string, expected any) {
	p.fieldErrs = append(p.fieldErrs, apperr.Field{In: "query", Param: param, Code: code, Message: message, Expected: expected})
}

// add adds fieldErr as an error of the parameter, unless fieldErr is nil.
func (p *parser) add(param string, fieldErr *apperr.Field) {
	if fieldErr != nil {
		p.bad(param, fieldErr.Code, fieldErr.Message, fieldErr.Expected)
	}
}

// checkNames checks that all parameters are known, and that each parameter has a valid string and, unless its operator is opIn,
// occurs once.
func (p *parser) checkNames() {
	p.fieldErrs = rest.UnknownQuery(p.values, p.params)
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		switch {
		case !slices.Contains(p.params, name):
		case len(p.values[name]) > 1 && !strings.HasSuffix(name, "["+string(opIn)+"]"):
			p.bad(name, apperr.Type, "Must be given once.", nil)
		default:
			p.add(name, rest.CheckString(strings.Join(p.values[name], ",")))
		}
	}
}

// get returns the value of a parameter without surrounding spaces.
func (p *parser) get(name string) string { return strings.TrimSpace(p.values.Get(name)) }

// given reports whether the parameter has a value. An empty parameter counts as absent, except one that is repeated.
func (p *parser) given(name string) bool { return p.get(name) != "" || len(p.values[name]) > 1 }

// number returns the value of a parameter, or fallback if the parameter is absent or invalid.
func (p *parser) number(name string, fallback, low, high int) int {
	text := p.get(name)
	if text == "" {
		return fallback
	}
	n, fieldErr := rest.Parse[int64](text)
	switch {
	case fieldErr != nil:
		p.add(name, fieldErr)
	case n < int64(low):
		p.bad(name, apperr.Min, fmt.Sprintf("Must be at least %d.", low), low)
	case n > int64(high):
		p.bad(name, apperr.Max, fmt.Sprintf("Must be at most %d.", high), high)
	default:
		return int(n)
	}
	return fallback
}

// flag returns the value of a boolean parameter, or fallback if the parameter is absent.
func (p *parser) flag(name string, fallback bool) bool {
	text := p.get(name)
	if text == "" {
		return fallback
	}
	value, fieldErr := rest.Parse[bool](text)
	p.add(name, fieldErr)
	return value
}

// list returns the non-empty items of a parameter: the values of a repeated parameter, or the parts of one comma-separated value.
func (p *parser) list(name string) []string {
	values := p.values[name]
	if len(values) == 1 {
		values = strings.Split(values[0], ",")
	}
	var items []string
	for _, item := range values {
		item = strings.TrimSpace(item)
		if item != "" {
			items = append(items, item)
		}
	}
	return items
}

func (p *parser) sort() []store.Order {
	var orders []store.Order
	for _, item := range p.list("sort") {
		field, desc := strings.CutPrefix(item, "-")
		switch {
		case !slices.Contains(p.spec.Sort, field):
			p.bad("sort", apperr.OneOf, "Must be a comma-separated list of: "+strings.Join(p.spec.Sort, ", ")+". Write - before a field for descending order.", p.spec.Sort)
			return nil
		case slices.ContainsFunc(orders, func(o store.Order) bool { return o.Field == field }):
			p.bad("sort", apperr.FieldConflict, "Must not have a field twice.", nil)
			return nil
		}
		orders = append(orders, store.Order{Field: field, Desc: desc})
	}
	if orders == nil {
		orders = []store.Order{{Field: defaultSort, Desc: true}}
	}
	return orders
}

// selection returns the id and the view fields selected by the fields parameter. The parameter lists either fields to include or
// fields to exclude; each field to exclude begins with -. selection returns nil if the parameter is absent or invalid.
func (p *parser) selection() []string {
	items := p.list("fields")
	if len(items) == 0 {
		return nil
	}
	_, exclude := strings.CutPrefix(items[0], "-")
	named := make(map[string]bool, len(items))
	for _, item := range items {
		name, minus := strings.CutPrefix(item, "-")
		switch {
		case minus != exclude:
			p.bad("fields", apperr.FieldConflict, "Must be either fields to include, or fields to exclude, each with - before it.", nil)
			return nil
		case !slices.Contains(p.fields, name):
			p.bad("fields", apperr.OneOf, "Must be a comma-separated list of: "+strings.Join(p.fields, ", ")+".", p.fields)
			return nil
		case minus && name == "id":
			p.bad("fields", apperr.FieldConflict, "Cannot exclude id.", nil)
			return nil
		}
		named[name] = true
	}
	var out []string
	for _, name := range p.fields {
		if name == "id" || named[name] != exclude {
			out = append(out, name)
		}
	}
	return out
}

// paramETags is the parameter that adds the ETags of the records.
const paramETags = "etags"

// etag returns the function that returns the ETags of records, or nil unless the etags parameter is true.
func (p *parser) etag() tagFunc {
	if p.spec.ETag == NoETag || !p.flag(paramETags, false) {
		return nil
	}
	return p.spec.ETag.tag
}

// paramExpand is the parameter that lists the references to expand. The field of the view with the expanded records has the
// same name.
const paramExpand = "expand"

// ParseExpand returns the references listed in the expand parameter. ValidationFailed: a reference is not allowed, or the
// parameter occurs more than once.
func ParseExpand(values url.Values, allowed []string) ([]string, error) {
	p := parser{values: values}
	if len(values[paramExpand]) > 1 {
		p.bad(paramExpand, apperr.Type, "Must be given once.", nil)
	}
	names := p.expand(allowed)
	if p.fieldErrs != nil {
		return nil, apperr.Invalid(p.fieldErrs...)
	}
	return names, nil
}

func (p *parser) expand(allowed []string) (names []string) {
	for _, name := range p.list(paramExpand) {
		if !slices.Contains(allowed, name) {
			p.bad(paramExpand, apperr.OneOf, "Must be a comma-separated list of: "+strings.Join(allowed, ", ")+".", allowed)
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// scope returns what a cursor is bound to: the list, the record or user to which the list belongs, and the parameters that
// determine the rows and their order.
func (p *parser) scope(of []store.ID) string {
	scope := url.Values{}
	for name, values := range p.values {
		if p.given(name) && !slices.Contains([]string{"page", "limit", "fields", "after", "count", paramFormat, paramBOM, paramETags, paramExpand, rest.Credential}, name) {
			scope[name] = values
		}
	}
	list := p.spec.Name
	for _, id := range of {
		list += "/" + id.Hex()
	}
	return list + "?" + scope.Encode()
}
