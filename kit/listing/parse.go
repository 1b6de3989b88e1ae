package listing

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Query is a parsed query string.
type Query struct {
	store.Query
	Expand []string // references to expand
	count  bool
	paged  bool     // the parameter page was given
	fields []string // selected; nil is all
	seal   func(values []any) string
}

// Only adds a filter to the query, such as the records that the caller may see; nil selects all.
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
	fields  []string // of the view
	params  []string // allowed names, sorted

	conditions []condition
}

// condition is a parameter that compares a field.
type condition struct {
	Filter
	op   store.Op
	name string
}

// NewLister returns the Lister of a Spec.
func NewLister(spec Spec, cursors Cursors) *Lister {
	l := &Lister{spec: spec, cursors: cursors, fields: store.FieldNames(reflect.TypeOf(spec.View))}
	l.params = []string{"page", "limit", "sort", "fields", "after", "count"}
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
	sort.Strings(l.params)
	return l
}

// Parse parses a query string. The error is ValidationFailed with every invalid parameter.
func (l *Lister) Parse(values url.Values) (Query, error) {
	p := parser{Lister: l, values: values}
	q := Query{count: true, paged: p.given("page")}
	p.unknown()
	limit := p.number("limit", DefaultLimit, 1, MaxLimit)
	page := p.number("page", 1, 1, 1<<31)
	if (page-1)*limit > MaxSkip {
		p.bad("page", apperr.Max, fmt.Sprintf("Skips more than %d rows. Use after=… with the next of the previous page instead.", MaxSkip), MaxSkip/limit+1)
	}
	q.Limit, q.Skip = limit, (page-1)*limit
	if text := p.text("count"); text != "" {
		var fault *apperr.Field
		q.count, fault = rest.Parse[bool](text)
		p.add("count", fault)
	}
	q.Sort = p.sort()
	q.fields = p.selected()
	q.Filter = p.filter()
	if len(p.spec.Expand) > 0 {
		q.Expand = p.expand(p.spec.Expand)
	}
	if q.fields != nil {
		q.Fields = slices.Concat(q.fields, q.Expand)
		for _, order := range q.Sort {
			q.Fields = append(q.Fields, order.Field)
		}
		slices.Sort(q.Fields)
		q.Fields = slices.Compact(q.Fields)
		if q.Expand != nil {
			q.fields = append(q.fields, paramExpand)
		}
	}
	scope := p.scope()
	q.seal = func(values []any) string { return l.cursors.seal(scope, values) }
	if after := p.text("after"); after != "" {
		switch position, ok := l.cursors.open(scope, after, len(q.Sort)); {
		case q.paged:
			p.bad("after", apperr.FieldConflict, "Cannot be given together with page.", nil)
		case !ok:
			p.bad("after", apperr.Format, "Must be the next of a page with the same q, sort and filters.", nil)
		default:
			q.After = position
		}
	}
	if len(p.faults) > 0 {
		return Query{}, apperr.Invalid(p.faults...)
	}
	return q, nil
}

type parser struct {
	*Lister
	values url.Values
	faults []apperr.Field
}

func (p *parser) bad(param string, code apperr.FieldCode, message string, expected any) {
	p.faults = append(p.faults, apperr.Field{In: "query", Param: param, Code: code, Message: message, Expected: expected})
}

// add adds a fault; nil is none.
func (p *parser) add(param string, fault *apperr.Field) {
	if fault != nil {
		p.bad(param, fault.Code, fault.Message, fault.Expected)
	}
}

// unknown checks the names, and that values are given once and are valid strings.
func (p *parser) unknown() {
	p.faults = rest.UnknownQuery(p.values, p.params)
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		switch {
		case !slices.Contains(p.params, name):
		case len(p.values[name]) > 1:
			p.bad(name, apperr.Type, "Must be given once.", nil)
		default:
			p.add(name, rest.CheckString(p.values.Get(name)))
		}
	}
}

func (p *parser) text(name string) string { return strings.TrimSpace(p.values.Get(name)) }

// given reports whether the parameter has a value. An empty one means the same as none.
func (p *parser) given(name string) bool { return p.text(name) != "" }

func (p *parser) number(name string, fallback, low, high int) int {
	text := p.text(name)
	if text == "" {
		return fallback
	}
	n, fault := rest.Parse[int64](text)
	switch {
	case fault != nil:
		p.add(name, fault)
	case n < int64(low):
		p.bad(name, apperr.Min, fmt.Sprintf("Must be at least %d.", low), low)
	case n > int64(high):
		p.bad(name, apperr.Max, fmt.Sprintf("Must be at most %d.", high), high)
	default:
		return int(n)
	}
	return fallback
}

