// Package access defines callers, their roles and their credentials. It is independent of HTTP; package middleware reads the
// credentials of requests.
package access

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

// Role is the role of a user. Projects can declare roles in addition to RoleUser and RoleAdmin.
type Role string

// The roles of every project.
const (
	RoleUser  Role = "user"
	RoleAdmin Role = "admin"
)

// Principal is the caller of a request. The zero value is an anonymous caller.
type Principal struct {
	Master    bool     // the caller has the master key
	operator  bool     // see Operator
	UserID    store.ID // zero unless the caller is a user
	SessionID store.ID // the session of the user token; zero without a user token
	Epoch     int64    // the current epoch of the user; sessions from earlier epochs have ended
	Role      Role     // "" unless the caller is a user

	// AuthTime is the time at which the user signed in, either to open the session or with this request (auth_time in OpenID
	// Connect). A refresh of the session does not change AuthTime.
	AuthTime    time.Time
	MultiFactor bool // the user opened the session with two factors

	Restriction *Restriction // nil if the caller is not restricted
	Key         *Key         // the API key that the caller sent; nil if there is none

	groups *groups // see WithMemberships
	memo   *memo   // see ForRequest
}

// Restriction limits a user who must complete a step, such as verifying the email address. Until then, the user's requests fail
// with Err, except on routes with route.AllowRestricted.
type Restriction struct {
	Err   error
	Reads bool // GET requests are allowed on all routes
}

// Client describes the sender of a request.
type Client struct {
	Address   string // IP address of the connection, or the IP address that a trusted proxy reports
	UserAgent string
	Trusted   bool // the request has the master key: it comes from a server that acts for many clients
}

// Operator returns the caller of the commands of an operator, such as import. The caller has the rights of the master key, and every
// route accepts the caller. No request of a client has it.
func Operator() Principal { return Principal{Master: true, operator: true} }

// IsOperator reports whether the caller is that of Operator.
func (p Principal) IsOperator() bool { return p.operator }

// IsUser reports whether the caller is a user.
func (p Principal) IsUser() bool { return !p.UserID.IsZero() }

// IsAdmin reports whether the caller is a user with the role admin. IsAdmin returns false for the master key.
func (p Principal) IsAdmin() bool { return p.IsUser() && p.Role == RoleAdmin }

// HasRole reports whether the caller is a user with one of the roles, or an admin.
func (p Principal) HasRole(roles ...Role) bool {
	return p.IsAdmin() || p.IsUser() && slices.Contains(roles, p.Role)
}

// Is reports whether the caller is the user with the ID id.
func (p Principal) Is(id store.ID) bool { return p.IsUser() && p.UserID == id }

// ActsForAll reports whether the caller is an admin or has the master key. These callers may read and change the records of all
// users.
func (p Principal) ActsForAll() bool { return p.Master || p.IsAdmin() }

// MayChange fails with Forbidden unless the caller is the owner or acts for all users. If the caller is a restricted admin who
// is not the owner, MayChange fails with the error of the restriction. For the owner alone, use Is.
func (p Principal) MayChange(owner store.ID) error {
	switch {
	case p.Is(owner):
		return nil
	case !p.ActsForAll():
		return apperr.New(apperr.Forbidden, "Only the owner or an admin may do this.")
	case p.Restriction != nil:
		return p.Restriction.Err
	}
	return nil
}

// maxSignInAge is the maximum time since a sign-in that counts as recent.
const maxSignInAge = 10 * time.Minute

// CheckRecent fails with ReauthenticationRequired if the caller signed in more than 10 minutes ago, or has not signed in. It also
// fails if the sign-in time is more than 10 minutes in the future: a clock was set back, so the age is unknown.
func (p Principal) CheckRecent(now time.Time) error {
	if now.Sub(p.AuthTime).Abs() <= maxSignInAge {
		return nil
	}
	return apperr.New(apperr.ReauthenticationRequired, "This operation requires a sign-in in the last 10 minutes. Sign in again, and send the new token.")
}

// OwnerOf returns the owner of a record that the caller creates. If chosen is not nil and the caller acts for all users, the
// owner is *chosen; otherwise, the owner is the caller. OwnerOf ignores chosen for other callers, so that a client can send back
// a record that the client has received.
func (p Principal) OwnerOf(chosen *store.ID) store.ID {
	if chosen != nil && p.ActsForAll() {
		return *chosen
	}
	return p.UserID
}

// TokenVerifier verifies user tokens. VerifyToken fails with Unauthorized unless the token is valid, its session is open and
// its user exists. The server uses the one in the kit.Parts of a module.
type TokenVerifier interface {
	VerifyToken(ctx context.Context, token string) (Principal, error)
}

