package mongo

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store"
)

// facts are conditions that each document of a filter meets.
type facts struct {
	equal  map[string]bool // paths with one given value; false if it is absent
	ranges []string        // paths with a range
	more   bool            // there are other conditions
}

func factsOf(f store.Filter) facts {
	out := facts{equal: make(map[string]bool)}
	out.add(f)
	return out
}

func (f *facts) add(filter store.Filter) {
	switch c := filter.(type) {
	case nil:
	case store.Connective:
		if c.Op == store.OpOr {
			f.more = true
			return
		}
		for _, part := range c.Filters {
			f.add(part)
		}
	case store.Comparison:
		switch absent := store.IsNil(c.Value); {
		case c.Op == store.OpNe, c.Field == "id" && absent:
			f.more = true
		case c.Op == store.OpEq:
			f.equal[path(c.Field)] = !absent
		default:
			f.ranges = append(f.ranges, path(c.Field))
		}
	default:
		f.more = true
	}
}

// oneID reports whether the facts select at most one document by its id.
func (f *facts) oneID() bool { return f.equal[idKey] }

// hint returns the name of the index that is the best plan for the facts and the sort: a unique one whose fields are
// all given, or one whose keys are the given fields followed by those of the sort. The result is a contiguous range of
// such an index, in order, because a range on the first field of the sort is a bound as well. If no index is like that,
// hint returns "" and the server chooses; also for an id, which servers read faster without a hint.
func (s *schema) hint(f facts, order []store.Order) string {
	if f.oneID() {
		return ""
	}
	for _, idx := range s.indexes {
		if idx.unique && !slices.ContainsFunc(idx.keys, func(k bson.E) bool { return !f.equal[k.Key] }) {
			return idx.name
		}
	}
	keys := slices.DeleteFunc(sortKeys(order), func(k key) bool {
		_, given := f.equal[k.path]
		return given
	})
	if f.more ||
		slices.ContainsFunc(keys, func(k key) bool { return k.desc != keys[0].desc }) ||
		slices.ContainsFunc(f.ranges, func(path string) bool { return path != keys[0].path }) {
		return ""
	}
	if len(f.equal) == 0 && len(keys) == 1 {
		return idIndex
	}
	for _, idx := range s.indexes {
		if idx.serves(f.equal, keys) {
			return idx.name
		}
	}
	return ""
}

// serves reports whether the index begins with the given paths, in any order, and ends with the keys of the sort.
func (idx index) serves(given map[string]bool, sort []key) bool {
	if idx.unique || len(idx.keys) != len(given)+len(sort) {
		return false
	}
	for i, k := range idx.keys {
		if i >= len(given) {
			if k.Key != sort[i-len(given)].path {
				return false
			}
		} else if _, ok := given[k.Key]; !ok {
			return false
		}
	}
	return true
}
