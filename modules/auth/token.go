package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// refreshToken has 48 random bytes: a family and a secret. All tokens of a session have the same family, which identifies the
// session even for a replaced token. The database has only digests of both parts. The next secret is derived from the current
// secret and a random salt, which is stored for the grace period. The service can therefore derive the next token from a replaced
// token again, but not from the database alone.
type refreshToken struct {
	family [16]byte
	secret [32]byte
}

var encoding = base64.RawURLEncoding

func newRefreshToken() (t refreshToken) {
	rand.Read(t.family[:]) // crypto/rand never fails
	rand.Read(t.secret[:])
	return t
}

func parseRefreshToken(encoded string) (t refreshToken, ok bool) {
	raw, err := encoding.Strict().DecodeString(encoded)
	if err != nil || len(raw) != len(t.family)+len(t.secret) {
		return t, false
	}
	copy(t.family[:], raw)
	copy(t.secret[:], raw[len(t.family):])
	return t, true
}

func (t refreshToken) String() string {
	return encoding.EncodeToString(append(t.family[:], t.secret[:]...))
}

// next returns the token that replaces t.
func (t refreshToken) next(salt string) refreshToken {
	mac := hmac.New(sha256.New, t.secret[:])
	mac.Write([]byte(salt))
	mac.Sum(t.secret[:0])
	return t
}

// DeriveKey returns the key that access.DeriveKey derives from JWT_SECRET for the purpose.
func (s *Service) DeriveKey(purpose string) []byte { return access.DeriveKey(s.secret, purpose) }

// digest returns the stored form of a family or a secret. Both are random, so a fast hash is sufficient.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return encoding.EncodeToString(sum[:])
}

// follow returns the session's current token if t was replaced within the grace period; otherwise ok is false. If a clock has
// been set back, a rotation can be in the future. follow ignores a rotation that is further in the future than the grace period.
func (s Session) follow(t refreshToken, now store.Time) (current refreshToken, ok bool) {
	first := slices.IndexFunc(s.Rotated, func(r rotation) bool { return r.Digest == digest(t.secret[:]) })
	if first < 0 || now.Sub(s.Rotated[first].At.Time).Abs() > grace {
		return t, false
	}
	for _, r := range s.Rotated[first:] {
		t = t.next(r.Salt)
	}
	return t, digest(t.secret[:]) == s.Current
}
