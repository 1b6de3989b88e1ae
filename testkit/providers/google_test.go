package providers_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"example.com/ginseng/testkit/providers"
)

// client returns the OpenID Connect client of an app, from a library that does not know the fake.
func client(t *testing.T, s site) (*oidc.Provider, *oidc.IDTokenVerifier) {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	return provider, provider.VerifierContext(t.Context(), &oidc.Config{ClientID: app.ID, Now: s.clock.Now})
}

// google starts a fake Google.
func google(t *testing.T) (*providers.OpenID, site) {
	t.Helper()
	g, s := start(t, providers.NewGoogle)
	g.SetIssuer(s.url)
	return g, s
}

func TestGoogleSignIn(t *testing.T) {
	t.Parallel()
	_, s := google(t)
	provider, verify := client(t, s)
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // other tests send the secret in the form
	config := oauth2.Config{
		ClientID: app.ID, ClientSecret: app.Secret, RedirectURL: callback, Endpoint: endpoint, Scopes: []string{"openid", "email", "profile"},
	}
	to, err := url.Parse(config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier), oidc.Nonce("n-0S6_WzA2Mj")))
	if err != nil {
		t.Fatal(err)
	}
	code := s.back(to.Path, to.Query(), url.Values{"user": {ada.ID}, "decision": {"allow"}}).Query().Get("code")
	token, err := config.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := verify.Verify(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Email, Name, Picture, Azp string
		Verified                  bool `json:"email_verified"`
	}
	if err := id.Claims(&claims); err != nil {
		t.Fatal(err)
	}
	if id.Nonce != "n-0S6_WzA2Mj" || id.Subject != ada.ID || claims.Email != ada.Email || !claims.Verified || claims.Name != ada.Name || claims.Picture != ada.Picture || claims.Azp != app.ID {
		t.Errorf("%+v %+v", id, claims)
	}
	info, err := provider.UserInfo(t.Context(), config.TokenSource(t.Context(), token))
	if err != nil || info.Subject != ada.ID || info.Email != ada.Email || !info.EmailVerified {
		t.Errorf("%+v, %v", info, err)
	}
}

// consent returns the code that is issued when Ada consents to a request.
func (s site) consent(changes ...string) string {
	s.t.Helper()
	return s.back("/o/oauth2/v2/auth", ask(changes...), url.Values{"user": {ada.ID}, "decision": {"allow"}}).Query().Get("code")
}

func TestGoogleExchange(t *testing.T) {
	t.Parallel()
	g, s := google(t)
	code := func() string { return g.Code(ada.ID, callback, providers.Challenge(verifier)) }
	s.do("POST", "/token", exchange(code())).holds(t, 200, `"expires_in":3599`, `"token_type":"Bearer"`, `"id_token":"`,
		`"scope":"openid email profile"`)
	for _, row := range []struct {
		form   url.Values
		status int
		code   string
	}{
		{exchange(code(), "client_id", "x"), 401, "invalid_client"},
		{exchange(code(), "client_secret", "x"), 401, "invalid_client"},
		{exchange(code(), "client_secret", "-"), 401, "invalid_client"},
		{exchange(code(), "grant_type", "-"), 400, "unsupported_grant_type"},
		{exchange(code(), "redirect_uri", "-"), 400, "invalid_request"},
		{exchange(code(), "redirect_uri", "https://x.example"), 400, "redirect_uri_mismatch"},
		{exchange("x"), 400, "invalid_grant"},
		{exchange(code(), "code_verifier", "-"), 400, "invalid_grant"},
		{exchange(code(), "code_verifier", strings.Repeat("x", 43)), 400, "invalid_grant"},
		{exchange(g.Code(ada.ID, callback, "")), 400, "invalid_grant"},
	} {
		s.do("POST", "/token", row.form).holds(t, row.status, `"error":"`, row.code)
	}
	s.do("POST", "/token", exchange(code(), "client_secret", "-"), "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(app.ID+":x"))).
		holds(t, 401, "invalid_client")
	s.do("POST", "/token", exchange(s.consent("scope", "email"))).holds(t, 200, `"access_token":"`)
	if s.do("POST", "/token", exchange(s.consent("scope", "email"))).text("id_token") != "" {
		t.Error("an ID token without openid")
	}
	phone := s.consent("client_id", "ios-client")
	s.do("POST", "/token", exchange(phone)).holds(t, 400, "invalid_grant")
	s.do("POST", "/token", exchange(phone, "client_id", "ios-client", "client_secret", "-")).holds(t, 200, `"id_token":"`)
}

// TestGoogleIDToken checks each way to make an ID token invalid: a verifier must reject the token, and must accept it with that
// one check disabled.
func TestGoogleIDToken(t *testing.T) {
	t.Parallel()
	g, s := google(t)
	provider, verify := client(t, s)
	id, err := verify.Verify(t.Context(), g.IDToken(ada.ID))
	if err != nil || id.Subject != ada.ID {
		t.Fatal(err)
	}
	config := oidc.Config{ClientID: app.ID, Now: s.clock.Now}
	for name, row := range map[string]struct {
		change providers.Change
		lax    func(*oidc.Config)
	}{
		"audience":    {providers.Claim("aud", providers.ForeignClientID), func(c *oidc.Config) { c.SkipClientIDCheck = true }},
		"issuer":      {providers.Claim("iss", "https://x.example"), func(c *oidc.Config) { c.SkipIssuerCheck = true }},
		"expiry":      {providers.Claim("exp", s.clock.Now().Add(-time.Second).Unix()), func(c *oidc.Config) { c.SkipExpiryCheck = true }},
		"none":        {providers.Algorithm("none"), func(c *oidc.Config) { c.InsecureSkipSignatureCheck = true }},
		"RS512":       {providers.Algorithm("RS512"), func(c *oidc.Config) { c.SupportedSigningAlgs = []string{"RS512"} }},
		"foreign key": {providers.ForeignKey(), func(c *oidc.Config) { c.InsecureSkipSignatureCheck = true }},
	} {
		token := g.IDToken(ada.ID, row.change)
		if _, err := verify.Verify(t.Context(), token); err == nil {
			t.Errorf("%s: not spoiled", name)
		}
		lax := config
		row.lax(&lax)
		if _, err := provider.VerifierContext(t.Context(), &lax).Verify(t.Context(), token); err != nil {
			t.Errorf("%s: spoiled in more than one way: %v", name, err)
		}
	}
	id, err = verify.Verify(t.Context(), g.IDToken(ada.ID, providers.Claim("nonce", "x"), providers.Claim("email", nil)))
	var claims map[string]json.RawMessage
	if err != nil || id.Nonce != "x" || id.Claims(&claims) != nil || claims["email"] != nil || claims["name"] == nil {
		t.Errorf("%+v %s, %v", id, claims, err)
	}
	s.clock.Advance(time.Hour)
	if _, err := verify.Verify(t.Context(), g.IDToken(ada.ID)); err != nil {
		t.Error(err)
	}
}

// TestGoogleConfusion signs an ID token that a verifier accepts only if it uses the public key as an HMAC secret.
func TestGoogleConfusion(t *testing.T) {
	t.Parallel()
	g, s := google(t)
	token := g.IDToken(ada.ID, providers.Algorithm("HS256"))
	_, verify := client(t, s)
	if _, err := verify.Verify(t.Context(), token); err == nil {
		t.Error("not spoiled")
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(s.get("/oauth2/v3/certs").body), &set); err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(set.Keys[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.HS256})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parsed.Verify(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})); err != nil {
		t.Error(err)
	}
}

