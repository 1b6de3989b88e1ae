package mongo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
	"example.com/ginseng/kit/store/textsearch"
)

const (
	idKey    = "_id"
	wordsKey = "_words"
)

// schema has the properties of a collection that are needed to translate filters and changes.
type schema struct {
	search  []string // as in Spec.Search
	indexes []index
	changes bool // as in Spec.Changes
}

// path returns MongoDB's path for a field. No segment of the path begins with "$", so no server interprets a segment as an
// operator.
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

// wordsPath returns the path of the words of a searched field. A field name with dots becomes one escaped key.
func wordsPath(field string) string { return wordsKey + "." + escape(field) }

// nothing returns a filter that selects no document. Servers evaluate this form without reading documents.
func nothing() bson.D { return where(idKey, "$in", bson.A{}) }

// where returns the condition {path: {operator: v}}.
func where(path, operator string, v any) bson.D {
	return bson.D{{Key: path, Value: bson.D{{Key: operator, Value: v}}}}
}

// all joins filters with $and. It ignores empty filters. If all filters are empty, the result is empty.
func all(filters ...bson.D) bson.D {
	parts := slices.DeleteFunc(slices.Clone(filters), func(f bson.D) bool { return len(f) == 0 })
	switch len(parts) {
	case 0:
		return bson.D{}
	case 1:
		return parts[0]
	}
	return bson.D{{Key: "$and", Value: parts}}
}

// anyOf joins filters with $or. If there are no filters, the result selects no document.
func anyOf(filters ...bson.D) bson.D {
	switch len(filters) {
	case 0:
		return nothing()
	case 1:
		return filters[0]
	}
	return bson.D{{Key: "$or", Value: filters}}
}

// filter translates f. An empty result selects all documents.
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
			if values[i], err = engine.Scalar(v); err != nil {
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
	v, err := engine.Scalar(c.Value)
	if err != nil {
		return nil, err
	}
	switch c.Op {
	case store.OpEq:
		if id, ok := v.(store.ID); ok && c.Field == "id" {
			return bson.D{{Key: idKey, Value: id}}, nil // with this form, every server uses the index of _id
		}
		return where(path(c.Field), "$eq", v), nil
	case store.OpNe:
		return where(path(c.Field), "$ne", v), nil
	case store.OpGt, store.OpGte, store.OpLt, store.OpLte:
		if v == nil { // MongoDB's $gte and $lte would select documents without the field
			return nothing(), nil
		}
		return where(path(c.Field), "$"+string(c.Op), v), nil
	}
	return nil, fmt.Errorf("mongo: unknown comparison %q", c.Op)
}

// textSearch selects documents in which each word of the query is a prefix of a word in a searched field. Servers evaluate an
// anchored regular expression as a range of the index.
func (s *schema) textSearch(query string) bson.D {
	words := textsearch.QueryWords(query)
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

// key is one field of a sort.
type key struct {
	path string
	desc bool
}

// sortKeys returns the keys of engine.TotalOrder.
func sortKeys(order []store.Order) (keys []key) {
	for _, o := range engine.TotalOrder(order) {
		keys = append(keys, key{path(o.Field), o.Desc})
	}
	return keys
}

// sortDocument returns the keys in the form of the driver's sort option.
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

// after selects the documents that follow row in the order of the keys. row is Query.After. A document follows row if it
// follows row in one key and equals row in the previous keys. The bound on the first key is redundant, but lets a scan of an
// index start at the bound.
func after(keys []key, row []any) (bson.D, error) {
	if len(row) < len(keys) {
		return nil, fmt.Errorf("mongo: After has %d values, but must have %d, one for each sort key", len(row), len(keys))
	}
	var bound bson.D
	var steps, ties []bson.D
	for i, k := range keys {
		v, err := engine.Scalar(row[i])
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

// beyond selects the documents that follow v in the order of k. It returns nil if no document can follow v. Absent values sort
// before all others, so in descending order they follow v. Unlike $lt, $not selects documents without the field.
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

// from selects the documents that equal or follow v in the order of k. A nil result selects all documents.
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

// projection returns the projection for Query.Fields. If fields is nil, the projection omits only the words and the pending
// entries. A nil result means that the whole document is read.
func (s *schema) projection(fields []string) bson.D {
	if fields == nil {
		var doc bson.D
		if len(s.search) > 0 {
			doc = append(doc, bson.E{Key: wordsKey, Value: 0})
		}
		if s.changes {
			doc = append(doc, bson.E{Key: changesKey, Value: 0})
		}
		return doc
	}
	doc := bson.D{{Key: idKey, Value: 1}}
	for _, f := range fields {
		if f != "id" {
			doc = append(doc, bson.E{Key: path(f), Value: 1})
		}
	}
	return doc
}

// update translates changes. The result also increments the version and updates the words of searched fields.
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
		v, err := encodeValue(c.Value)
		if err != nil {
			return nil, err
		}
		switch c.Op {
		case store.OpSet, store.OpUnset:
			put(path(c.Field), v)
		case store.OpInc:
			inc = append(inc, bson.E{Key: path(c.Field), Value: v})
		default:
			return nil, fmt.Errorf("mongo: unknown change %q", c.Op)
		}
		for _, field := range s.search {
			below, isPart := cutPath(field, c.Field)
			switch {
			case strings.HasPrefix(c.Field, field+"."), isPart && c.Op == store.OpInc:
				return nil, fmt.Errorf("mongo: %s of %s would set the searched field %s to a value that is not a string", c.Op, c.Field, field)
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

// unmodified returns a filter that selects each document that the changes do not modify, and perhaps documents with a list that
// contains the value of a change; nil if the changes modify every document.
func (s *schema) unmodified(changes []store.Change) (filter bson.D, err error) {
	for _, c := range engine.Conditions(changes) {
		v, err := encodeValue(c.Value)
		if err != nil {
			return nil, err
		}
		condition := bson.E{Key: "$eq", Value: v}
		if v == nil {
			condition = bson.E{Key: "$exists", Value: false}
		}
		filter = append(filter, bson.E{Key: path(c.Field), Value: bson.D{condition}})
	}
	return filter, nil
}

// hasValues reports whether a document has exactly the values in a result of unmodified.
func hasValues(raw bson.Raw, unmodified bson.D) bool {
	for _, e := range unmodified {
		stored, err := raw.LookupErr(strings.Split(e.Key, ".")...)
		condition, _ := bson.Marshal(e.Value) // never fails: encodeValue has encoded the value
		if want, wantErr := bson.Raw(condition).LookupErr("$eq"); (err == nil) != (wantErr == nil) || err == nil && !stored.Equal(want) {
			return false
		}
	}
	return true
}

// cutPath reports whether field is parent or is nested in parent, and returns the segments of field after parent.
func cutPath(field, parent string) (below []string, ok bool) {
	if field == parent {
		return nil, true
	}
	rest, ok := strings.CutPrefix(field, parent+".")
	return strings.Split(rest, "."), ok
}

// maxWords is the number of keys that MongoDB allows for one document in an index (indexMaxNumGeneratedKeysPerDocument).
const maxWords = 100_000

// words returns the first maxWords words of a stored value as a []string; nil if the value is not a string.
func words(v any) any {
	raw, _ := v.(bson.RawValue)
	text, ok := raw.StringValueOK()
	if !ok {
		return nil
	}
	words := textsearch.Words(text)
	return append([]string{}, words[:min(len(words), maxWords)]...)
}
