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

// Cursors seals and opens positions in lists. A cursor is opaque, cannot be altered, and is bound to the sort and
// filters it came from.
type Cursors struct{ keys [][]byte }

// NewCursors takes the secrets that all copies of the service share: the first seals, and any opens, so that a secret
// can be replaced while lists are being read.
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

// seal writes the position behind a tag.
func (c Cursors) seal(scope string, values []any) string {
	position, err := store.MarshalValues(values)
	if err != nil {
		panic(err) // values come from a document: the store wrote them before
	}
	return base64.RawURLEncoding.EncodeToString(append(tag(c.keys[0], scope, position), position...))
}

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

// cursor is the position after a document.
func (q Query) cursor(doc reflect.Value) string {
	values := make([]any, 0, len(q.Sort)+1)
	for _, order := range q.Sort {
		v := field(doc, order.Field)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				values = append(values, nil)
				continue
			}
			v = v.Elem()
		}
		values = append(values, v.Interface())
	}
	return q.seal(append(values, field(doc, "id").Interface()))
}

// field is the field of a struct, or of one that it embeds, with the JSON name; the zero Value if there is none.
func field(of reflect.Value, name string) (found reflect.Value) {
	for i := 0; i < of.NumField() && !found.IsValid(); i++ {
		switch f := of.Type().Field(i); {
		case f.Anonymous:
			found = field(of.Field(i), name)
		case jsonName(f) == name:
			found = of.Field(i)
		}
	}
	return found
}