func TestGoogleKeys(t *testing.T) {
	t.Parallel()
	g, s := google(t)
	_, verify := client(t, s)
	valid := func(token string) bool {
		_, err := verify.Verify(t.Context(), token)
		return err == nil
	}
	old := g.IDToken(ada.ID)
	g.RotateKey()
	fresh := g.IDToken(ada.ID)
	if !valid(old) || !valid(fresh) {
		t.Error("both keys are published")
	}
	g.DropOldKeys()
	if _, verify = client(t, s); valid(old) || !valid(fresh) {
		t.Error("only the new key is published")
	}
	if a := s.get("/oauth2/v3/certs"); strings.Contains(a.body, `"d":`) || !strings.Contains(a.body, `"alg":"RS256"`) {
		t.Error(a.body)
	}
}

func TestGoogleTokenInfo(t *testing.T) {
	t.Parallel()
	g, s := google(t)
	info := func(token string) response { return s.get("/tokeninfo?access_token=" + url.QueryEscape(token)) }
	token := g.Token(ada.ID)
	info(token).holds(t, 200, `"aud":"1234567890"`, `"azp":"1234567890"`, `"sub":"1815"`, `"expires_in":"3599"`, `"email":"ada@example.com"`, `"email_verified":"true"`, `"scope":"openid email profile"`)
	info(g.Token(eve.ID)).holds(t, 200, `"email_verified":"false"`)
	info(g.ForeignToken(ada.ID)).holds(t, 200, `"aud":"`+providers.ForeignClientID+`"`)
	info(g.TokenFor("ios-client", ada.ID)).holds(t, 200, `"aud":"ios-client"`)
	for _, hidden := range []string{g.Token(ada.ID, "openid"), g.Token(bob.ID)} {
		if a := info(hidden); a.status != 200 || strings.Contains(a.body, `"email"`) {
			t.Errorf("%+v", a)
		}
	}
	for _, bad := range []string{"", "x"} {
		info(bad).holds(t, 400, `"error":"invalid_token"`)
	}
	s.get("/v1/userinfo", "Authorization", "Bearer "+token).holds(t, 200, `"sub":"1815"`, `"email_verified":true`, `"name":"Ada Lovelace"`)
	if a := s.get("/v1/userinfo", "Authorization", "Bearer "+g.Token(ada.ID, "openid")); a.status != 200 || strings.Contains(a.body, "Ada") || strings.Contains(a.body, "email") {
		t.Errorf("%+v", a)
	}
	s.get("/v1/userinfo").holds(t, 401)
	g.Expire(token)
	info(token).holds(t, 400, "Invalid Value")
	s.get("/v1/userinfo", "Authorization", "Bearer "+token).holds(t, 401)
}
