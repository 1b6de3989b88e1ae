package sqlite

import (
	"context"
	"slices"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

const (
	walked    = 2000 // documents that a walk reads
	manyEqual = 5000 // documents with an equal value: from this number on, reading and sorting all of them takes longer than a walk
)

// walks reports whether a list should first walk along the index of its order; see selectWalk. SQLite would find the documents with
// equal values of a field by an index, and would read and sort all of them for one page.
func (c *collection) walks(conn *conn, q store.Query) (bool, error) {
	lookUps := c.sorted(q)
	for _, f := range lookUps {
		n, err := conn.integer(context.Background(), c.countStatement(f, nil, manyEqual))
		if err != nil || n < manyEqual {
			return false, err
		}
	}
	return len(lookUps) > 0, nil
}

// sorted returns the parts of the filter for which an index has the documents, if none of these indexes has them in the order of the
// list, and another index does.
func (c *collection) sorted(q store.Query) (lookUps []store.Filter) {
	order := engine.TotalOrder(q.Sort)
	if q.Filter == nil || q.Limit == 0 || len(order) > 2 {
		return nil
	}
	equal := map[string]store.Filter{}
	if !equalities(q.Filter, equal) {
		return nil
	}
	inOrder := order[0].Field == "id"
	for _, index := range c.spec.Indexes {
		inOrder = inOrder || len(index.Fields) == 1 && index.Fields[0] == order[0].Field
		f, found := equal[index.Fields[0]]
		if !found {
			continue
		}
		next := "id" // the field that the index has in order, after those with equal values
		if i := slices.IndexFunc(index.Fields, func(field string) bool { return equal[field] == nil }); i > 0 {
			next = index.Fields[i]
		}
		if index.Unique || next == order[0].Field {
			return nil
		}
		lookUps = append(lookUps, f)
	}
	if !inOrder {
		return nil
	}
	return lookUps
}

// equalities adds the filters for equal values of a field that every document that f selects satisfies. It returns false if f has a
// search.
func equalities(f store.Filter, equal map[string]store.Filter) bool {
	switch f := f.(type) {
	case store.TextSearch:
		return false
	case store.Comparison:
		if f.Op == store.OpEq && !store.IsNil(f.Value) {
			equal[f.Field] = f
		}
	case store.Membership:
		if !f.List {
			equal[f.Field] = f
		}
	case store.Connective:
		if f.Op != store.OpAnd {
			equal = map[string]store.Filter{}
		}
		for _, part := range f.Filters {
			if !equalities(part, equal) {
				return false
			}
		}
	}
	return true
}

// selectWalk builds the statement that reads the first rows of a part along the index of its order. It stops after some documents,
// so that the rows of the result are only the first rows of the part.
func (c *collection) selectWalk(q store.Query, p part, limit int) *builder {
	b := c.build("SELECT ").docColumn(q.Fields).write(" FROM (SELECT id,doc FROM ", c.table, " WHERE ").where(p.position)
	b.orderBy(p.order).limit(walked, 0)
	return b.write(") WHERE ").where(q.Filter).limit(limit, q.Skip)
}
