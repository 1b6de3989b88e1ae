package access

import (
	"time"

	"github.com/golang-jwt/jwt/v5"

	"example.com/ginseng/kit/store"
)

// Tokens signs and verifies user tokens: JSON Web Tokens with HS256 only (RFC 8725 section 3.1) and the claims sub (user
// ID), sid (session ID), iat and exp.
type Tokens struct {
	secret []byte
	ttl    time.Duration
	now    func() time.Time
	parser *jwt.Parser
}

// NewTokens returns Tokens that expire after ttl.
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

// Sign returns a token for a session of a user, and its expiry, which is in whole seconds.
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

// Verify returns the user and the session of a token. Unauthorized: the token is invalid or has expired.
func (t *Tokens) Verify(token string) (user, session store.ID, err error) {
	var c claims
	if _, err := t.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return t.secret, nil }); err != nil {
		return user, session, InvalidToken().WithCause(err)
	}
	user, okUser := store.ParseID(c.Subject)
	session, okSession := store.ParseID(c.Session)
	if !okUser || !okSession {
		return user, session, InvalidToken()
	}
	return user, session, nil
}
