package mongo

import (
	"fmt"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store"
)

const (
	idKey    = "_id"
	wordsKey = "_words"
)

// schema is what the translation of a query or a change needs of its collection.
type schema struct {
	search  []string // as in Spec.Search
	indexes []index
}

// path returns MongoDB's name of a field. Neither it nor a segment of it begins with a "$".
func path(field string) string {
	if field == "id" {
		return idKey
	}
	segments := strings.Split(field, ".")
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return strings.Join(segments, ".")
}

// wordsPath returns the path of the words of a searched field, in which a dotted field is one key.
func wordsPath(field string) string { return wordsKey + "." + escape(field) }

// nothing returns a filter that selects no document, in a form for which no server reads one.
func nothing() bson.D { return where(idKey, "$in", bson.A{}) }

func where(path, operator string, v any) bson.D {
	return bson.D{{Key: path, Value: bson.D{{Key: operator, Value: v}}}}
}

// all joins filters with And.
func all(filters ...bson.D) bson.D {
	parts := make([]bson.D, 0, len(filters))
	for _, f := range filters {
		if len(f) > 0 {
			parts = append(parts, f)
		}
	}
	switch len(parts) {
	case 0:
		return bson.D{}
	case 1:
		return parts[0]
	}
	return bson.D{{Key: "$and", Value: parts}}
}

// anyOf joins filters with Or.
func anyOf(filters ...bson.D) bson.D {
	switch len(filters) {
	case 0:
		return nothing()
	case 1:
		return filters[0]
	}
	return bson.D{{Key: "$or", Value: filters}}
}

// filter translates f. The result is empty if it selects all documents.
func (s *schema) filter(f store.Filter) (bson.D, error) {
	switch f := f.(type) {
	case nil:
		return bson.D{}, nil
	case store.Comparison:
		return comparison(f)
	case store.Membership:
		values := make(bson.A, len(f.Values))
		for i, v := range f.Values {
			var err error
			if values[i], err = store.Scalar(v); err != nil {
				return nil, err
			}
		}
		return where(path(f.Field), "$in", values), nil
	case store.Connective:
		parts := make([]bson.D, len(f.Filters))
		for i, part := range f.Filters {
			var err error
			if parts[i], err = s.filter(part); err != nil {
				return nil, err
			}
		}
		if f.Op == store.OpOr {
			return anyOf(parts...), nil
		}
		return all(parts...), nil
	case store.TextSearch:
		return s.textSearch(f.Text), nil
	}
	return nil, fmt.Errorf("mongo: unknown filter %T", f)
}

func comparison(c store.Comparison) (bson.D, error) {
	v, err := store.Scalar(c.Value)
	if err != nil {
		return nil, err
	}
	switch c.Op {
	case store.OpEq:
		if id, ok := v.(store.ID); ok && c.Field == "id" {
			return bson.D{{Key: idKey, Value: id}}, nil // the form for which every server uses the key
		}
		return where(path(c.Field), "$eq", v), nil
	case store.OpNe:
		return where(path(c.Field), "$ne", v), nil
	case store.OpGt, store.OpGte, store.OpLt, store.OpLte:
		if v == nil { // for MongoDB, absent equals absent here
			return nothing(), nil
		}
		return where(path(c.Field), "$"+string(c.Op), v), nil
	}
	return nil, fmt.Errorf("mongo: unknown comparison %q", c.Op)
}

// textSearch selects each word by an anchored regular expression, which an index finds as a range.
func (s *schema) textSearch(query string) bson.D {
	words := store.QueryWords(query)
	if len(words) == 0 {
		return nothing()
	}
	perWord := make([]bson.D, len(words))
	for i, word := range words {
		perField := make([]bson.D, len(s.search))
		for j, field := range s.search {
			perField[j] = where(wordsPath(field), "$regex", "^"+regexp.QuoteMeta(word))
		}
		perWord[i] = anyOf(perField...)
	}
	return all(perWord...)
}

// key is one key of a sort.
type key struct {
	path string
	desc bool
}

// sortKeys returns the keys of a sort, completed by the id.
func sortKeys(order []store.Order) (keys []key) {
	for _, o := range store.TotalOrder(order) {
		keys = append(keys, key{path(o.Field), o.Desc})
	}
	return keys
}

func sortDocument(keys []key) bson.D {
	doc := make(bson.D, len(keys))
	for i, k := range keys {
		doc[i] = bson.E{Key: k.path, Value: 1}
		if k.desc {
			doc[i].Value = -1
		}
	}
	return doc
}

