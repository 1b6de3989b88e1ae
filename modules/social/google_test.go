package social

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"log/slog"
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

var googleSubject = subject{
	fake: func(now func() time.Time) providers.Fake { return providers.NewGoogle(clientApp, now) },
	connect: func(n *internet, address, secret string) provider {
		googleOf(n).SetIssuer(address)
		ids := []string{clientApp.ID, "ios-client"}
		return provider{profile: newGoogle(GoogleSettings{IDs: ids, Secret: secret, Issuer: address}, newTestClient(), n.log, n.clock.Now).profile}
	},
	methods: append(codeMethods("/token", discoveryPath, certsPath),
		method{"access_token", tokenOf, []string{discoveryPath, "/tokeninfo", "/v1/userinfo"}, false},
		method{"id_token", func(n *internet, userID string) Proof { return Proof{IDToken: googleOf(n).IDToken(userID)} }, []string{discoveryPath, certsPath}, false}),
	rejects: spoiledIDTokens(),
	foreign: map[string][]string{"/tokeninfo": {`{"aud":"999","sub":"1815"}`, `{"aud":"1234567890"}`}},
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

func googleOf(n *internet) *providers.Google { return n.Fake.(*providers.Google) }

func spoiledIDTokens() map[string]func(*internet) Proof {
	const past = 1_700_000_000 // long before the time of the fake clock
	table := map[string]func(*internet) Proof{
		"no ID token": func(*internet) Proof { return Proof{IDToken: "a.b.c"} },
		"changed ID token": func(n *internet) Proof {
			parts := strings.Split(googleOf(n).IDToken(ada.ID), ".")
			claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
			parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(claims), ada.ID, "1816", 1)))
			return Proof{IDToken: strings.Join(parts, ".")}
		},
	}
	for name, change := range map[string]providers.Change{
		"ID token for another app":               providers.Claim("aud", providers.ForeignClientID),
		"ID token for us and another app":        providers.Claim("aud", []string{"1234567890", providers.ForeignClientID}),
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
		table[name] = func(n *internet) Proof { return Proof{IDToken: googleOf(n).IDToken(ada.ID, change)} }
	}
	return table
}

func TestGoogle(t *testing.T) {
	t.Parallel()
	googleSubject.run(t)
}

// TestGoogleDiscoveryAgain uses one client again after its issuer was unavailable, and after its keys have changed.
func TestGoogleDiscoveryAgain(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	google := n.connect()
	prove := func() error {
		_, err := google.profile(t.Context(), Proof{IDToken: googleOf(n).IDToken(ada.ID)})
		return err
	}
	for _, path := range []string{discoveryPath, certsPath} {
		n.Fail(providers.Broken, path)
		if err := prove(); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("without %s: %v", path, err)
		}
		n.Fail(providers.None, path)
		if err := prove(); err != nil {
			t.Errorf("with %s again: %v", path, err)
		}
		googleOf(n).RotateKey()
	}
	googleOf(n).DropOldKeys()
	if err := prove(); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	before := len(n.Requests())
	if err := prove(); err != nil || len(n.Requests()) != before {
		t.Errorf("with a known key: %v, asked %v", err, n.Requests()[before:])
	}
}

