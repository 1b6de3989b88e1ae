package providers

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// codeTTL is the lifetime of an authorization code: ten minutes at GitHub, the maximum of RFC 6749 4.1.2.
const codeTTL = 10 * time.Minute

// The code challenge methods (RFC 7636 4.2).
const (
	methodS256  = "S256"
	methodPlain = "plain"
)

// The reasons why a code is not exchanged.
var (
	errUnknownCode      = errors.New("unknown code")
	errUsedCode         = errors.New("used code")
	errExpiredCode      = errors.New("expired code")
	errRedirect         = errors.New("another redirect_uri")
	errMissingVerifier  = errors.New("code_verifier missing")
	errWrongVerifier    = errors.New("code_verifier wrong")
	errNeedlessVerifier = errors.New("code_verifier without code_challenge")
)

// verifierForm is the format of a code_verifier (RFC 7636 4.1).
var verifierForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// challengeForm is the format of a code_challenge (RFC 7636 4.2): with S256, 32 bytes in base64url.
var challengeForm = map[string]*regexp.Regexp{
	methodS256:  regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`),
	methodPlain: verifierForm,
}

// authorization is what a client requests.
type authorization struct {
	clientID, redirectURI string
	scopes                []string
	challenge, method     string
	nonce                 string
}

// grant is what a code is exchanged for.
type grant struct {
	authorization
	userID  string
	expires time.Time
	used    bool
}

// accessToken is an issued access token.
type accessToken struct {
	value            string
	clientID, userID string
	scopes           []string
	issued, expires  time.Time // expires is zero if the token does not expire
}

// may reports whether the token has one of the scopes.
func (t accessToken) may(scopes ...string) bool {
	return slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(t.scopes, scope) })
}

// Challenge returns the S256 code_challenge of a code_verifier (RFC 7636 4.2).
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Code returns an authorization code for the app, with the scopes of a sign-in, bound to the redirectURI, and to an S256
// challenge unless that is empty.
func (p *provider) Code(userID, redirectURI, challenge string) string {
	return p.code(userID, authorization{
		clientID: p.app.ID, redirectURI: redirectURI, scopes: p.scopes, challenge: challenge, method: methodS256,
	})
}

func (p *provider) code(userID string, a authorization) string {
	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = &grant{authorization: a, userID: userID, expires: p.now().Add(codeTTL)}
	return code
}

// redeem exchanges a code for its grant. The code is used up also if the exchange fails. An empty redirectURI is not
// compared.
func (p *provider) redeem(clientID, code, redirectURI, verifier string) (grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.codes[code]
	switch {
	case g == nil || g.clientID != clientID:
		return grant{}, errUnknownCode
	case g.used:
		return grant{}, errUsedCode
	}
	g.used = true
	switch {
	case !p.now().Before(g.expires):
		return grant{}, errExpiredCode
	case redirectURI != "" && redirectURI != g.redirectURI:
		return grant{}, errRedirect
	}
	return *g, g.verify(verifier)
}

// verify compares a code_verifier with the challenge (RFC 7636 4.6).
func (g *grant) verify(verifier string) error {
	derived := verifier
	if g.method == methodS256 {
		derived = Challenge(verifier)
	}
	switch {
	case g.challenge == "" && verifier == "":
		return nil
	case g.challenge == "":
		return errNeedlessVerifier
	case verifier == "":
		return errMissingVerifier
	case !verifierForm.MatchString(verifier) || derived != g.challenge:
		return errWrongVerifier
	}
	return nil
}

// Token returns an access token of a user for the app, with the scopes of a sign-in by default.
func (p *provider) Token(userID string, scopes ...string) string {
	return p.TokenFor(p.app.ID, userID, scopes...)
}

// ForeignToken returns an access token of a user for another app.
func (p *provider) ForeignToken(userID string, scopes ...string) string {
	return p.TokenFor(ForeignClientID, userID, scopes...)
}

// TokenFor returns an access token of a user for a client.
func (p *provider) TokenFor(clientID, userID string, scopes ...string) string {
	if len(scopes) == 0 {
		scopes = p.scopes
	}
	return p.issue(clientID, userID, scopes).value
}

// issue creates an access token with exactly these scopes.
func (p *provider) issue(clientID, userID string, scopes []string) accessToken {
	t := accessToken{
		value:    p.prefix + rand.Text() + rand.Text()[:10], // as long as GitHub's
		clientID: clientID, userID: userID, scopes: scopes, issued: p.now(),
	}
	if p.ttl > 0 {
		t.expires = t.issued.Add(p.ttl)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens[t.value] = t
	return t
}

// Expire ends an access token, as expiry or a withdrawn consent does.
func (p *provider) Expire(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.tokens[token]; ok {
		t.expires = p.now()
		p.tokens[token] = t
	}
}

// token returns an access token, also an expired one.
func (p *provider) token(value string) (accessToken, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.tokens[value]
	return t, ok
}

// expired reports whether a token has expired.
func (p *provider) expired(t accessToken) bool {
	return !t.expires.IsZero() && !p.now().Before(t.expires)
}

// live returns an access token that has not expired, and its user.
func (p *provider) live(value string) (accessToken, User, bool) {
	t, ok := p.token(value)
	if !ok || p.expired(t) {
		return accessToken{}, User{}, false
	}
	u, ok := p.user(t.userID)
	return t, u, ok
}

// bearer returns the token of the Authorization header. GitHub also accepts the scheme token.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "token") {
		return token
	}
	return ""
}

// same compares secrets.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
