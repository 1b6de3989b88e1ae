package providers

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// OpenID is a fake of the OpenID provider of Google, Microsoft, Apple or GitLab. The fake serves the provider's paths below one
// address. It follows this documentation:
//
//   - Google: developers.google.com/identity/openid-connect/openid-connect for discovery, the authorization, the exchange,
//     the claims of an ID token and userinfo; …/identity/protocols/oauth2/web-server and …/native-app for PKCE, installed
//     clients without a secret, and errors; …/identity/protocols/OAuth2UserAgent#validate-access-token for tokeninfo
//   - Microsoft: learn.microsoft.com/entra/identity-platform/v2-protocols-oidc and …/id-token-claims-reference: the issuer
//     contains the user's tenant; tokens do not have email_verified
//   - Apple: developer.apple.com/documentation/signinwithapplerestapi: the client secret is a JWT; there is no userinfo, and
//     email_verified can be a string
//   - GitLab: docs.gitlab.com/integration/openid_connect_provider
type OpenID struct {
	*provider
	dialect
	issuer string
	made   int               // number of keys created so far
	keys   []jose.JSONWebKey // published keys; the last one signs
	appKey *ecdsa.PrivateKey // Apple: signs the client secrets of the app
}

// dialect describes how a provider uses OpenID Connect. Paths are relative to the provider's address.
type dialect struct {
	name                                              string
	discoveryPath                                     string // "": the path of the standard
	authorizePath, tokenPath, certsPath, userInfoPath string
	issuerPath                                        string                              // path of the issuer in discovery
	secret                                            func(g *OpenID, secret string) bool // checks the client secret; nil: it must be App.Secret
	change                                            func(g *OpenID, claims object)      // changes the claims of a user
	document                                          object                              // additional fields of the discovery document
}

const wellKnown = "/.well-known/openid-configuration"

// NewGoogle returns a fake of Google with one app and no user. Call SetIssuer before use.
func NewGoogle(app App, now func() time.Time) *OpenID {
	g := newOpenID(app, now, "ya29.", dialect{
		name: "Google", authorizePath: "/o/oauth2/v2/auth", tokenPath: "/token", certsPath: "/oauth2/v3/certs", userInfoPath: "/v1/userinfo",
		document: object{"code_challenge_methods_supported": []string{"S256"}},
	})
	g.mux.HandleFunc("/tokeninfo", g.tokenInfo)
	return g
}

// NewGitLab returns a fake of GitLab; see NewGoogle.
func NewGitLab(app App, now func() time.Time) *OpenID {
	return newOpenID(app, now, "gitlab.", dialect{
		name: "GitLab", authorizePath: "/oauth/authorize", tokenPath: "/oauth/token", certsPath: "/oauth/discovery/keys",
		userInfoPath: "/oauth/userinfo",
		document:     object{"code_challenge_methods_supported": []string{"plain", "S256"}},
	})
}

// MicrosoftTenant is the tenant of the users of the fake Microsoft.
const MicrosoftTenant = "4e2d5b5c-3b8f-4d5e-9b1a-0a6c1f0e7d21"

// NewMicrosoft returns a fake of Microsoft with the tenant common; see NewGoogle.
func NewMicrosoft(app App, now func() time.Time) *OpenID {
	return newOpenID(app, now, "EwB", dialect{
		name: "Microsoft", discoveryPath: "/common/v2.0" + wellKnown, issuerPath: "/{tenantid}/v2.0",
		authorizePath: "/common/oauth2/v2.0/authorize", tokenPath: "/common/oauth2/v2.0/token",
		certsPath: "/common/discovery/v2.0/keys", userInfoPath: "/oidc/userinfo",
		change: func(g *OpenID, claims object) {
			delete(claims, "email_verified")
			claims["tid"], claims["iss"] = MicrosoftTenant, g.issuedBy()+"/"+MicrosoftTenant+"/v2.0"
		},
	})
}

// NewApple returns a fake of Apple; see NewGoogle. The client secret is a JWT that is signed with PrivateKey; app.Secret is not
// used.
func NewApple(app App, now func() time.Time) *OpenID {
	g := newOpenID(app, now, "a", dialect{
		name: "Apple", authorizePath: "/auth/authorize", tokenPath: "/auth/token", certsPath: "/auth/keys", secret: (*OpenID).signedByApp,
		change: func(_ *OpenID, claims object) {
			delete(claims, "name")
			delete(claims, "picture")
			if verified, ok := claims["email_verified"].(bool); ok {
				claims["email_verified"] = strconv.FormatBool(verified)
			}
		},
		document: object{"token_endpoint_auth_methods_supported": []string{"client_secret_post"}},
	})
	g.appKey = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	return g
}

func newOpenID(app App, now func() time.Time, prefix string, d dialect) *OpenID {
	g := &OpenID{provider: newProvider(app, now, prefix, "openid", "email", "profile"), dialect: d}
	g.mountDialog(d.authorizePath, d.name, "")
	g.mux.HandleFunc("GET "+cmp.Or(d.discoveryPath, wellKnown), g.discovery)
	g.mux.HandleFunc("GET "+d.certsPath, g.certificates)
	g.mux.HandleFunc("POST "+d.tokenPath, g.exchange)
	if d.userInfoPath != "" {
		g.mux.HandleFunc(d.userInfoPath, g.userInfo)
	}
	return g
}

// SetIssuer sets the address in discovery and ID tokens. It must be called before the first request and the first ID token.
func (g *OpenID) SetIssuer(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.issuer = address
}

func (g *OpenID) issuedBy() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.issuer
}

