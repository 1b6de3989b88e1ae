package twofactor

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
)

const (
	keyPurpose        = "two-factor" // purpose of the derived keys
	recoveryCodes     = 10           // number of recovery codes per user
	recoveryCodeChars = 16           // with 5 random bits each; a fast hash is sufficient for 80 bits
)

// newKeys returns the keys that are derived from the secrets, followed by last, which is already derived.
func newKeys(secrets []string, last []byte) seal.Keys {
	var derived [][]byte
	for _, secret := range secrets {
		derived = append(derived, access.DeriveKey(secret, keyPurpose))
	}
	return seal.New(append(derived, last)...)
}

// challenge proves that the user has completed the methods in the first step of a sign-in. It is encrypted, and not stored.
type challenge struct {
	challengeHead
	methods []access.Method
}

type challengeHead struct {
	UserID  store.ID
	Epoch   int64 // the user's epoch; the challenge is invalid in a later epoch, such as after a password change
	Expires int64 // Unix time in milliseconds
}

const challengeUse = "challenge"

// seal returns the challenge in encrypted form.
func (c challenge) seal(k seal.Keys) string {
	var data bytes.Buffer
	_ = binary.Write(&data, binary.BigEndian, c.challengeHead) // writing to a buffer never fails
	for _, m := range c.methods {
		data.WriteString(string(m) + " ")
	}
	return k.Seal(challengeUse, data.Bytes())
}

// openChallenge decrypts a challenge. ok is false if the challenge is invalid or has expired.
func openChallenge(k seal.Keys, sealed string, now time.Time) (c challenge, ok bool) {
	data, _, ok := k.Open(challengeUse, sealed)
	if !ok {
		return c, false
	}
	n, err := binary.Decode(data, binary.BigEndian, &c.challengeHead)
	for _, m := range strings.Fields(string(data[n:])) {
		c.methods = append(c.methods, access.Method(m))
	}
	return c, err == nil && now.UnixMilli() < c.Expires
}

// newRecoveryCodes returns new recovery codes of a user, such as abcd-efgh-ijkl-mnop, and the digests of the codes.
func newRecoveryCodes(userID store.ID) (codes, digests []string) {
	for range recoveryCodes {
		s := strings.ToLower(rand.Text()[:recoveryCodeChars])
		code := s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:]
		codes, digests = append(codes, code), append(digests, recoveryDigest(userID, code))
	}
	return codes, digests
}

// recoveryDigest returns the stored form of a recovery code. Case, spaces and hyphens do not matter.
func recoveryDigest(userID store.ID, code string) string {
	sum := sha256.Sum256([]byte(userID.Hex() + strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code))))
	return hex.EncodeToString(sum[:])
}
