package sqlite

import (
	"slices"
	"strconv"

	"example.com/ginseng/kit/store"
)

// maxRanges is the maximum number of ranges of an index that a statement merges. SQLite allows 500 SELECTs in a statement.
const maxRanges = 100

// ranges returns one filter for each value of a Membership, if an index has the documents of each value in the order of the part.
// Together the filters select what the filter of the part selects, and no document twice. SQLite merges such ranges, and stops at the
// limit; for IN, it would read and sort all documents. If there is no such Membership, ranges returns nil.
func (c *collection) ranges(p part) []store.Filter {
	in, found := c.membershipIn(p.filter, p.order)
	if !found {
		return nil
	}
	var out []store.Filter
	seen := map[any]bool{}
	for _, v := range in.Values {
		value, err := scalar(v)
		if err != nil || value == nil {
			return nil
		}
		if !seen[value] {
			seen[value] = true
			out = append(out, replace(p.filter, in, store.Eq(in.Field, v)))
		}
	}
	if len(out) < 2 || len(out) > maxRanges {
		return nil
	}
	return out
}

// membershipIn returns a Membership that every document that f selects satisfies, and whose field is the first of an index with the
// fields of the order.
func (c *collection) membershipIn(f store.Filter, order []store.Order) (in store.Membership, found bool) {
	switch f := f.(type) {
	case store.Membership:
		return f, !f.List && slices.ContainsFunc(c.spec.Indexes, func(i store.Index) bool {
			return i.Fields[0] == f.Field && !slices.ContainsFunc(order, func(o store.Order) bool {
				return o.Field != "id" && !slices.Contains(i.Fields[1:], o.Field)
			})
		})
	case store.Connective:
		for _, part := range f.Filters {
			if in, found = c.membershipIn(part, order); found && f.Op == store.OpAnd {
				return in, true
			}
		}
	}
	return in, false
}

// replace returns f with the filter by in place of the Membership in.
func replace(f store.Filter, in store.Membership, by store.Filter) store.Filter {
	switch f := f.(type) {
	case store.Membership:
		if f.Field == in.Field && !f.List && slices.Equal(f.Values, in.Values) {
			return by
		}
	case store.Connective:
		parts := slices.Clone(f.Filters)
		for i := range parts {
			parts[i] = replace(parts[i], in, by)
		}
		return store.Connective{Op: f.Op, Filters: parts}
	}
	return f
}

// selectRanges builds the statement that merges ranges in the order of the part. Where the filters allow it, the merge reads only the
// index, and documents only for the rows of the result.
func (c *collection) selectRanges(q store.Query, p part, ranges []store.Filter, limit int) *builder {
	b, separator := c.build("SELECT ").docColumn(q.Fields).write(" FROM (SELECT n AS m"), ""
	for i := range p.order {
		b.write(",k", strconv.Itoa(i))
	}
	b.write(" FROM (")
	for _, f := range ranges {
		b.write(separator, "SELECT n")
		separator = " UNION ALL "
		for i, o := range p.order {
			b.write(",").field(o.Field).write(" AS k", strconv.Itoa(i))
		}
		b.write(" FROM ", c.table, " WHERE ").where(f)
	}
	b.orderByColumns(p.order).limit(limit, q.Skip)
	return b.write(")) CROSS JOIN ", c.table, " ON n=m").orderByColumns(p.order)
}
