package access

import (
	"time"

	"github.com/golang-jwt/jwt/v5"

	"example.com/ginseng/kit/store"
)

// Tokens signs and reads user tokens: JSON Web Tokens with HS256 and no other algorithm (RFC 8725 section 3.1), whose
// claims are sub (user id), sid (session id), iat and exp.
type Tokens struct {
	secret []byte
	ttl    time.Duration
	now    func() time.Time
	parser *jwt.Parser
}

// NewTokens takes the secret, the lifetime of a token and the clock.
func NewTokens(secret string, ttl time.Duration, now func() time.Time) *Tokens {
	return &Tokens{
		secret: []byte(secret), ttl: ttl, now: now,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
			jwt.WithExpirationRequired(),
			jwt.WithTimeFunc(now),
		),
	}
}

type claims struct {
	jwt.RegisteredClaims
	Session string `json:"sid"`
}

// Sign makes a token for a user's session and tells when it expires, a whole second.
func (t *Tokens) Sign(user, session store.ID) (token string, expires time.Time, err error) {
	now := t.now()
	expires = now.Add(t.ttl).Truncate(time.Second)
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Subject: user.Hex(), IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
		},
		Session: session.Hex(),
	}).SignedString(t.secret)
	return token, expires, err
}

// Verify reads a token. Unauthorized: it is not ours, not yet or no longer valid, or not well formed.
func (t *Tokens) Verify(token string) (user, session store.ID, err error) {
	var c claims
	if _, err := t.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return t.secret, nil }); err != nil {
		return user, session, BadToken().WithCause(err)
	}
	user, okUser := store.ParseID(c.Subject)
	session, okSession := store.ParseID(c.Session)
	if !okUser || !okSession {
		return user, session, BadToken()
	}
	return user, session, nil
}
