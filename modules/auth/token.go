package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"example.com/ginseng/kit/store"
)

// A refresh token is 48 bytes: 16 that all tokens of a session have in common, its family, by which any of them is known
// however old it is, and a secret of 32. The database has digests of both. The next secret is made of the last one and a
// random salt that is kept for a while: so everyone who trades the same token in the grace gets the same next one, though
// nobody can tell it from the database.
type refreshToken struct {
	family [16]byte
	secret [32]byte
}

var encoding = base64.RawURLEncoding

func newRefreshToken() (t refreshToken) {
	rand.Read(t.family[:]) // never fails: crypto/rand
	rand.Read(t.secret[:])
	return t
}

func parseRefreshToken(text string) (t refreshToken, ok bool) {
	raw, err := encoding.Strict().DecodeString(text)
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

// next is the token that follows, with a salt.
func (t refreshToken) next(salt string) refreshToken {
	mac := hmac.New(sha256.New, t.secret[:])
	mac.Write([]byte(salt))
	mac.Sum(t.secret[:0])
	return t
}

// digest is what is stored of a family or secret: both are random, so nobody can guess them.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return encoding.EncodeToString(sum[:])
}

// follow is the session's current token, where t was traded for one that leads to it within the grace. One that was
// traded long after now was so by a clock that has been set back since: nobody knows when.
func (s Session) follow(t refreshToken, now store.Time) (refreshToken, bool) {
	first := slices.IndexFunc(s.Rotated, func(r rotation) bool { return r.Digest == digest(t.secret[:]) })
	if first < 0 || now.Sub(s.Rotated[first].At.Time).Abs() > grace {
		return t, false
	}
	for _, r := range s.Rotated[first:] {
		t = t.next(r.Salt)
	}
	return t, digest(t.secret[:]) == s.Current
}
