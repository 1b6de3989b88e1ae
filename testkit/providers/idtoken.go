package providers

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// idTokenTTL is the lifetime of Google's ID tokens.
const idTokenTTL = time.Hour

// Change changes an ID token before it is signed.
type Change func(*idToken)

// idToken is an unsigned ID token.
type idToken struct {
	claims    object
	algorithm string
	foreign   bool // signed with an unpublished key, under the ID of a published key
}

// Claim sets a claim, or removes the claim if value is nil.
func Claim(name string, value any) Change {
	return func(t *idToken) {
		t.claims[name] = value
		if value == nil {
			delete(t.claims, name)
		}
	}
}

// Algorithm signs with an algorithm other than RS256. RS and PS algorithms use the same key as RS256. HS256, HS384 and HS512 use
// the PEM form of its public key as their secret (RFC 8725 section 2.1). "none" omits the signature.
func Algorithm(name string) Change { return func(t *idToken) { t.algorithm = name } }

// ForeignKey signs with an unpublished key, under the ID of the published key.
func ForeignKey() Change { return func(t *idToken) { t.foreign = true } }

// IDToken returns an ID token of a user for the app, with changes.
func (g *OpenID) IDToken(userID string, changes ...Change) string {
	u, _ := g.user(userID)
	return g.sign(g.claims(accessToken{clientID: g.app.ID, scopes: g.scopes}, u), changes)
}

// claims returns the claims of the ID token that is issued with an access token.
func (g *OpenID) claims(t accessToken, u User) object {
	now, o := g.now(), profile(t, u)
	o["iss"], o["aud"], o["azp"] = g.issuedBy(), t.clientID, t.clientID
	o["iat"], o["exp"] = now.Unix(), now.Add(idTokenTTL).Unix()
	if t.nonce != "" {
		o["nonce"] = t.nonce
	}
	if g.change != nil {
		g.change(g, o)
	}
	return o
}

func (g *OpenID) sign(claims object, changes []Change) string {
	t := &idToken{claims: claims, algorithm: string(jose.RS256)}
	for _, change := range changes {
		change(t)
	}
	payload := must(json.Marshal(t.claims))
	published := g.published()
	jwk := published[len(published)-1]
	if t.algorithm == "none" {
		header := must(json.Marshal(object{"alg": "none", "kid": jwk.KeyID, "typ": "JWT"}))
		return base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
	}
	if t.foreign {
		jwk.Key = must(rsa.GenerateKey(rand.Reader, 2048))
	}
	if strings.HasPrefix(t.algorithm, "HS") {
		jwk.Key = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(jwk.Public().Key))})
	}
	jwk.Algorithm = t.algorithm
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(t.algorithm), Key: jwk}, (&jose.SignerOptions{}).WithType("JWT")))
	return must(must(signer.Sign(payload)).CompactSerialize())
}

// RotateKey replaces the signing key. Tokens signed with old keys stay valid.
func (g *OpenID) RotateKey() {
	g.published() // so that there is an old key
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addKey()
}

// DropOldKeys removes all keys except the newest from the JWKS.
func (g *OpenID) DropOldKeys() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys = g.keys[max(0, len(g.keys)-1):]
}

// published returns the keys. The first key is created on first use, because its creation is slow.
func (g *OpenID) published() []jose.JSONWebKey {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.keys) == 0 {
		g.addKey()
	}
	return g.keys
}

func (g *OpenID) addKey() {
	g.made++
	g.keys = append(g.keys, jose.JSONWebKey{
		Key: must(rsa.GenerateKey(rand.Reader, 2048)), KeyID: "key-" + strconv.Itoa(g.made), Algorithm: string(jose.RS256), Use: "sig",
	})
}

func (g *OpenID) certificates(w http.ResponseWriter, _ *http.Request) {
	var set jose.JSONWebKeySet
	for _, key := range g.published() {
		set.Keys = append(set.Keys, key.Public())
	}
	writeJSON(w, http.StatusOK, set)
}

// must panics on errors that only a mistake in a test can cause, such as an unknown algorithm.
func must[T any](value T, err error) T {
	if err != nil {
		panic("providers: " + err.Error())
	}
	return value
}
