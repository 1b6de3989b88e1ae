package providers

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// codeTTL is the lifetime of an authorization code at GitHub, and the maximum that RFC 6749 section 4.1.2 recommends.
const codeTTL = 10 * time.Minute

// The errors of redeem.
var (
	errCode     = errors.New("unknown, used or expired code")
	errRedirect = errors.New("another redirect_uri")
	errVerifier = errors.New("code_verifier is missing, wrong, or not expected")
)

// verifierForm is the format of a code_verifier (RFC 7636 section 4.1).
var verifierForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// grant is the authorization that a code represents.
type grant struct {
	clientID, redirectURI string
	scopes                []string
	challenge             string // S256 code_challenge; "" without PKCE
	nonce                 string // nonce of the authorization request, for the ID token (OpenID Connect Core section 3.1.2.1)
	userID                string
	expires               time.Time
}

type accessToken struct {
	value, clientID, userID string
	scopes                  []string
	nonce                   string // of the ID token that is issued with the access token
}

// may reports whether the token has at least one of the scopes.
func (t accessToken) may(scopes ...string) bool {
	return slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(t.scopes, scope) })
}

// Challenge returns the S256 code_challenge of a code_verifier (RFC 7636 section 4.2).
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Code returns an authorization code of a user for the app, with the scopes of a sign-in. The code is bound to redirectURI and,
// unless challenge is "", to that S256 code_challenge.
func (p *provider) Code(userID, redirectURI, challenge string) string {
	return p.code(grant{clientID: p.app.ID, redirectURI: redirectURI, scopes: p.scopes, challenge: challenge, userID: userID})
}

func (p *provider) code(g grant) string {
	code := rand.Text()
	g.expires = p.now().Add(codeTTL)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = g
	return code
}

// redeem exchanges the code of a request for an access token, and also returns the user. If the code belongs to the client,
// redeem deletes the code, even if the exchange fails. redeem checks redirect_uri only if the request has one.
func (p *provider) redeem(clientID string, r *http.Request) (accessToken, User, error) {
	code, redirectURI, verifier := r.FormValue("code"), r.FormValue("redirect_uri"), r.FormValue("code_verifier")
	p.mu.Lock()
	g, ok := p.codes[code]
	ok = ok && g.clientID == clientID
	if ok {
		delete(p.codes, code)
	}
	p.mu.Unlock()
	u, known := p.user(g.userID)
	switch {
	case !ok || !known || !p.now().Before(g.expires):
		return accessToken{}, User{}, errCode
	case redirectURI != "" && redirectURI != g.redirectURI:
		return accessToken{}, User{}, errRedirect
	case g.challenge == "" && verifier != "",
		g.challenge != "" && (!verifierForm.MatchString(verifier) || Challenge(verifier) != g.challenge):
		return accessToken{}, User{}, errVerifier
	}
	t := p.issue(clientID, u.ID, g.scopes)
	t.nonce = g.nonce
	return t, u, nil
}

// Token returns an access token of a user for the app. If scopes is empty, the token has the scopes of a sign-in.
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

// issue creates an access token with exactly the given scopes.
func (p *provider) issue(clientID, userID string, scopes []string) accessToken {
	t := accessToken{value: p.prefix + rand.Text() + rand.Text()[:10], clientID: clientID, userID: userID, scopes: scopes}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens[t.value] = t
	return t
}

// Expire invalidates an access token, as if it had expired or the user had withdrawn the consent.
func (p *provider) Expire(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tokens, token)
}

// token returns the access token with the value, and its user. It returns false if the token is unknown or expired.
func (p *provider) token(value string) (accessToken, User, bool) {
	p.mu.Lock()
	t, ok := p.tokens[value]
	p.mu.Unlock()
	if !ok {
		return accessToken{}, User{}, false
	}
	u, ok := p.user(t.userID)
	return t, u, ok
}

// bearer returns the bearer token of the Authorization header.
func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// knows reports whether a client ID belongs to the app.
func (p *provider) knows(clientID string) bool {
	return clientID != "" && (clientID == p.app.ID || slices.Contains(p.app.MoreIDs, clientID))
}