// discovery writes the discovery document (OpenID Connect Discovery 1.0 section 4.2).
func (g *OpenID) discovery(w http.ResponseWriter, _ *http.Request) {
	address := g.issuedBy()
	document := object{
		"issuer":                                address + g.issuerPath,
		"authorization_endpoint":                address + g.authorizePath,
		"token_endpoint":                        address + g.tokenPath,
		"jwks_uri":                              address + g.certsPath,
		"response_types_supported":              []string{"code"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"},
	}
	if g.userInfoPath != "" {
		document["userinfo_endpoint"] = address + g.userInfoPath
	}
	maps.Copy(document, g.document)
	writeJSON(w, http.StatusOK, document)
}

// exchange exchanges a code for an access token and, with the scope openid, an ID token. The secret of clients in App.MoreIDs is not
// checked.
func (g *OpenID) exchange(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code, description string) {
		writeJSON(w, status, object{"error": code, "error_description": description})
	}
	id, secret := g.client(r)
	switch {
	case !g.knows(id) || id == g.app.ID && !g.authenticates(secret):
		fail(http.StatusUnauthorized, "invalid_client", "Unauthorized")
		return
	case r.PostFormValue("grant_type") != "authorization_code":
		fail(http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type")
		return
	case r.PostFormValue("redirect_uri") == "":
		fail(http.StatusBadRequest, "invalid_request", "Missing parameter: redirect_uri")
		return
	}
	t, u, err := g.redeem(id, r)
	switch err {
	case nil:
		o := object{"access_token": t.value, "expires_in": 3599, "scope": strings.Join(t.scopes, " "), "token_type": "Bearer"}
		if t.may("openid") {
			o["id_token"] = g.sign(g.claims(t, u), nil)
		}
		writeJSON(w, http.StatusOK, o)
	case errRedirect:
		fail(http.StatusBadRequest, "redirect_uri_mismatch", "Bad Request")
	default:
		fail(http.StatusBadRequest, "invalid_grant", err.Error())
	}
}

// client returns the ID and the secret of the client in a request: those of HTTP Basic (RFC 6749 section 2.3.1), which Apple does not
// support, or those in the form.
func (g *OpenID) client(r *http.Request) (id, secret string) {
	user, password, ok := r.BasicAuth()
	if !ok || g.secret != nil {
		return r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	id, err := url.QueryUnescape(user)
	secret, secretErr := url.QueryUnescape(password)
	if err != nil || secretErr != nil {
		return "", ""
	}
	return id, secret
}

// authenticates reports whether the client secret is valid.
func (g *OpenID) authenticates(secret string) bool {
	if g.secret != nil {
		return g.secret(g, secret)
	}
	return secret == g.app.Secret
}

// The app's identifiers at Apple.
const (
	AppleTeam  = "A1B2C3D4E5"
	AppleKeyID = "ABC123DEFG"
)

// PrivateKey returns the content of the app's .p8 file from Apple. It panics if the fake is not of NewApple.
func (g *OpenID) PrivateKey() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(g.appKey))}))
}

// signedByApp reports whether the client secret is a JWT of the app ("Creating a client secret" in Apple's documentation).
func (g *OpenID) signedByApp(secret string) bool {
	token, err := jwt.ParseSigned(secret, []jose.SignatureAlgorithm{jose.ES256})
	var claims jwt.Claims
	if err != nil || token.Headers[0].KeyID != AppleKeyID || token.Claims(g.appKey.Public(), &claims) != nil {
		return false
	}
	lifetime := claims.Expiry.Time().Sub(claims.IssuedAt.Time())
	expected := jwt.Expected{Issuer: AppleTeam, Subject: g.app.ID, AnyAudience: jwt.Audience{g.issuedBy()}, Time: g.now()}
	return claims.Validate(expected) == nil && lifetime > 0 && lifetime <= 180*24*time.Hour
}

// tokenInfo describes the user and the client of an access token.
func (g *OpenID) tokenInfo(w http.ResponseWriter, r *http.Request) {
	t, u, ok := g.token(r.FormValue("access_token"))
	if !ok {
		writeJSON(w, http.StatusBadRequest, object{"error": "invalid_token", "error_description": "Invalid Value"})
		return
	}
	o := profile(t, u)
	o["azp"], o["aud"], o["scope"], o["expires_in"] = t.clientID, t.clientID, strings.Join(t.scopes, " "), "3599"
	if verified, ok := o["email_verified"].(bool); ok {
		o["email_verified"] = strconv.FormatBool(verified)
	}
	writeJSON(w, http.StatusOK, o)
}

// userInfo describes the user of an access token (OpenID Connect Core 1.0 section 5.3).
func (g *OpenID) userInfo(w http.ResponseWriter, r *http.Request) {
	t, u, ok := g.token(bearer(r))
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://accounts.google.com/", error="invalid_token"`)
		writeJSON(w, http.StatusUnauthorized, object{"error": "invalid_request", "error_description": "Invalid Credentials"})
		return
	}
	o := profile(t, u)
	if g.change != nil {
		g.change(g, o)
	}
	writeJSON(w, http.StatusOK, o)
}

// profile returns the claims about a user that the scopes allow (OpenID Connect Core 1.0 section 5.4).
func profile(t accessToken, u User) object {
	o := object{"sub": u.ID}
	if t.may("email") && !u.NoEmail {
		o["email"], o["email_verified"] = u.Email, u.EmailVerified
	}
	if t.may("profile") && u.Name != "" {
		o["name"] = u.Name
	}
	if t.may("profile") && u.Picture != "" {
		o["picture"] = u.Picture
	}
	return o
}
