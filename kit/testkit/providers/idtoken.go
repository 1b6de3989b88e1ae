package providers

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strconv"
	"strings"
	"sync"
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
	foreign   bool // signed with an unpublished key, under the ID of a published one
}

// Claim sets a claim; nil removes it.
func Claim(name string, value any) Change {
	return func(t *idToken) {
		t.claims[name] = value
		if value == nil {
			delete(t.claims, name)
		}
	}
}

// Algorithm signs with another algorithm than RS256: "none" omits the signature; HS256, HS384 and HS512 use the PEM form
// of the public key as their secret (RFC 8725 2.1); RS and PS algorithms use the same key.
func Algorithm(name string) Change { return func(t *idToken) { t.algorithm = name } }

// ForeignKey signs with an unpublished key, under the ID of the published one.
func ForeignKey() Change { return func(t *idToken) { t.foreign = true } }

// IDToken returns an ID token of a user for the app, with changes.
func (g *Google) IDToken(userID string, changes ...Change) string {
	u, _ := g.user(userID)
	t := accessToken{clientID: g.app.ID, userID: userID, scopes: g.scopes}
	return g.sign(g.claims(t, u), changes)
}

// claims returns the claims of an ID token for an access token.
func (g *Google) claims(t accessToken, u User) object {
	now, o := g.now(), profile(t, u)
	o["iss"], o["aud"], o["azp"] = g.Issuer(), t.clientID, t.clientID
	o["iat"], o["exp"] = now.Unix(), now.Add(idTokenTTL).Unix()
	return o
}

// sign returns a signed token with the claims.
func (g *Google) sign(claims object, changes []Change) string {
	t := &idToken{claims: claims, algorithm: string(jose.RS256)}
	for _, change := range changes {
		change(t)
	}
	payload := must(json.Marshal(t.claims))
	key, id := g.keys.signing(t.foreign)
	if t.algorithm == "none" {
		header := must(json.Marshal(object{"alg": "none", "kid": id, "typ": "JWT"}))
		return base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
	}
	jwk := jose.JSONWebKey{Key: key, KeyID: id}
	if strings.HasPrefix(t.algorithm, "HS") {
		jwk.Key = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(&key.PublicKey))})
	}
	signer := must(jose.NewSigner(
		jose.SigningKey{Algorithm: jose.SignatureAlgorithm(t.algorithm), Key: jwk}, (&jose.SignerOptions{}).WithType("JWT"),
	))
	return must(must(signer.Sign(payload)).CompactSerialize())
}

// accessTokenHash returns the claim at_hash (OpenID Connect Core 1.0, 3.1.3.6).
func accessTokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

// keyring has the keys that sign ID tokens. They are created on first use, because that is slow.
type keyring struct {
	mu      sync.Mutex
	made    int
	keys    []jose.JSONWebKey // published; the last one signs
	foreign *rsa.PrivateKey
}

// rotate adds a key.
func (k *keyring) rotate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add()
}

// drop removes all keys but the newest.
func (k *keyring) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current()
	k.keys = k.keys[len(k.keys)-1:]
}

// public returns the JWKS.
func (k *keyring) public() jose.JSONWebKeySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current()
	var set jose.JSONWebKeySet
	for _, key := range k.keys {
		set.Keys = append(set.Keys, key.Public())
	}
	return set
}

// signing returns the key to sign with, and its ID.
func (k *keyring) signing(foreign bool) (*rsa.PrivateKey, string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.current()
	if !foreign {
		return key.Key.(*rsa.PrivateKey), key.KeyID
	}
	if k.foreign == nil {
		k.foreign = must(rsa.GenerateKey(rand.Reader, 2048))
	}
	return k.foreign, key.KeyID
}

func (k *keyring) current() jose.JSONWebKey {
	if len(k.keys) == 0 {
		k.add()
	}
	return k.keys[len(k.keys)-1]
}

func (k *keyring) add() {
	k.made++
	k.keys = append(k.keys, jose.JSONWebKey{
		Key: must(rsa.GenerateKey(rand.Reader, 2048)), KeyID: "key-" + strconv.Itoa(k.made), Algorithm: string(jose.RS256), Use: "sig",
	})
}

// must panics on errors that only a mistake in a test can cause, such as an unknown algorithm.
func must[T any](value T, err error) T {
	if err != nil {
		panic("providers: " + err.Error())
	}
	return value
}
