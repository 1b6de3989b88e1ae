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

// idTokenTTL is how long Google's ID tokens live.
const idTokenTTL = time.Hour

// Change spoils an ID token.
type Change func(*idToken)

// idToken is an ID token before it is signed.
type idToken struct {
	claims    object
	algorithm string
	foreign   bool // signed with a key that is not published, under the name of one that is
}

// Claim sets a claim; nil takes it out.
func Claim(name string, value any) Change {
	return func(t *idToken) {
		t.claims[name] = value
		if value == nil {
			delete(t.claims, name)
		}
	}
}

// Algorithm signs with another algorithm than RS256: "none" leaves the signature out; HS256, HS384 and HS512 take the
// public key's PEM text for their secret (the confusion of RFC 8725 2.1); RS and PS ones take the same key.
func Algorithm(name string) Change { return func(t *idToken) { t.algorithm = name } }

// ForeignKey signs with a key that Google does not publish, under the key ID of the one it does.
func ForeignKey() Change { return func(t *idToken) { t.foreign = true } }

// IDToken returns an ID token as Google gives it to the app for a user, unless it is changed.
func (g *Google) IDToken(userID string, changes ...Change) string {
	u, _ := g.user(userID)
	t := accessToken{clientID: g.app.ID, userID: userID, scopes: g.scopes}
	return g.sign(g.claims(t, u), changes)
}

// claims are those of an ID token that goes with an access token.
func (g *Google) claims(t accessToken, u User) object {
	now, o := g.now(), profile(t, u)
	o["iss"], o["aud"], o["azp"] = g.Issuer(), t.clientID, t.clientID
	o["iat"], o["exp"] = now.Unix(), now.Add(idTokenTTL).Unix()
	return o
}

// sign makes a token of claims.
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

// accessTokenHash is the claim at_hash (OpenID Connect Core 1.0, 3.1.3.6).
func accessTokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

// keyring has the keys that sign ID tokens. Making one takes a moment: none is made before it is asked for.
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

// drop takes all keys but the newest out.
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

// signing returns the key to sign with and the ID to name.
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

// must is for what fails only if a test asks for something that cannot be, as an algorithm that there is not.
func must[T any](value T, err error) T {
	if err != nil {
		panic("providers: " + err.Error())
	}
	return value
}
