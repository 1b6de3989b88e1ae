package listing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"reflect"

	"example.com/ginseng/internal/store"
)

// Cursors seals and opens positions in lists. A cursor is opaque, cannot be altered, and is bound to the sort and
// filters it came from.
type Cursors struct{ key []byte }

// NewCursors takes a secret that all copies of the service share. Cursors of another secret are refused: their lists
// are begun again.
func NewCursors(secret string) Cursors {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("ginseng listing cursors"))
	return Cursors{mac.Sum(nil)}
}

const tagBytes = 16

func (c Cursors) tag(scope string, position []byte) []byte {
	mac := hmac.New(sha256.New, c.key)
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(scope)))
	mac.Write(length[:])
	mac.Write([]byte(scope))
	mac.Write(position)
	return mac.Sum(nil)[:tagBytes]
}

// seal writes the position behind a tag.
func (c Cursors) seal(scope string, values []any) string {
	position, err := store.MarshalValues(values)
	if err != nil {
		panic(err) // values come from a document: the store wrote them before
	}
	return base64.RawURLEncoding.EncodeToString(append(c.tag(scope, position), position...))
}

func (c Cursors) open(scope, cursor string, sorts int) ([]any, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < tagBytes || !hmac.Equal(raw[:tagBytes], c.tag(scope, raw[tagBytes:])) {
		return nil, false
	}
	values, err := store.UnmarshalValues(raw[tagBytes:])
	return values, err == nil && len(values) == sorts+1
}

// cursor is the position after a document.
func (q Query) cursor(doc reflect.Value) string {
	values := make([]any, 0, len(q.Sort)+1)
	field := func(name string) reflect.Value { return doc.FieldByIndex(fieldIndex(doc.Type(), name)) }
	for _, order := range q.Sort {
		v := field(order.Field)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				values = append(values, nil)
				continue
			}
			v = v.Elem()
		}
		values = append(values, v.Interface())
	}
	return q.seal(append(values, field("id").Interface()))
}
