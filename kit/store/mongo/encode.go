package mongo

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// encode returns the stored form of a document: fields have the names of their json tags, nulls are omitted, and the keys of
// maps are escaped. The values have the types that rewrite returns.
func encode(doc any) (bson.D, error) {
	var buf bytes.Buffer
	encoder := bson.NewEncoder(bson.NewDocumentWriter(&buf))
	encoder.UseJSONStructTags()
	if err := encoder.Encode(doc); err != nil {
		return nil, err
	}
	return rewrite(buf.Bytes(), escape)
}

// encodeValue returns the stored form of a field's value; nil for null.
func encodeValue(v any) (any, error) {
	doc, err := encode(bson.D{{Key: "value", Value: v}})
	if err != nil || len(doc) == 0 {
		return nil, err
	}
	return doc[0].Value, nil
}

// decoder decodes stored documents. It reuses one buffer, so only one goroutine may use it at a time.
type decoder struct{ buf *bufio.Reader }

func newDecoder() decoder { return decoder{bufio.NewReader(nil)} }

func (d decoder) decode(raw bson.Raw, into any) error {
	if bytes.IndexByte(raw, '%') >= 0 { // a key may be escaped
		doc, err := rewrite(raw, unescape)
		if err != nil {
			return err
		}
		if raw, err = bson.Marshal(doc); err != nil {
			return err
		}
	}
	d.buf.Reset(bytes.NewReader(raw))
	decoder := bson.NewDecoder(bson.NewDocumentReader(d.buf))
	decoder.UseJSONStructTags()
	decoder.DefaultDocumentMap()
	return decoder.Decode(into)
}

// rewrite returns the document with its keys converted by convertKey. It omits nulls, except in arrays. It converts integers to
// 64 bits, because a unique index of DocumentDB distinguishes equal integers of 32 and of 64 bits. It sorts the keys of nested
// documents: the keys of a map are in random order, and MongoDB compares documents in order (see schema.unmodified). Values have
// the types bson.D, bson.A, int64 and bson.RawValue.
func rewrite(raw bson.Raw, convertKey func(string) string) (bson.D, error) {
	elements, err := raw.Elements()
	if err != nil {
		return nil, err
	}
	doc := make(bson.D, 0, len(elements)+1) // room for the _words field that collection.document appends
	for _, e := range elements {
		if e.Value().Type == bson.TypeNull {
			continue
		}
		v, err := rewriteValue(e.Value(), convertKey)
		if err != nil {
			return nil, err
		}
		doc = append(doc, bson.E{Key: convertKey(e.Key()), Value: v})
	}
	return doc, nil
}

func rewriteValue(v bson.RawValue, convertKey func(string) string) (any, error) {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		doc, err := rewrite(v.Value, convertKey)
		slices.SortFunc(doc, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
		return doc, err
	case bson.TypeArray:
		values, err := bson.RawArray(v.Value).Values()
		if err != nil {
			return nil, err
		}
		array := make(bson.A, len(values))
		for i := range values {
			if array[i], err = rewriteValue(values[i], convertKey); err != nil {
				return nil, err
			}
		}
		return array, nil
	case bson.TypeInt32, bson.TypeInt64:
		return v.AsInt64(), nil
	}
	return v, nil
}

// escape encodes a key of a map so that no server interprets the key as a path or an operator.
func escape(key string) string {
	if strings.ContainsAny(key, "%.") {
		key = strings.NewReplacer("%", "%25", ".", "%2E").Replace(key)
	}
	if strings.HasPrefix(key, "$") {
		key = "%24" + key[1:]
	}
	return key
}

// unescape reverses escape.
func unescape(key string) string {
	if !strings.Contains(key, "%") {
		return key
	}
	return strings.NewReplacer("%25", "%", "%2E", ".", "%24", "$").Replace(key)
}

// lookup returns the value at a path in v, or nil if v has no such value. v is a result of encode or encodeValue. If path is
// empty, lookup returns v.
func lookup(v any, path ...string) any {
	for _, key := range path {
		doc, _ := v.(bson.D)
		v = nil
		for _, e := range doc {
			if e.Key == key {
				v = e.Value
			}
		}
	}
	return v
}
