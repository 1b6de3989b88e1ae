package listing

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"example.com/ginseng/kit/store"
)

// Cursors encodes positions in lists. A cursor is encrypted and authenticated: a position in the log of changes would show how
// many changes there are in all resources. A cursor is valid only in the same list, with the same sort and filters.
type Cursors struct{ keys []cursorKey }

// cursorKey has the keys that are derived from one secret.
type cursorKey struct {
	mac   []byte
	block cipher.Block
}

// NewCursors returns Cursors with the secrets that all instances share. The first secret signs new cursors. Every secret
// verifies cursors, so that a secret can be replaced while clients read lists.
func NewCursors(secrets ...string) Cursors {
	var c Cursors
	derive := func(secret, use string) []byte {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(use))
		return mac.Sum(nil)
	}
	for _, secret := range secrets {
		block, err := aes.NewCipher(derive(secret, "ginseng encrypted cursors"))
		if err != nil {
			panic(err) // unreachable: the key has 32 bytes
		}
		c.keys = append(c.keys, cursorKey{derive(secret, "ginseng listing cursors"), block})
	}
	return c
}

const tagBytes = aes.BlockSize

// tag returns the tag that authenticates a position in a list. For scope, see Seal.
func (k cursorKey) tag(scope string, position []byte) []byte {
	mac := hmac.New(sha256.New, k.mac)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(scope))))
	mac.Write([]byte(scope))
	mac.Write(position)
	return mac.Sum(nil)[:tagBytes]
}

// crypt encrypts a position, or decrypts it. The tag is the initialization vector, as in SIV mode (RFC 5297), so that a position
// always has the same cursor.
func (k cursorKey) crypt(tag, position []byte) []byte {
	out := make([]byte, len(position))
	cipher.NewCTR(k.block, tag).XORKeyStream(out, position)
	return out
}

// Seal returns the cursor of a position. values are the values of the position, from a stored document. scope is what the
// cursor is bound to: the list, and the parameters that determine its rows and their order.
func (c Cursors) Seal(scope string, values []any) string {
	position, err := store.MarshalValues(values)
	if err != nil {
		panic(err) // unreachable: values come from a stored document
	}
	key := c.keys[0]
	tag := key.tag(scope, position)
	return base64.RawURLEncoding.EncodeToString(append(tag, key.crypt(tag, position)...))
}

// Open returns the position of a cursor: the values of the sort fields, and the ID. sorts is the number of sort fields. ok
// reports whether the cursor is a result of Seal for the same scope, possibly in an earlier version, which did not encrypt it.
func (c Cursors) Open(scope, cursor string, sorts int) (position []any, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < tagBytes {
		return nil, false
	}
	tag, sealed := raw[:tagBytes], raw[tagBytes:]
	for _, key := range c.keys {
		for _, plain := range [][]byte{key.crypt(tag, sealed), sealed} {
			if hmac.Equal(tag, key.tag(scope, plain)) {
				values, err := store.UnmarshalValues(plain)
				return values, err == nil && len(values) == sorts+1
			}
		}
	}
	return nil, false
}