// TestGoogleAudience accepts tokens of each of our clients, and no others.
func TestGoogleAudience(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	for id, want := range map[string]apperr.Code{"1234567890": "", "ios-client": "", "android-client": apperr.Unauthorized, "": apperr.Unauthorized, "ios-client,": apperr.Unauthorized} {
		proofs := []Proof{{IDToken: googleOf(n).IDToken(ada.ID, providers.Claim("aud", id))}}
		if id != "" { // tokeninfo would have returned nothing
			proofs = append(proofs, Proof{AccessToken: googleOf(n).TokenFor(id, ada.ID)})
		}
		for _, proof := range proofs {
			if _, err := n.ask(t, proof); apperr.CodeOf(err) != want {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

// TestGoogleCodeWithoutOpenID falls back to the access token if a code returns no ID token.
func TestGoogleCodeWithoutOpenID(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	for token, want := range map[string]apperr.Code{n.Token(ada.ID): "", n.ForeignToken(ada.ID): apperr.Unauthorized} {
		n.respondJSON("/token", `{"access_token":"`+token+`"}`)
		if p, err := n.ask(t, n.code(ada.ID)); apperr.CodeOf(err) != want || err == nil && p.Subject != ada.ID {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// TestGoogleEmailInUserInfo exchanges a code for an ID token without an email address, which is then fetched from userinfo.
func TestGoogleEmailInUserInfo(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	noEmail := []providers.Change{providers.Claim("email", nil), providers.Claim("email_verified", nil)}
	exchange := func(userID string) {
		n.respondJSON("/token", `{"access_token":"`+n.Token(userID)+`","id_token":"`+googleOf(n).IDToken(ada.ID, noEmail...)+`"}`)
	}
	exchange(ada.ID)
	if p, err := n.ask(t, n.code(ada.ID)); err != nil || p.Email != ada.Email || !p.EmailVerified || p.Subject != ada.ID {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := n.ask(t, Proof{IDToken: googleOf(n).IDToken(ada.ID, noEmail...)}); err != nil || p.Email != "" {
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
		"issuer": n.address, "token_endpoint": n.address + "/token", "userinfo_endpoint": n.address + "/v1/userinfo", "jwks_uri": n.address + certsPath,
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

// TestGoogleAlgorithms accepts ID tokens of an issuer that signs with ES256, and logs why others are rejected.
func TestGoogleAlgorithms(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
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
	claims, err := json.Marshal(map[string]any{"iss": n.address, "aud": clientApp.ID, "sub": ada.ID, "exp": n.clock.Now().Add(time.Hour).Unix()})
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

// TestGoogleIssuerWithSlash accepts an issuer that ends in a slash, with and without it in the settings.
func TestGoogleIssuerWithSlash(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	discoveryWith(t, n, map[string]any{"issuer": n.address + "/"})
	for _, issuer := range []string{n.address, n.address + "/"} {
		s := GoogleSettings{IDs: []string{clientApp.ID}, Issuer: issuer}
		if invalid := invalidSettings(&s); invalid != "" {
			t.Fatal(invalid)
		}
		google := newGoogle(s, newTestClient(), n.log, n.clock.Now)
		for iss, want := range map[string]apperr.Code{n.address + "/": "", n.address: apperr.Unauthorized, n.address + "//": apperr.Unauthorized} {
			token := googleOf(n).IDToken(ada.ID, providers.Claim("iss", iss))
			if _, err := google.profile(t.Context(), Proof{IDToken: token}); apperr.CodeOf(err) != want {
				t.Errorf("%s, token of %s: %v", issuer, iss, err)
			}
		}
	}
}

// TestGoogleBothIssuers accepts both forms of Google's issuer.
func TestGoogleBothIssuers(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	g := newGoogle(GoogleSettings{IDs: []string{"1234567890"}, Issuer: googleIssuer}, newTestClient(), n.log, n.clock.Now)
	if g.tokenInfo != "https://oauth2.googleapis.com/tokeninfo" {
		t.Errorf("tokeninfo is at %s", g.tokenInfo)
	}
	fake := newGoogle(GoogleSettings{IDs: g.ids, Issuer: n.address}, newTestClient(), n.log, n.clock.Now)
	issuer, err := fake.discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	issuer.IssuerURL = googleIssuer
	for name, want := range map[string]apperr.Code{"https://accounts.google.com": "", "accounts.google.com": "", "http://accounts.google.com": apperr.Unauthorized, n.address: apperr.Unauthorized} {
		proof := Proof{IDToken: googleOf(n).IDToken(ada.ID, providers.Claim("iss", name))}
		if _, err := g.ofIDToken(t.Context(), issuer, proof); apperr.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGoogleWithoutSecret rejects codes, which need the secret.
func TestGoogleWithoutSecret(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	n.secret = ""
	if _, err := n.ask(t, n.code(ada.ID)); !apperr.Is(err, apperr.ValidationFailed) {
		t.Error(err)
	}
}

// TestGoogleAnotherUser rejects a profile of another user than the token's.
func TestGoogleAnotherUser(t *testing.T) {
	t.Parallel()
	n := googleSubject.start(t)
	n.respondJSON("/v1/userinfo", `{"sub":"1816","email":"eve@example.com","email_verified":true}`)
	if p, err := n.ask(t, tokenOf(n, ada.ID)); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestGoogleSettings(t *testing.T) {
	t.Parallel()
	for issuer, want := range map[string]string{
		"https://accounts.example.com": "", "https://accounts.example.com/": "", "https:///x": "GOOGLE_ISSUER", "https://user@example.com": "GOOGLE_ISSUER",
		"https://example.com?a=b": "GOOGLE_ISSUER", "https://example.com?": "GOOGLE_ISSUER", "": "GOOGLE_ISSUER",
	} {
		s := GoogleSettings{IDs: []string{"1"}, Issuer: issuer}
		if got := invalidSettings(&s); got != want {
			t.Errorf("%s: %s, want %s", issuer, got, want)
		}
	}
	if !slices.Equal((&discovery{}).algorithms(), []string{"RS256"}) {
		t.Error("RS256 is not the default")
	}
}
