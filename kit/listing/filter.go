package listing

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/textsearch"
)

func (p *parser) filter() store.Filter {
	var filters []store.Filter
	if q := p.get("q"); q != "" {
		if utf8.RuneCountInString(q) > MaxQuery {
			p.bad("q", apperr.MaxLength, fmt.Sprintf("Must have at most %d characters.", MaxQuery), MaxQuery)
		} else if len(textsearch.QueryWords(q)) > MaxWords {
			p.bad("q", apperr.MaxItems, fmt.Sprintf("Must have at most %d words. In scripts without spaces, such as Chinese, about three characters count as one word.", MaxWords), MaxWords)
		}
		filters = append(filters, store.Search(q))
	}
	for _, c := range p.conditions {
		if p.given(c.name) || c.op == opIn && p.values.Has(c.name) {
			filters = append(filters, p.condition(c))
		}
	}
	if len(filters) == 0 {
		return nil // counting without a filter is fast
	}
	return store.And(filters...)
}

// condition returns the filter of a parameter, or nil if the value is invalid.
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
	if c.Absent { // compare only with true, because an absent field counts as false
		selectsTrue := (v == true) == (c.op == store.OpEq)
		if selectsTrue {
			return store.Eq(c.Field, true)
		}
		return store.Ne(c.Field, true)
	}
	return store.Comparison{Op: c.op, Field: c.Field, Value: v}
}

// opIn is the operator of store.Membership.
const opIn store.Op = "in"

// operators returns the operators that a parameter for the field can have in brackets.
func (f Filter) operators() []store.Op {
	switch {
	case f.List:
		return []store.Op{opIn}
	case f.Type == Bool:
		return []store.Op{store.OpNe}
	case f.Type == ID, f.Type == Enum, f.Type == UUID, f.Type == Email:
		return []store.Op{store.OpNe, opIn}
	}
	return []store.Op{store.OpGt, store.OpGte, store.OpLt, store.OpLte, store.OpNe, opIn}
}

// value parses the value of a filter. ok is false if the value is invalid.
func (p *parser) value(c condition, text string) (value any, ok bool) {
	if c.Type == Text {
		return text, true
	}
	text = strings.TrimSpace(text)
	if c.Type == Enum {
		ok = slices.Contains(c.Values, text)
		if !ok {
			p.bad(c.name, apperr.OneOf, "Must be one of "+strings.Join(c.Values, ", ")+".", c.Values)
		}
		return text, ok
	}
	value, fieldErr := parsers[c.Type](text)
	p.add(c.name, fieldErr)
	return value, fieldErr == nil
}

// parsers has the function that parses the values of each filter type. Text and Enum need no parser.
var parsers = map[Type]func(string) (any, *apperr.Field){
	Int: scalar[int64], Float: scalar[float64], Bool: scalar[bool], Time: scalar[store.Time], ID: scalar[store.ID],
	Date: scalar[store.Date], UUID: scalar[store.UUID], Decimal: scalar[store.Decimal], Email: email,
}

// email returns the normal form of an email address.
func email(text string) (any, *apperr.Field) {
	normal, ok := address.Normalize(text)
	if !ok || !rest.Valid(text, "maxbytes=254,email,excludes=:,plain") {
		return nil, &apperr.Field{Code: apperr.Format, Message: "Must be an email address."}
	}
	return normal, nil
}

func scalar[T any](text string) (any, *apperr.Field) { return rest.Parse[T](text) }