// after selects the documents behind a row in the order of the keys: those that are beyond it in one key and equal in
// the previous ones. The bound on the first key follows from that, but lets an index start there.
func after(keys []key, row []any) (bson.D, error) {
	if len(row) < len(keys) {
		return nil, fmt.Errorf("mongo: After has %d values for a sort of %d keys", len(row), len(keys))
	}
	var bound bson.D
	var steps, ties []bson.D
	for i, k := range keys {
		v, err := store.Scalar(row[i])
		if err != nil {
			return nil, err
		}
		if i == 0 && len(keys) > 1 {
			bound = k.from(v)
		}
		if beyond := k.beyond(v); beyond != nil {
			steps = append(steps, all(append(ties[:i:i], beyond)...))
		}
		ties = append(ties, where(k.path, "$eq", v))
	}
	return all(bound, anyOf(steps...)), nil
}

// beyond selects the documents behind v; nil is none. Absent values sort before all others, and of the comparisons only
// $not selects them.
func (k key) beyond(v any) bson.D {
	switch {
	case v == nil && k.desc:
		return nil
	case v == nil:
		return where(k.path, "$ne", nil)
	case k.path == idKey && k.desc:
		return where(k.path, "$lt", v)
	case k.desc:
		return where(k.path, "$not", bson.D{{Key: "$gte", Value: v}})
	}
	return where(k.path, "$gt", v)
}

// from selects v and the documents behind it; nil is all.
func (k key) from(v any) bson.D {
	switch {
	case v == nil && k.desc:
		return where(k.path, "$eq", nil)
	case v == nil:
		return nil
	case k.desc:
		return where(k.path, "$not", bson.D{{Key: "$gt", Value: v}})
	}
	return where(k.path, "$gte", v)
}

// projection returns the fields to read, without the words; nil is all.
func (s *schema) projection(fields []string) bson.D {
	if fields == nil {
		if len(s.search) == 0 {
			return nil
		}
		return bson.D{{Key: wordsKey, Value: 0}}
	}
	doc := bson.D{{Key: idKey, Value: 1}}
	for _, f := range fields {
		if f != "id" {
			doc = append(doc, bson.E{Key: path(f), Value: 1})
		}
	}
	return doc
}

// update translates changes. It increments the version and updates the words of searched fields.
func (s *schema) update(changes []store.Change) (bson.D, error) {
	var set, unset bson.D
	inc := bson.D{{Key: "version", Value: int64(1)}}
	put := func(path string, v any) {
		if v == nil {
			unset = append(unset, bson.E{Key: path, Value: ""})
		} else {
			set = append(set, bson.E{Key: path, Value: v})
		}
	}
	for _, c := range changes {
		var v any
		switch c.Op {
		case store.OpSet, store.OpUnset:
			var err error
			if v, err = encodeValue(c.Value); err != nil {
				return nil, err
			}
			put(path(c.Field), v)
		case store.OpInc:
			inc = append(inc, bson.E{Key: path(c.Field), Value: c.Value})
		default:
			return nil, fmt.Errorf("mongo: unknown change %q", c.Op)
		}
		for _, field := range s.search {
			below, isPart := cutPath(field, c.Field)
			switch {
			case strings.HasPrefix(c.Field, field+"."), isPart && c.Op == store.OpInc:
				return nil, fmt.Errorf("mongo: %s of %s would make the searched field %s something else than a string", c.Op, c.Field, field)
			case isPart:
				put(wordsPath(field), words(lookup(v, below...)))
			}
		}
	}
	doc := bson.D{{Key: "$inc", Value: inc}}
	if set != nil {
		doc = append(doc, bson.E{Key: "$set", Value: set})
	}
	if unset != nil {
		doc = append(doc, bson.E{Key: "$unset", Value: unset})
	}
	return doc, nil
}

// cutPath returns the segments of field below parent, and whether field is parent or lies below it.
func cutPath(field, parent string) (below []string, ok bool) {
	if field == parent {
		return nil, true
	}
	rest, ok := strings.CutPrefix(field, parent+".")
	return strings.Split(rest, "."), ok
}

// words returns the words of a stored value, nil if it is no string.
func words(v any) any {
	raw, _ := v.(bson.RawValue)
	text, ok := raw.StringValueOK()
	if !ok {
		return nil
	}
	return append([]string{}, store.Words(text)...)
}
