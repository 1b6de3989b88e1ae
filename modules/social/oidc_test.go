package social

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/testkit/providers"
)

const (
	discoveryPath = "/.well-known/openid-configuration"
	certsPath     = "/oauth2/v3/certs"
)

var openIDSubject = subject{
	fake: func(now func() time.Time) providers.Fake { return providers.NewGoogle(clientApp, now) },
	connect: func(n *internet, address, secret string) provider {
		openIDOf(n).SetIssuer(address)
		o := openIDAt(address)
		o.secret = secret
		return n.environment().openID(o)
	},
	methods: append(codeMethods("/token", discoveryPath, certsPath),
		method{"access_token", tokenOf, []string{discoveryPath, "/tokeninfo", "/v1/userinfo"}, false},
		method{"id_token", func(n *internet, userID string) Proof { return Proof{IDToken: openIDOf(n).IDToken(userID)} }, []string{discoveryPath, certsPath}, false}),
	rejects: spoiledIDTokens(),
	foreign: map[string][]string{"/tokeninfo": {`{"aud":"999","sub":"1815"}`, `{"aud":"1234567890","azp":"999","sub":"1815"}`, `{"aud":"1234567890"}`}},
	revoked: map[string]int{"/v1/userinfo": 403},
	skip: func(path, response string) bool { // without keys every signature is invalid
		return path == certsPath && (response == "no fields" || response == "null")
	},
	partial: []partial{
		{"7", nil, Profile{Subject: "7"}},
		{"666", nil, Profile{Subject: "666", Email: "ada@example.com"}},
		{"8", nil, Profile{Subject: "8", Email: "ann@example.com", EmailVerified: true}},
		{"1815", []string{"openid"}, Profile{Subject: "1815"}},
	},
}

// openIDAt returns the configuration for a fake of Google.
func openIDAt(address string) openID {
	return openID{name: "OpenID", issuer: address, ids: []string{clientApp.ID, "ios-client"}, tokenInfo: address + "/tokeninfo"}
}

func openIDOf(n *internet) *providers.OpenID { return n.Fake.(*providers.OpenID) }

func spoiledIDTokens() map[string]func(*internet) Proof {
	const past = 1_700_000_000                                        // long before the time of the fake clock
	at := func(claim string, d time.Duration) func(*internet) Proof { // at a time relative to the fake clock
		return func(n *internet) Proof {
			return Proof{IDToken: openIDOf(n).IDToken(ada.ID, providers.Claim("exp", 4_000_000_000), providers.Claim(claim, n.clock.Now().Add(d).Unix()))}
		}
	}
	table := map[string]func(*internet) Proof{
		"no ID token":                        func(*internet) Proof { return Proof{IDToken: "a.b.c"} },
		"ID token issued in the future":      at("iat", 10*time.Hour),
		"ID token issued a long time ago":    at("iat", -25*time.Hour),
		"ID token that expired a minute ago": at("exp", -time.Minute),
		"changed ID token": func(n *internet) Proof {
			parts := strings.Split(openIDOf(n).IDToken(ada.ID), ".")
			claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
			parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(claims), ada.ID, "1816", 1)))
			return Proof{IDToken: strings.Join(parts, ".")}
		},
	}
	for name, change := range map[string]providers.Change{
		"ID token for another app":               providers.Claim("aud", providers.ForeignClientID),
		"ID token for us and another app":        providers.Claim("aud", []string{"1234567890", providers.ForeignClientID}),
		"ID token issued to another app":         providers.Claim("azp", providers.ForeignClientID),
		"ID token without a time of issue":       providers.Claim("iat", nil),
		"ID token without an audience":           providers.Claim("aud", nil),
		"ID token with an empty audience list":   providers.Claim("aud", []string{}),
		"expired ID token":                       providers.Claim("exp", past),
		"ID token that never expires":            providers.Claim("exp", nil),
		"ID token of the future":                 providers.Claim("nbf", 4_000_000_000),
		"ID token of another issuer":             providers.Claim("iss", "https://evil.example.com"),
		"ID token of the real Google":            providers.Claim("iss", "https://accounts.google.com"),
		"ID token of no issuer":                  providers.Claim("iss", nil),
		"ID token with claims of other types":    providers.Claim("name", 5),
		"unsigned ID token":                      providers.Algorithm("none"),
		"ID token signed with the public key":    providers.Algorithm("HS256"),
		"ID token with an unpublished algorithm": providers.Algorithm("PS256"),
		"ID token of another key":                providers.ForeignKey(),
	} {
		table[name] = func(n *internet) Proof { return Proof{IDToken: openIDOf(n).IDToken(ada.ID, change)} }
	}
	return table
}

