// Package seal encrypts small secrets that the database or a client keeps.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
)

var encoding = base64.RawURLEncoding

// Keys encrypt and decrypt with AES-256-GCM. Only the first key encrypts. All keys decrypt, so that keys can be replaced.
type Keys []cipher.AEAD

// New returns the keys of 32 bytes, at least one, as access.DeriveKey returns them. It panics for another length.
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

// Seal encrypts data for a use. Open fails for another use.
func (k Keys) Seal(use string, data []byte) string {
	return encoding.EncodeToString(k[0].Seal(nil, nil, data, []byte(use)))
}

// Open decrypts what Seal returned. ok is false if it was encrypted with another key or for another use. current reports whether
// it was encrypted with the first key.
func (k Keys) Open(use, sealed string) (data []byte, current, ok bool) {
	raw, err := encoding.DecodeString(sealed)
	for i, key := range k {
		if data, openErr := key.Open(nil, nil, raw, []byte(use)); err == nil && openErr == nil {
			return data, i == 0, true
		}
	}
	return nil, false, false
}
