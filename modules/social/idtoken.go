package social

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"example.com/ginseng/kit/store"
)

// idToken identifies an ID token.
type idToken struct {
	id    store.ID  // digest of the claims: the encoded token and its signature can be changed without becoming invalid
	until time.Time // time until which the ID token is accepted
}

// claims are the claims of an ID token or of a userinfo response (OpenID Connect Core section 5.1).
type claims struct {
	Subject       string `json:"sub"`
	Email         string
	EmailVerified flag `json:"email_verified"`
	Name          string
	Picture       string
	Tenant        string `json:"tid"` // Microsoft's ID of the tenant
	Authorized    string `json:"azp"` // the client to which the ID token was issued
}

// flag is a boolean that can be encoded as a string.
type flag bool

// UnmarshalJSON decodes true and "true" as true, and everything else as false.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = flag(strings.Trim(string(b), `"`) == "true")
	return nil
}

// ofIDToken returns the proof's ID token and its claims. If the ID token has no email address and the proof also has an access
// token, ofIDToken gets the claims from the userinfo endpoint (OpenID Connect Core section 5.4).
func (o *openIDClient) ofIDToken(ctx context.Context, issuer *discovery, proof Proof) (c claims, token idToken, err error) {
	keys := &keySetRecorder{KeySet: issuer.keys}
	c, token.until, err = o.verify(ctx, issuer, keys, proof)
	switch {
	case keys.fetchErr != nil:
		return c, token, unavailable(keys.fetchErr)
	case err != nil:
		return c, token, o.reject(ctx, err)
	case c.Email == "" && proof.AccessToken != "" && issuer.UserInfoURL != "":
		c, err = o.userInfo(ctx, issuer, proof.AccessToken, c.Subject)
	}
	sum := sha256.Sum256(keys.payload)
	token.id = store.ID(sum[:len(store.ID{})])
	return c, token, err
}

// verify returns the claims of the proof's ID token, and the time until which the ID token is accepted. It verifies the
// signature, the issuer, the times and the nonce, and that the ID token was issued to and for only our client IDs (OpenID Connect
// Core section 3.1.3.7).
func (o *openIDClient) verify(ctx context.Context, issuer *discovery, keys oidc.KeySet, proof Proof) (c claims, until time.Time, err error) {
	token, err := oidc.NewVerifier(issuer.IssuerURL, keys, &oidc.Config{
		SkipIssuerCheck:      o.tokenIssuer != nil, // checked below
		SkipClientIDCheck:    true,                 // checked below, with several IDs
		SupportedSigningAlgs: issuer.algorithms(), Now: o.now,
	}).Verify(ctx, proof.IDToken)
	if err != nil {
		return c, until, err
	}
	if err := token.Claims(&c); err != nil {
		return c, until, err
	}
	foreign := func(id string) bool { return !slices.Contains(o.ids, id) }
	now, old := o.now(), token.IssuedAt.Add(maxTokenAge)
	switch {
	case token.Issuer == "" || o.tokenIssuer != nil && token.Issuer != o.tokenIssuer(issuer.IssuerURL, c):
		err = errors.New("the issuer does not belong to the tenant in tid")
	case len(token.Audience) == 0 || slices.ContainsFunc(token.Audience, foreign):
		err = errors.New("the audience is empty, or contains an ID that is not a client ID in the settings")
	case c.Authorized != "" && foreign(c.Authorized):
		err = errors.New("azp is not a client ID in the settings")
	case c.Subject == "":
		err = errors.New("sub is missing")
	case token.IssuedAt.After(now.Add(clockSkew)) || old.Before(now):
		err = errors.New("iat is missing, in the future, or more than 24 hours ago")
	case proof.Nonce != "" && proof.Nonce != token.Nonce:
		err = errors.New("nonce is not the nonce of the request")
	}
	if old.After(token.Expiry) {
		return c, token.Expiry, err
	}
	return c, old, err
}

const (
	// maxTokenAge is the maximum age of an ID token. It limits how long an ID token is stored; see Service.use.
	maxTokenAge = 24 * time.Hour
	clockSkew   = 5 * time.Minute // how far the clocks of a provider and of instances may be ahead
)

// algorithms returns the asymmetric algorithms with which the issuer signs. Public keys cannot verify signatures of other
// algorithms.
func (d *discovery) algorithms() []string {
	asymmetric := []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
	}
	out := slices.DeleteFunc(slices.Clone(d.Algorithms), func(name string) bool { return !slices.Contains(asymmetric, name) })
	if len(out) == 0 {
		return []string{oidc.RS256} // required of every issuer (OpenID Connect Core section 15.1)
	}
	return out
}

// keySetRecorder records the payload of an ID token. It also records the error if a KeySet cannot fetch its keys: then the
// provider is unavailable, and the token may be valid. The error that the verifier returns does not wrap the error of the KeySet.
// A remote KeySet wraps another error only if it failed to fetch its keys.
type keySetRecorder struct {
	oidc.KeySet
	payload  []byte
	fetchErr error
}

func (r *keySetRecorder) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	r.payload, err = r.KeySet.VerifySignature(ctx, token)
	r.fetchErr = errors.Unwrap(err)
	return r.payload, err
}