func TestOpenID(t *testing.T) {
	t.Parallel()
	openIDSubject.run(t)
}

// TestOpenIDEndpoints rejects discovery documents with URLs that do not have the scheme of the issuer.
func TestOpenIDEndpoints(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"} {
		for _, address := range []string{"javascript:alert(1)", "javascript://x/%0aalert(1)", "data:text/html,x", "https://example.com/x", "file:///x", "//example.com/x", "/x", "http:///x", "\x01"} {
			discoveryWith(t, n, map[string]any{name: address})
			if got, _, err := n.connect().authorization(t.Context()); !apperr.Is(err, apperr.Unavailable) {
				t.Errorf("%s %q: %s, %v", name, address, got, err)
			}
		}
	}
}

// TestNonce accepts an ID token with the nonce of the proof, and any ID token if the proof has no nonce.
func TestNonce(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	with := openIDOf(n).IDToken(ada.ID, providers.Claim("nonce", "x"))
	for _, test := range []struct {
		nonce, idToken string
		want           apperr.Code
	}{
		{"x", with, ""}, {"", with, ""}, {"y", with, apperr.Unauthorized}, {"X", with, apperr.Unauthorized},
		{"x", openIDOf(n).IDToken(ada.ID), apperr.Unauthorized},
	} {
		n.respondJSON("/token", `{"access_token":"`+n.Token(ada.ID)+`","id_token":"`+test.idToken+`"}`)
		code := n.code(ada.ID)
		code.Nonce = test.nonce
		for _, proof := range []Proof{{IDToken: test.idToken, Nonce: test.nonce}, code} {
			if p, err := n.ask(t, proof); apperr.CodeOf(err) != test.want || err == nil && p.Subject != ada.ID {
				t.Errorf("%+v: %+v, %v", proof, p, err)
			}
		}
	}
	n.respondJSON("/token", `{"access_token":"`+n.Token(ada.ID)+`"}`)
	code := n.code(ada.ID)
	code.Nonce = "x"
	if p, err := n.ask(t, code); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("a code without an ID token: %+v, %v", p, err)
	}
}

// TestOpenIDDiscoveryAgain uses one client again after the issuer was unavailable, and after the issuer's keys have changed.
func TestOpenIDDiscoveryAgain(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	p := n.connect()
	prove := func() error {
		_, err := p.profile(t.Context(), Proof{IDToken: openIDOf(n).IDToken(ada.ID)})
		return err
	}
	for _, path := range []string{discoveryPath, certsPath} {
		n.clock.Advance(refetchKeys)
		n.Fail(providers.Broken, path)
		if err := prove(); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("without %s: %v", path, err)
		}
		n.Fail(providers.None, path)
		n.clock.Advance(retryDiscovery)
		if err := prove(); err != nil {
			t.Errorf("with %s again: %v", path, err)
		}
		openIDOf(n).RotateKey()
	}
	openIDOf(n).DropOldKeys()
	before := len(n.Requests()) // the last two requests for the keys were just made
	for range 2 {
		if err := prove(); !apperr.Is(err, apperr.Unauthorized) || len(n.Requests()) != before {
			t.Errorf("with a new key, soon after a request for the keys: %v, asked %v", err, n.Requests()[before:])
		}
	}
	n.clock.Advance(refetchKeys)
	if err := prove(); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	before = len(n.Requests())
	if err := prove(); err != nil || len(n.Requests()) != before {
		t.Errorf("with a known key: %v, asked %v", err, n.Requests()[before:])
	}
	openIDOf(n).RotateKey()
	openIDOf(n).DropOldKeys()
	if err := prove(); err != nil || len(n.Requests()) != before+1 {
		t.Errorf("with another new key, a second request: %v, asked %v", err, n.Requests()[before:])
	}
}

