package providers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// googleScopes are the full names of the scopes that have a short one.
var googleScopes = map[string]string{
	"email":   "https://www.googleapis.com/auth/userinfo.email",
	"profile": "https://www.googleapis.com/auth/userinfo.profile",
}

// Google is a fake of Google's OpenID provider. All paths are below its issuer. It follows these pages of
// developers.google.com:
//
//   - identity/openid-connect/openid-connect: discovery, the authorization, the exchange, the claims of an ID token,
//     userinfo
//   - identity/protocols/oauth2/web-server and …/native-app: PKCE with S256 and plain, installed clients without a secret,
//     the errors of the authorization and of the exchange
//   - identity/protocols/OAuth2UserAgent#validate-access-token: tokeninfo, whose values are all strings
//
// The error descriptions are from user reports; the pages list only the codes.
type Google struct {
	*provider
	keys   *keyring
	issuer string
}

// NewGoogle returns a Google with one app and no user. Call SetIssuer before use.
func NewGoogle(app App, now func() time.Time) *Google {
	g := &Google{provider: newProvider(app, now), keys: &keyring{}}
	g.prefix, g.ttl, g.scopes = "ya29.", 3599*time.Second, []string{"openid", "email", "profile"}
	dialog{
		provider: g.provider, name: "Google", methods: []string{methodPlain, methodS256}, strict: true,
		denial: url.Values{"error": {"access_denied"}},
	}.mount("/o/oauth2/v2/auth")
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

// Issuer returns the address that was set with SetIssuer. It panics if there is none.
func (g *Google) Issuer() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.issuer == "" {
		panic("providers: Google has no issuer; call SetIssuer")
	}
	return g.issuer
}

// RotateKey replaces the signing key. Tokens signed with old keys stay valid.
func (g *Google) RotateKey() { g.keys.rotate() }

// DropOldKeys removes all keys but the newest from the JWKS.
func (g *Google) DropOldKeys() { g.keys.drop() }

