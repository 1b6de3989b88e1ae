package link

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"example.com/ginseng/kit/store"
)

// Token is a stored token, without its secret.
type Token struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	Epoch      int64      `json:"epoch"`     // User.Epoch when the token was issued; it increases when all sessions of the user end
	Purpose    string     `json:"purpose"`   // "" if all tokens of the collection have the same purpose
	Email      string     `json:"email"`     // the email address that the token concerns, or ""
	Verified   bool       `json:"verified"`  // the user's email address was verified when the token was issued
	SteppedUp  bool       `json:"steppedUp"` // the request for the token was authenticated with the user's second factor
	Link       string     `json:"link"`      // the link that the request for the token contained, for an email that is sent later, or ""; see WithToken
	TokenHash  string     `json:"tokenHash"` // digest of the secret
	ExpiresAt  store.Time `json:"expiresAt"`
}

// Tokens is a collection of single-use tokens of users. The module that uses the collection must check the epoch and the
// purpose of a token, and must delete the token when it is used.
type Tokens struct {
	tokens *store.Collection[Token]
	now    func() time.Time
}

// secretBytes is the size of a secret: 256 bits of entropy (OWASP Forgot Password Cheat Sheet).
const secretBytes = 32

// NewTokens opens the collection that spec describes, with additional indexes for tokens. Call NewTokens before DB.Prepare.
func NewTokens(db store.DB, now func() time.Time, spec store.Spec) *Tokens {
	spec.Indexes = append(spec.Indexes, store.Index{Fields: []string{"tokenHash"}, Unique: true},
		store.Index{Fields: []string{"userId"}}, store.Index{Fields: []string{"expiresAt"}})
	return &Tokens{tokens: store.Open[Token](db, spec), now: now}
}

// Issue stores a token that is valid for ttl. It returns the secret, for WithToken, and the stored token with its ID, digest
// and expiry time. Only a digest of the secret is stored.
func (t *Tokens) Issue(ctx context.Context, token Token, ttl time.Duration) (secret string, stored Token, err error) {
	secret, token.TokenHash = NewSecret()
	now := t.now()
	token.Meta, token.ExpiresAt = store.NewMeta(store.NewID(), store.At(now)), store.At(now.Add(ttl))
	return secret, token, t.tokens.Insert(ctx, token)
}

// Find returns the token with the secret. NotFound: no token has the secret, or the token was deleted or has expired.
func (t *Tokens) Find(ctx context.Context, secret string) (Token, error) {
	token, err := t.tokens.First(ctx, store.Eq("tokenHash", Digest(secret)))
	if err == nil && !t.now().Before(token.ExpiresAt.Time) {
		return Token{}, store.ErrNotFound
	}
	return token, err
}

// Exists reports whether a token that has not expired matches the filter.
func (t *Tokens) Exists(ctx context.Context, f store.Filter) (bool, error) {
	return t.tokens.Exists(ctx, store.And(f, store.Gt("expiresAt", store.At(t.now()))))
}

// List returns the tokens that match the filter and have not expired.
func (t *Tokens) List(ctx context.Context, f store.Filter) ([]Token, error) {
	return t.tokens.List(ctx, store.Query{Filter: store.And(f, store.Gt("expiresAt", store.At(t.now())))})
}

// Delete deletes the tokens that match the filter and returns their number.
func (t *Tokens) Delete(ctx context.Context, f store.Filter) (int64, error) {
	return t.tokens.Delete(ctx, f)
}

// DeleteOf deletes the tokens of a user. It implements user.Dependent.
func (t *Tokens) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := t.Delete(ctx, store.Eq("userId", userID))
	return err
}

// Sweep deletes expired tokens. Call Sweep from a job of the module.
func (t *Tokens) Sweep(ctx context.Context) error {
	_, err := t.Delete(ctx, store.Lte("expiresAt", store.At(t.now())))
	return err
}

// NewSecret returns the secret of a new token, for WithToken, and its digest, which is stored.
func NewSecret() (secret, digest string) {
	raw := make([]byte, secretBytes)
	rand.Read(raw) // never fails: crypto/rand
	secret = base64.RawURLEncoding.EncodeToString(raw)
	return secret, Digest(secret)
}

// Digest returns the digest of a secret. A secret is random, so a fast hash is sufficient.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
