package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// An API key is access.KeyPrefix followed by 96 hexadecimal digits: the ID, a secret of 256 bits, and the CRC-32 of everything
// before it. With the CRC-32, secret scanners can recognize keys, and a mistyped key is rejected without a query.
const (
	idDigits     = 24
	secretDigits = 64
	crcDigits    = 8
)

func newKey(id store.ID) string {
	var secret [secretDigits / 2]byte
	rand.Read(secret[:]) // crypto/rand never fails
	body := access.KeyPrefix + id.Hex() + hex.EncodeToString(secret[:])
	return body + checksum(body)
}

// parseKey returns the ID in an API key. ok is false if the key is malformed.
func parseKey(key string) (id store.ID, ok bool) {
	if len(key) != len(access.KeyPrefix)+idDigits+secretDigits+crcDigits {
		return id, false
	}
	end := len(key) - crcDigits
	if key[end:] != checksum(key[:end]) {
		return id, false
	}
	return store.ParseID(strings.TrimPrefix(key, access.KeyPrefix)[:idDigits])
}

func checksum(s string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(s))) }

// digest returns the stored form of a key. The secret is random, so a fast hash is sufficient.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