// discovery writes the discovery document (OpenID Connect Discovery 1.0, 4.2).
func (g *Google) discovery(w http.ResponseWriter, _ *http.Request) {
	issuer := g.Issuer()
	w.Header().Set("Cache-Control", "public, max-age=3600")
	writeJSON(w, http.StatusOK, object{
		"issuer":                                issuer,
		"authorization_endpoint":                issuer + "/o/oauth2/v2/auth",
		"token_endpoint":                        issuer + "/token",
		"userinfo_endpoint":                     issuer + "/v1/userinfo",
		"jwks_uri":                              issuer + "/oauth2/v3/certs",
		"response_types_supported":              []string{"code"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"scopes_supported":                      []string{"openid", "email", "profile"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"},
		"claims_supported":                      []string{"aud", "email", "email_verified", "exp", "iat", "iss", "name", "picture", "sub"},
		"code_challenge_methods_supported":      []string{"plain", "S256"},
		"grant_types_supported":                 []string{"authorization_code"},
	})
}

// certs writes the public keys.
func (g *Google) certs(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	writeJSON(w, http.StatusOK, g.keys.public())
}

// exchangeError is the error of a failed exchange (RFC 6749 5.2).
type exchangeError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// exchange exchanges a code for an access token and, with the scope openid, an ID token.
func (g *Google) exchange(w http.ResponseWriter, r *http.Request) {
	id, failure := g.client(r)
	if failure.Code == "invalid_client" {
		writeJSON(w, http.StatusUnauthorized, failure)
		return
	}
	redirectURI := r.PostFormValue("redirect_uri")
	switch {
	case failure.Code != "":
	case r.PostFormValue("grant_type") != "authorization_code":
		failure = exchangeError{"unsupported_grant_type", "Invalid grant_type: " + r.PostFormValue("grant_type")}
	case redirectURI == "":
		failure = exchangeError{"invalid_request", "Missing parameter: redirect_uri"}
	default:
		granted, err := g.redeem(id, r.PostFormValue("code"), redirectURI, r.PostFormValue("code_verifier"))
		u, known := g.user(granted.userID)
		if err == nil && known {
			writeJSON(w, http.StatusOK, g.granted(granted, u))
			return
		}
		failure = exchangeFailure(err)
	}
	writeJSON(w, http.StatusBadRequest, failure)
}

// client authenticates the client of an exchange, by header or body. An installed client has no secret.
func (g *Google) client(r *http.Request) (string, exchangeError) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	switch {
	case !g.knows(id):
		return "", exchangeError{"invalid_client", "The OAuth client was not found."}
	case id == g.app.ID && secret == "":
		return "", exchangeError{"invalid_request", "client_secret is missing."}
	case id == g.app.ID && !same(secret, g.app.Secret):
		return "", exchangeError{"invalid_client", "Unauthorized"}
	}
	return id, exchangeError{}
}

// exchangeFailure returns the error that Google responds with.
func exchangeFailure(err error) exchangeError {
	switch err {
	case errRedirect:
		return exchangeError{"redirect_uri_mismatch", "Bad Request"}
	case errMissingVerifier:
		return exchangeError{"invalid_grant", "Missing code verifier."}
	case errWrongVerifier:
		return exchangeError{"invalid_grant", "Invalid code verifier."}
	case errNeedlessVerifier:
		return exchangeError{"invalid_grant", "code_verifier or verifier is not needed."}
	case errUnknownCode:
		return exchangeError{"invalid_grant", "Malformed auth code."}
	}
	return exchangeError{"invalid_grant", "Bad Request"}
}

// granted returns the response to a successful exchange.
func (g *Google) granted(granted grant, u User) object {
	t := g.issue(granted.clientID, u.ID, granted.scopes)
	o := object{"access_token": t.value, "expires_in": int(g.ttl.Seconds()), "scope": full(t.scopes), "token_type": "Bearer"}
	if t.may("openid") {
		changes := []Change{Claim("aud", t.clientID), Claim("azp", t.clientID), Claim("at_hash", accessTokenHash(t.value))}
		if granted.nonce != "" {
			changes = append(changes, Claim("nonce", granted.nonce))
		}
		o["id_token"] = g.sign(g.claims(t, u), changes)
	}
	return o
}

// full returns scopes with their full names, as in responses of Google.
func full(scopes []string) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = scope
		if name, ok := googleScopes[scope]; ok {
			names[i] = name
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// tokenInfo writes the user and the client of an access token.
func (g *Google) tokenInfo(w http.ResponseWriter, r *http.Request) {
	t, u, ok := g.live(r.FormValue("access_token"))
	if !ok {
		writeJSON(w, http.StatusBadRequest, object{"error": "invalid_token", "error_description": "Invalid Value"})
		return
	}
	o := object{
		"azp": t.clientID, "aud": t.clientID, "sub": u.ID, "scope": full(t.scopes), "access_type": "online",
		"exp":        strconv.FormatInt(t.expires.Unix(), 10),
		"expires_in": strconv.Itoa(int(t.expires.Sub(g.now()).Seconds())),
	}
	if t.may("email", googleScopes["email"]) && !u.NoEmail {
		o["email"], o["email_verified"] = u.Email, strconv.FormatBool(u.EmailVerified)
	}
	writeJSON(w, http.StatusOK, o)
}

// userInfo writes the user of an access token (OpenID Connect Core 1.0, 5.3).
func (g *Google) userInfo(w http.ResponseWriter, r *http.Request) {
	t, u, ok := g.live(bearer(r))
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
	if t.may("email", googleScopes["email"]) && !u.NoEmail {
		o["email"], o["email_verified"] = u.Email, u.EmailVerified
	}
	if t.may("profile", googleScopes["profile"]) {
		for name, value := range map[string]string{"name": u.Name, "picture": u.Picture} {
			if value != "" {
				o[name] = value
			}
		}
	}
	return o
}