// TestOpenIDAudience accepts tokens of each of our clients, and no others.
func TestOpenIDAudience(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	for id, want := range map[string]apperr.Code{"1234567890": "", "ios-client": "", "android-client": apperr.Unauthorized, "": apperr.Unauthorized, "ios-client,": apperr.Unauthorized} {
		proofs := []Proof{{IDToken: openIDOf(n).IDToken(ada.ID, providers.Claim("aud", id))}}
		if id != "" { // an access token always has a client ID
			proofs = append(proofs, Proof{AccessToken: openIDOf(n).TokenFor(id, ada.ID)})
		}
		for _, proof := range proofs {
			if _, err := n.ask(t, proof); apperr.CodeOf(err) != want {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

// TestOpenIDCodeWithoutOpenID falls back to the access token if a code returns no ID token.
func TestOpenIDCodeWithoutOpenID(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	for token, want := range map[string]apperr.Code{n.Token(ada.ID): "", n.ForeignToken(ada.ID): apperr.Unauthorized} {
		n.respondJSON("/token", `{"access_token":"`+token+`"}`)
		if p, err := n.ask(t, n.code(ada.ID)); apperr.CodeOf(err) != want || err == nil && p.Subject != ada.ID {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// TestOpenIDEmailInUserInfo exchanges a code for an ID token without an email address. The address comes from userinfo.
func TestOpenIDEmailInUserInfo(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	noEmail := []providers.Change{providers.Claim("email", nil), providers.Claim("email_verified", nil)}
	exchange := func(userID string) {
		n.respondJSON("/token", `{"access_token":"`+n.Token(userID)+`","id_token":"`+openIDOf(n).IDToken(ada.ID, noEmail...)+`"}`)
	}
	exchange(ada.ID)
	if p, err := n.ask(t, n.code(ada.ID)); err != nil || p.Email != ada.Email || !p.EmailVerified || p.Subject != ada.ID {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := n.ask(t, Proof{IDToken: openIDOf(n).IDToken(ada.ID, noEmail...)}); err != nil || p.Email != "" {
		t.Errorf("an ID token alone: %+v, %v", p, err)
	}
	n.AddUser(providers.User{ID: "666"})
	exchange("666")
	if p, err := n.ask(t, n.code(ada.ID)); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("userinfo of another user: %+v, %v", p, err)
	}
}

// discoveryWith replaces fields of the discovery document.
func discoveryWith(t *testing.T, n *internet, change map[string]any) {
	t.Helper()
	document := map[string]any{
		"authorization_endpoint": n.address + "/o/oauth2/v2/auth", "issuer": n.address, "token_endpoint": n.address + "/token", "userinfo_endpoint": n.address + "/v1/userinfo", "jwks_uri": n.address + certsPath,
	}
	for name, value := range change {
		document[name] = value
	}
	raw, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	n.respondJSON(discoveryPath, string(raw))
}

// TestOpenIDAlgorithms accepts ID tokens of an issuer that signs with ES256, and logs why other tokens are rejected.
func TestOpenIDAlgorithms(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	var log bytes.Buffer
	n.log = slog.New(slog.NewTextHandler(&log, nil))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	jwk := jose.JSONWebKey{Key: key, KeyID: "ec", Algorithm: "ES256", Use: "sig"}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{jwk.Public()}})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jwk}, nil)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := json.Marshal(map[string]any{"iss": n.address, "aud": clientApp.ID, "sub": ada.ID, "iat": n.clock.Now().Unix(), "exp": n.clock.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	n.respondJSON(certsPath, string(keys))
	for _, test := range []struct {
		published []string
		want      apperr.Code
	}{{[]string{"RS256", "ES256"}, ""}, {[]string{"RS256"}, apperr.Unauthorized}, {nil, apperr.Unauthorized}, {[]string{"none", "HS256"}, apperr.Unauthorized}} {
		discoveryWith(t, n, map[string]any{"id_token_signing_alg_values_supported": test.published})
		log.Reset()
		if _, err := n.ask(t, Proof{IDToken: token}); apperr.CodeOf(err) != test.want {
			t.Errorf("%v: %v", test.published, err)
		}
		line := log.String()
		if test.want != "" && (!strings.Contains(line, "level=WARN") || !strings.Contains(line, "ES256")) || strings.Contains(line, token[:40]) || strings.Contains(line, token[len(token)-40:]) {
			t.Errorf("%v: the log has %q", test.published, line)
		}
	}
}

// TestOpenIDIssuerWithSlash accepts an issuer that ends in a slash, with and without the slash in the settings.
func TestOpenIDIssuerWithSlash(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	discoveryWith(t, n, map[string]any{"issuer": n.address + "/"})
	for _, issuer := range []string{n.address, n.address + "/"} {
		c := OIDCSettings{IDs: []string{clientApp.ID}, Secret: secret, Issuer: issuer, Scopes: []string{"openid"}}
		if invalid := invalidSettings(&c); invalid != "" {
			t.Fatal(invalid)
		}
		p := n.environment().openID(newOIDC("okta", c))
		for iss, want := range map[string]apperr.Code{n.address + "/": "", n.address: apperr.Unauthorized, n.address + "//": apperr.Unauthorized} {
			token := openIDOf(n).IDToken(ada.ID, providers.Claim("iss", iss))
			if _, err := p.profile(t.Context(), Proof{IDToken: token}); apperr.CodeOf(err) != want {
				t.Errorf("%s, token of %s: %v", issuer, iss, err)
			}
		}
	}
}

// TestOpenIDWithoutSecret rejects codes if no client secret is configured.
func TestOpenIDWithoutSecret(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	n.secret = ""
	if _, err := n.ask(t, n.code(ada.ID)); !apperr.Is(err, apperr.ValidationFailed) {
		t.Error(err)
	}
}

// TestOpenIDOddities signs in with ID tokens and issuers that differ from the standard, or from most providers.
func TestOpenIDOddities(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	for name, test := range map[string]struct {
		document map[string]any     // changes of the discovery document
		keys     string             // unknown keys before the provider's own
		claims   []providers.Change // of the ID token
		verified bool
		want     apperr.Code
	}{
		"verified as a string":      {claims: []providers.Change{providers.Claim("email_verified", "true")}, verified: true},
		"not verified, as a string": {claims: []providers.Change{providers.Claim("email_verified", "false")}},
		"verified as a number":      {claims: []providers.Change{providers.Claim("email_verified", 1)}},
		"no email_verified":         {claims: []providers.Change{providers.Claim("email_verified", nil)}},
		"no sub":                    {claims: []providers.Change{providers.Claim("sub", nil)}, want: apperr.Unauthorized},
		"an empty sub":              {claims: []providers.Change{providers.Claim("sub", "")}, want: apperr.Unauthorized},
		"a number as sub":           {claims: []providers.Change{providers.Claim("sub", 7)}, want: apperr.Unauthorized},
		"an audience list":          {claims: []providers.Change{providers.Claim("aud", []string{clientApp.ID})}, verified: true},
		"unknown algorithms":        {document: map[string]any{"id_token_signing_alg_values_supported": []string{"ES256K", "none", "ML-DSA-44", "RS256"}}, verified: true},
		"no algorithms":             {document: map[string]any{"id_token_signing_alg_values_supported": nil}, verified: true},
		"no userinfo":               {document: map[string]any{"userinfo_endpoint": nil}, verified: true},
		"unknown keys": {keys: `{"kty":"AKP","alg":"ML-DSA-44","kid":"a","pub":"AA"},{"kty":"OKP","crv":"Ed448","kid":"b","x":"AA"},` +
			`{"kty":"EC","crv":"secp256k1","alg":"ES256K","kid":"c","x":"AA","y":"AA"},{"kty":"AKP","kid":"d","pub":"AA"},` +
			`{"kty":"EC","crv":"secp256k1","kid":"e","x":"AA","y":"AA"},{"kty":"RSA","kid":"f"},{"kty":"oct","kid":"g","k":"AA"},{"kid":"h"},`, verified: true},
		"no authorization URL": {document: map[string]any{"authorization_endpoint": nil}, want: apperr.Unavailable},
	} {
		discoveryWith(t, n, test.document)
		n.respond(certsPath, nil)
		_, own, _ := strings.Cut(fetch(t, n.address+certsPath), "[")
		n.respondJSON(certsPath, `{"keys":[`+test.keys+own)
		p, err := n.ask(t, Proof{IDToken: openIDOf(n).IDToken(ada.ID, append(test.claims, providers.Claim("nonce", "x"))...)})
		if apperr.CodeOf(err) != test.want || p.EmailVerified != test.verified || err == nil && p.Subject != ada.ID {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// fetch returns the body of a response.
func fetch(t *testing.T, address string) string {
	t.Helper()
	var body json.RawMessage
	if _, err := newTestClient().get(t.Context(), address, "", &body); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestOpenIDClientAuthentication authenticates with a method that the issuer supports, by default client_secret_basic.
func TestOpenIDClientAuthentication(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	for _, test := range []struct {
		methods []string
		header  bool
	}{{nil, true}, {[]string{"client_secret_basic"}, true}, {[]string{"private_key_jwt", "client_secret_post"}, false}, {[]string{"client_secret_basic", "client_secret_post"}, false}} {
		discoveryWith(t, n, map[string]any{"token_endpoint_auth_methods_supported": test.methods})
		n.respond("/token", func(w http.ResponseWriter, r *http.Request) {
			id, password, header := r.BasicAuth()
			if !header {
				id, password = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
			}
			if header != test.header || id != clientApp.ID || password != secret {
				t.Errorf("%v: %t, %s", test.methods, header, id)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"access_token":"x","id_token":%q}`, openIDOf(n).IDToken(ada.ID))
		})
		if _, err := n.ask(t, n.code(ada.ID)); err != nil {
			t.Errorf("%v: %v", test.methods, err)
		}
	}
}

// TestOpenIDAccessToken rejects access tokens of providers that do not show which app a token was issued for.
func TestOpenIDAccessToken(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	o := openIDAt(n.address)
	o.tokenInfo, o.secret = "", secret
	p := n.environment().openID(o)
	if _, err := p.profile(t.Context(), tokenOf(n, ada.ID)); !apperr.Is(err, apperr.ValidationFailed) {
		t.Error(err)
	}
	n.respondJSON("/token", `{"access_token":"`+n.Token(ada.ID)+`"}`)
	if _, err := p.profile(t.Context(), n.code(ada.ID)); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("a code without an ID token: %v", err)
	}
}

// TestOpenIDDiscoveryOnce sends one request for concurrent calls, and no request for a few seconds after a failure.
func TestOpenIDDiscoveryOnce(t *testing.T) {
	t.Parallel()
	n := openIDSubject.start(t)
	p := n.connect()
	release, ended := make(chan struct{}), make(chan error)
	n.respond(discoveryPath, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.WriteHeader(http.StatusBadGateway)
	})
	call := func(ctx context.Context) {
		_, _, err := p.authorization(ctx)
		ended <- err
	}
	left, leave := context.WithCancel(t.Context())
	go call(left) // its client disconnects
	for range 9 {
		go call(t.Context())
	}
	leave()
	if err := <-ended; !apperr.Is(err, apperr.Unavailable) {
		t.Error(err)
	}
	close(release)
	for range 9 {
		if err := <-ended; !apperr.Is(err, apperr.Unavailable) {
			t.Error(err)
		}
	}
	n.respond(discoveryPath, nil)
	if _, _, err := p.authorization(t.Context()); !apperr.Is(err, apperr.Unavailable) || len(n.Requests()) != 0 {
		t.Errorf("soon after a failure: %v, %v", err, n.Requests())
	}
	n.clock.Advance(retryDiscovery)
	if _, _, err := p.authorization(t.Context()); err != nil || len(n.Requests()) != 1 {
		t.Errorf("later: %v, %v", err, n.Requests())
	}
}

func TestOIDCSettings(t *testing.T) {
	t.Parallel()
	valid := func() OIDCSettings {
		return OIDCSettings{Issuer: "https://example.com", IDs: []string{"1"}, Secret: "x", Scopes: []string{"openid"}}
	}
	for want, change := range map[string]func(*OIDCSettings){
		"": func(*OIDCSettings) {}, "OIDC__ISSUER": func(c *OIDCSettings) { c.Issuer = "example.com" }, "OIDC__SCOPES": func(c *OIDCSettings) { c.Scopes = []string{"email"} },
	} {
		c := valid()
		change(&c)
		if got := invalidSettings(&c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for name, want := range map[string]bool{"okta": true, "b2c": true, "refresh": false, "providers": false, "my-okta": false, "Okta": false, "1a": false, "": false, "facebook": Settings{}.all(environment{})["facebook"].name == ""} {
		s := Settings{OIDC: map[string]OIDCSettings{name: valid()}}
		var reported string
		s.Check(func(name, _ string) { reported += name })
		if (reported == "") != want {
			t.Errorf("%q: %s", name, reported)
		}
	}
	if !slices.Equal((&discovery{}).algorithms(), []string{"RS256"}) {
		t.Error("RS256 is not the default")
	}
	if o := newOIDC("okta", valid()); o.name != "Okta" {
		t.Error(o.name)
	}
}