// InvalidToken returns the Unauthorized error for an invalid user token. The error does not reveal why the token is invalid.
func InvalidToken() *apperr.Error {
	return apperr.New(apperr.Unauthorized, "The access token is invalid or has expired. Sign in again.")
}

// PasswordVerifier verifies email addresses and passwords. VerifyPassword fails with Unauthorized unless a user has the email
// address and the password. It fails with TooManyRequests after too many wrong passwords. VerifyPassword takes as long for an
// unknown address as for a wrong password. VerifyPassword returns the states of the rate limits even with an error. The server
// uses the one in the kit.Parts of a module.
type PasswordVerifier interface {
	VerifyPassword(ctx context.Context, client Client, email, password string) (Principal, ratelimit.States, error)
}

// Method identifies how a user signed in. The values are authentication method references (RFC 8176).
type Method string

// The methods.
const (
	Password    Method = "pwd"
	OneTimeCode Method = "otp" // from an authenticator app or an email, or a recovery code
	Passkey     Method = "hwk"
	Federated   Method = "fed" // from an identity provider; commonly used, but not in RFC 8176
	MultiFactor Method = "mfa" // in addition to other methods, if the user signed in with two factors
)

// Proof proves that a user has the second factor. It has either Code or RecoveryCode. Each code is accepted only once.
type Proof struct {
	Code         string `json:"code" validate:"max=20" example:"123456" maxLength:"20"`                       // code of the authenticator app; spaces are ignored
	RecoveryCode string `json:"recovery_code" validate:"max=40" example:"abcd-efgh-ijkl-mnop" maxLength:"40"` // recovery code, instead of code
} //	@name	TwoFactorProof

// SecondFactorVerifier verifies the second factors of users. VerifySecondFactor accepts any proof if the user has no second
// factor. Otherwise, it fails with SecondFactorRequired if the proof is empty, with ValidationFailed if the proof is wrong, and
// with TooManyRequests after too many wrong proofs. VerifySecondFactor returns the states of the rate limits even with an error.
// The server uses the one in the kit.Parts of a module.
type SecondFactorVerifier interface {
	VerifySecondFactor(ctx context.Context, userID store.ID, client Client, p Proof) (ratelimit.States, error)
}

// ChallengeError is the error for a sign-in that also requires the second factor of the user. Challenge is a secret that the
// client must send with the second factor.
type ChallengeError struct {
	Err       error
	Challenge string
}

func (e *ChallengeError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ChallengeError) Unwrap() error { return e.Err }

// Keys are the master keys. There can be several keys, so that a key can be replaced while the service is running.
type Keys struct{ digests [][sha256.Size]byte }

// NewKeys returns Keys that match each string in keys.
func NewKeys(keys []string) Keys {
	k := Keys{digests: make([][sha256.Size]byte, len(keys))}
	for i, key := range keys {
		k.digests[i] = sha256.Sum256([]byte(key))
	}
	return k
}

// Match reports whether s is one of the keys, in constant time.
func (k Keys) Match(s string) bool {
	digest, found := sha256.Sum256([]byte(s)), 0
	for i := range k.digests {
		found |= subtle.ConstantTimeCompare(digest[:], k.digests[i][:])
	}
	return found == 1
}

// DeriveKey derives a key of 32 bytes for a purpose from a secret with HKDF (RFC 5869).
func DeriveKey(secret, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, purpose, 32)
	if err != nil {
		panic(err) // unreachable: the length is valid
	}
	return key
}

// Tokens signs and verifies user tokens. User tokens are JSON Web Tokens with the claims sub (user ID), sid (session ID), iat and
// exp. The only accepted algorithm is HS256 (RFC 8725 section 3.1).
type Tokens struct {
	secret []byte
	ttl    time.Duration
	now    func() time.Time
	parser *jwt.Parser
}

// NewTokens returns Tokens that sign user tokens with secret. The user tokens expire after ttl.
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

// Sign returns a token for a session of a user. It also returns the expiry time of the token, truncated to seconds.
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
	key := func(parsed *jwt.Token) (any, error) {
		if _, ok := parsed.Header["crit"]; ok {
			return nil, errors.New("the header crit names an extension") // no extension is supported (RFC 7515 section 4.1.11)
		}
		return t.secret, nil
	}
	if _, err := t.parser.ParseWithClaims(token, &c, key); err != nil {
		return user, session, InvalidToken().WithCause(err)
	}
	user, okUser := store.ParseID(c.Subject)
	session, okSession := store.ParseID(c.Session)
	if !okUser || !okSession {
		return user, session, InvalidToken()
	}
	return user, session, nil
}
