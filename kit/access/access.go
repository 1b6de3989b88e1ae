// Package access says who acts: the caller of a request, the credentials that prove it, and the rules a route can make.
// It knows nothing of HTTP; package middleware reads credentials from requests and holds callers against rules.
package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Rule is what a route asks of its caller.
type Rule int

// The rules. On a Public route a credential may be absent, but a bad one is refused.
const (
	Public   Rule = iota
	Master        // the master key
	User          // a user token
	Admin         // a user token of an admin
	Password      // HTTP Basic: e-mail and password of a user
	Foreign       // as Public, but the body's access_token is not ours: it is an identity provider's
)

// Role of a user.
type Role string

// The roles (seed: "role: admin is an allowed value").
const (
	RoleUser  Role = "user"
	RoleAdmin Role = "admin"
)

// Principal is the caller of a request. The zero value is an anonymous one.
type Principal struct {
	Master    bool     // proved the master key
	UserID    store.ID // of the user who proved a token or a password; zero for others
	SessionID store.ID // of the token's session
	Epoch     int64    // of the user's sessions; see user.User
	Role      Role
}

// Client is where a request comes from.
type Client struct {
	Address   string // IP address: the socket's, or what a trusted proxy says
	UserAgent string
	Trusted   bool // it proved the master key: a server that speaks for many clients
}

// IsUser reports whether a user acts.
func (p Principal) IsUser() bool { return !p.UserID.IsZero() }

// IsAdmin reports whether an admin acts. The master key is no admin: it is not a user.
func (p Principal) IsAdmin() bool { return p.IsUser() && p.Role == RoleAdmin }

// Is reports whether the user with the id acts.
func (p Principal) Is(id store.ID) bool { return p.IsUser() && p.UserID == id }

// MayChange fails with Forbidden unless the owner or an admin acts.
func (p Principal) MayChange(owner store.ID) error {
	if p.Is(owner) || p.IsAdmin() {
		return nil
	}
	return apperr.New(apperr.Forbidden, "Only the owner or an admin may do this.")
}

// TokenVerifier tells whose a user token is: Unauthorized unless the token is good, its session open and its user
// there, as of now.
type TokenVerifier interface {
	VerifyToken(ctx context.Context, token string) (Principal, error)
}

// BadToken is the Unauthorized of a user token that is good for nothing. It does not say why.
func BadToken() *apperr.Error {
	return apperr.New(apperr.Unauthorized, "The access token is not valid, or no longer. Sign in again.")
}

// PasswordVerifier tells whose e-mail and password these are: Unauthorized unless they are some user's. It takes the
// same time for an unknown e-mail as for a wrong password. TooManyRequests: the client, or all, guessed too often.
type PasswordVerifier interface {
	VerifyPassword(ctx context.Context, client Client, email, password string) (Principal, error)
}

// Keys are the master keys: several, so that one can be replaced while the service runs.
type Keys struct{ digests [][sha256.Size]byte }

// NewKeys takes the keys as configured.
func NewKeys(keys []string) Keys {
	k := Keys{digests: make([][sha256.Size]byte, len(keys))}
	for i, key := range keys {
		k.digests[i] = sha256.Sum256([]byte(key))
	}
	return k
}

// Match reports whether the text is one of the keys, in a time that tells nothing of how much of it is right.
func (k Keys) Match(text string) bool {
	digest, found := sha256.Sum256([]byte(text)), 0
	for i := range k.digests {
		found |= subtle.ConstantTimeCompare(digest[:], k.digests[i][:])
	}
	return found == 1
}