func (p *parser) list(name string) []string {
	var items []string
	for item := range strings.SplitSeq(p.values.Get(name), ",") {
		if item = strings.TrimSpace(item); item != "" {
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
			p.bad("sort", apperr.OneOf, "Must be a list of "+strings.Join(p.spec.Sort, ", ")+", each with - before it for descending order.", p.spec.Sort)
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

// selected parses fields: all included, or all excluded; nil if absent. The id is always included.
func (p *parser) selected() []string {
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
			p.bad("fields", apperr.OneOf, "Must be a list of "+strings.Join(p.fields, ", ")+".", p.fields)
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

// paramExpand is the parameter with the references to expand, and the field of the view with the expanded records.
const paramExpand = "expand"

// ParseExpand returns the references that the parameter expand names. ValidationFailed: one of them is not allowed.
func ParseExpand(values url.Values, allowed []string) ([]string, error) {
	p := parser{values: values}
	if len(values[paramExpand]) > 1 {
		p.bad(paramExpand, apperr.Type, "Must be given once.", nil)
	}
	names := p.expand(allowed)
	if p.faults != nil {
		return nil, apperr.Invalid(p.faults...)
	}
	return names, nil
}

func (p *parser) expand(allowed []string) (names []string) {
	for _, name := range p.list(paramExpand) {
		if !slices.Contains(allowed, name) {
			p.bad(paramExpand, apperr.OneOf, "Must be a list of "+strings.Join(allowed, ", ")+".", allowed)
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (p *parser) filter() store.Filter {
	var filters []store.Filter
	if q := p.text("q"); q != "" {
		if utf8.RuneCountInString(q) > MaxQuery {
			p.bad("q", apperr.MaxLength, fmt.Sprintf("Must have at most %d characters.", MaxQuery), MaxQuery)
		} else if len(store.QueryWords(q)) > MaxWords {
			p.bad("q", apperr.MaxItems, fmt.Sprintf("Must have at most %d words. Three characters of a script without spaces count as one.", MaxWords), MaxWords)
		}
		filters = append(filters, store.Search(q))
	}
	for _, c := range p.conditions {
		if p.given(c.name) || c.op == opIn && p.values.Has(c.name) {
			filters = append(filters, p.condition(c))
		}
	}
	if len(filters) == 0 {
		return nil // nil makes counting fast
	}
	return store.And(filters...)
}

// condition returns the filter of a parameter, nil if its value is invalid.
func (p *parser) condition(c condition) store.Filter {
	if c.op == opIn {
		var values []any
		items := p.list(c.name)
		if len(items) == 0 {
			p.bad(c.name, apperr.Required, "Must have at least one value.", nil)
		}
		for _, item := range items {
			v, ok := p.value(c, item)
			if !ok {
				return nil
			}
			values = append(values, v)
		}
		return store.Membership{Field: c.Field, Values: values, List: c.List}
	}
	v, ok := p.value(c, p.values.Get(c.name))
	if !ok {
		return nil
	}
	if c.List {
		return store.Contains(c.Field, v)
	}
	if c.Absent && v == (c.op == store.OpEq) {
		return store.Eq(c.Field, true)
	} else if c.Absent {
		return store.Ne(c.Field, true)
	}
	return store.Comparison{Op: c.op, Field: c.Field, Value: v}
}

// opIn is the operator of store.Membership.
const opIn store.Op = "in"

// operators returns the names in brackets.
func (f Filter) operators() []store.Op {
	switch {
	case f.List:
		return []store.Op{opIn}
	case f.Type == Bool:
		return []store.Op{store.OpNe}
	case f.Type == ID, f.Type == Enum, f.Type == UUID:
		return []store.Op{store.OpNe, opIn}
	}
	return []store.Op{store.OpGt, store.OpGte, store.OpLt, store.OpLte, store.OpNe, opIn}
}

func (p *parser) value(c condition, text string) (value any, ok bool) {
	if c.Type == Text {
		return text, true
	}
	text = strings.TrimSpace(text)
	if c.Type == Enum {
		if ok = slices.Contains(c.Values, text); !ok {
			p.bad(c.name, apperr.OneOf, "Must be one of "+strings.Join(c.Values, ", ")+".", c.Values)
		}
		return text, ok
	}
	value, fault := parsers[c.Type](text)
	p.add(c.name, fault)
	return value, fault == nil
}

// parsers parse the values of filters. Text and Enum need none.
var parsers = map[Type]func(string) (any, *apperr.Field){
	Int: scalar[int64], Float: scalar[float64], Bool: scalar[bool], Time: scalar[store.Time], ID: scalar[store.ID],
	Date: scalar[store.Date], UUID: scalar[store.UUID], Decimal: scalar[store.Decimal],
}

func scalar[T any](text string) (any, *apperr.Field) { return rest.Parse[T](text) }

// scope returns what a cursor is bound to: the list, and the parameters that determine the rows and their order.
func (p *parser) scope() string {
	scope := url.Values{}
	for name, values := range p.values {
		if p.given(name) && !slices.Contains([]string{"page", "limit", "fields", "after", "count", paramExpand, rest.Credential}, name) {
			scope[name] = values
		}
	}
	return p.spec.Name + "?" + scope.Encode()
}
