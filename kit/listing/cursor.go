package listing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"reflect"
	"slices"

	"example.com/ginseng/kit/store"
)

// Cursors encodes positions in lists. A cursor is opaque, authenticated, and valid only with the sort and filters that it
// was returned with.
type Cursors struct{ keys [][]byte }

// NewCursors returns Cursors with the secrets that all instances share. The first signs and any verifies, so that a secret
// can be replaced while clients read lists.
func NewCursors(secrets ...string) Cursors {
	var c Cursors
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte("ginseng listing cursors"))
		c.keys = append(c.keys, mac.Sum(nil))
	}
	return c
}

const tagBytes = 16

func tag(key []byte, scope string, position []byte) []byte {
	mac := hmac.New(sha256.New, key)
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(scope)))
	mac.Write(length[:])
	mac.Write([]byte(scope))
	mac.Write(position)
	return mac.Sum(nil)[:tagBytes]
}

// seal returns the cursor of a position: a tag and the position.
func (c Cursors) seal(scope string, values []any) string {
	position, err := store.MarshalValues(values)
	if err != nil {
		panic(err) // unreachable: values come from a stored document
	}
	return base64.RawURLEncoding.EncodeToString(append(tag(c.keys[0], scope, position), position...))
}

// open returns the position of a cursor.
func (c Cursors) open(scope, cursor string, sorts int) ([]any, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < tagBytes {
		return nil, false
	}
	ours := slices.ContainsFunc(c.keys, func(key []byte) bool {
		return hmac.Equal(raw[:tagBytes], tag(key, scope, raw[tagBytes:]))
	})
	if !ours {
		return nil, false
	}
	values, err := store.UnmarshalValues(raw[tagBytes:])
	return values, err == nil && len(values) == sorts+1
}

// cursor returns the cursor of the position after a document.
func (q Query) cursor(doc reflect.Value) string {
	indexes := fieldIndexes(doc.Type())
	values := make([]any, 0, len(q.Sort)+1)
	for _, order := range q.Sort {
		v := doc.FieldByIndex(indexes[order.Field])
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				values = append(values, nil)
				continue
			}
			v = v.Elem()
		}
		values = append(values, v.Interface())
	}
	return q.seal(append(values, doc.FieldByIndex(indexes["id"]).Interface()))
}
