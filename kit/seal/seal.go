// Package seal encrypts small secrets that are stored in the database or by a client.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
)

var encoding = base64.RawURLEncoding

// Keys encrypt and decrypt with AES-256-GCM. The first key encrypts. All keys decrypt, so that keys can be replaced.
type Keys []cipher.AEAD

// New returns Keys with the given keys. Each key must have 32 bytes, like the keys that access.DeriveKey returns. New panics if
// AES does not support the length of a key. If there are no keys, Seal panics.
func New(keys ...[]byte) (k Keys) {
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			panic(err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			panic(err) // unreachable: the block size is valid
		}
		k = append(k, aead)
	}
	return k
}

// Seal encrypts data. use identifies what the data is used for; Open can decrypt the data only with the same use.
func (k Keys) Seal(use string, data []byte) string {
	return encoding.EncodeToString(k[0].Seal(nil, nil, data, []byte(use)))
}

// Open decrypts sealed, a result of Seal. ok is false if sealed was changed, or was encrypted with another key or for another
// use. current reports whether sealed was encrypted with the first key.
func (k Keys) Open(use, sealed string) (data []byte, current, ok bool) {
	raw, err := encoding.DecodeString(sealed)
	for i, key := range k {
		if data, openErr := key.Open(nil, nil, raw, []byte(use)); err == nil && openErr == nil {
			return data, i == 0, true
		}
	}
	return nil, false, false
}
