package providers

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Google is a fake of Google's OpenID provider. All paths are below its issuer. It follows these pages of
// developers.google.com:
//
//   - identity/openid-connect/openid-connect: discovery, the authorization, the exchange, the claims of an ID token,
//     userinfo
//   - identity/protocols/oauth2/web-server and …/native-app: PKCE, installed clients without a secret, the errors of the
//     authorization and of the exchange
//   - identity/protocols/OAuth2UserAgent#validate-access-token: tokeninfo, whose values are all strings
type Google struct {
	*provider
	issuer string
	made   int               // number of keys created so far
	keys   []jose.JSONWebKey // published keys; the last one signs
}

// NewGoogle returns a Google with one app and no user. Call SetIssuer before use.
func NewGoogle(app App, now func() time.Time) *Google {
	g := &Google{provider: newProvider(app, now, "ya29.", "openid", "email", "profile")}
	g.mountDialog("/o/oauth2/v2/auth", "Google", "")
	g.mux.HandleFunc("GET /.well-known/openid-configuration", g.discovery)
	g.mux.HandleFunc("GET /oauth2/v3/certs", g.certs)
	g.mux.HandleFunc("POST /token", g.exchange)
	g.mux.HandleFunc("/tokeninfo", g.tokenInfo)
	g.mux.HandleFunc("/v1/userinfo", g.userInfo)
	return g
}

// SetIssuer sets the address in discovery and ID tokens. It must be called before the first request and the first ID token.
func (g *Google) SetIssuer(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.issuer = address
}

func (g *Google) issuedBy() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.issuer
}

// discovery writes the discovery document (OpenID Connect Discovery 1.0, 4.2).
func (g *Google) discovery(w http.ResponseWriter, _ *http.Request) {
	issuer := g.issuedBy()
	writeJSON(w, http.StatusOK, object{
		"issuer":                                issuer,
		"authorization_endpoint":                issuer + "/o/oauth2/v2/auth",
		"token_endpoint":                        issuer + "/token",
		"userinfo_endpoint":                     issuer + "/v1/userinfo",
		"jwks_uri":                              issuer + "/oauth2/v3/certs",
		"response_types_supported":              []string{"code"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"code_challenge_methods_supported":      []string{"S256"},
	})
}

// exchange exchanges a code for an access token and, with the scope openid, an ID token. An installed client has no secret.
func (g *Google) exchange(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code, description string) {
		writeJSON(w, status, object{"error": code, "error_description": description})
	}
	id := r.PostFormValue("client_id")
	switch {
	case !g.knows(id) || id == g.app.ID && r.PostFormValue("client_secret") != g.app.Secret:
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

// tokenInfo writes the user and the client of an access token.
func (g *Google) tokenInfo(w http.ResponseWriter, r *http.Request) {
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

// userInfo writes the user of an access token (OpenID Connect Core 1.0, 5.3).
func (g *Google) userInfo(w http.ResponseWriter, r *http.Request) {
	t, u, ok := g.token(bearer(r))
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://accounts.google.com/", error="invalid_token"`)
		writeJSON(w, http.StatusUnauthorized, object{"error": "invalid_request", "error_description": "Invalid Credentials"})
		return
	}
	writeJSON(w, http.StatusOK, profile(t, u))
}

// profile returns the claims about a user that the scopes allow (OpenID Connect Core 1.0, 5.4).
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
