package providers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// facebookTTL is the lifetime of Facebook's user tokens.
const facebookTTL = 5183944 * time.Second

var (
	graphVersion = regexp.MustCompile(`^/v\d+\.\d+/`) // optional prefix of every path
	fieldName    = regexp.MustCompile(`^\w+`)         // a field's modifiers follow: picture.type(large), picture{url}
)

// Facebook is a fake of Facebook Login and of the part of the Graph API that it needs. Paths can begin with a version
// (/v23.0/me). The app has "Require App Secret" switched on. It follows these pages of
// developers.facebook.com/docs:
//
//   - facebook-login/guides/advanced/manual-flow: the dialog and its denial, the exchange, debug_token
//   - facebook-login/guides/advanced/oidc-token: PKCE with S256 and plain
//   - graph-api/reference/debug_token, facebook-login/guides/access-tokens/debugging (and …/error-handling)
//   - graph-api/guides/secure-requests: appsecret_proof
//   - graph-api/reference/user, facebook-login/permissions: the email address is present only with the permission
//     email, and only if it is confirmed
//   - graph-api/guides/error-handling: the format of errors
//
// The error messages are from user reports; the pages list only the codes.
type Facebook struct{ *provider }

// NewFacebook returns a Facebook with one app and no user.
func NewFacebook(app App, now func() time.Time) *Facebook {
	f := &Facebook{newProvider(app, now)}
	f.prefix, f.ttl, f.scopes = "EAA", facebookTTL, []string{"public_profile", "email"}
	dialog{
		provider: f.provider, name: "Facebook", methods: []string{methodPlain, methodS256}, fragment: "_=_",
		always: []string{"public_profile"},
		denial: url.Values{
			"error": {"access_denied"}, "error_code": {"200"},
			"error_description": {"Permissions error"}, "error_reason": {"user_denied"},
		},
	}.mount("/dialog/oauth")
	f.mux.HandleFunc("/oauth/access_token", f.exchange)
	f.mux.HandleFunc("GET /debug_token", f.debug)
	f.mux.HandleFunc("GET /me", f.me)
	return f
}

// ServeHTTP responds as Facebook does, or fails as set with Fail.
func (f *Facebook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if version := graphVersion.FindString(r.URL.Path); version != "" {
		http.StripPrefix(strings.TrimSuffix(version, "/"), f.provider).ServeHTTP(w, r)
		return
	}
	f.provider.ServeHTTP(w, r)
}

// graphError is an error of the Graph API.
type graphError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Subcode int    `json:"error_subcode,omitempty"`
	Trace   string `json:"fbtrace_id"`
}

// graphFailure writes an error of the Graph API with 400.
func graphFailure(w http.ResponseWriter, code, subcode int, message string) {
	kind := "OAuthException"
	if strings.Contains(message, "appsecret_proof") {
		kind = "GraphMethodException"
	}
	writeJSON(w, http.StatusBadRequest, object{"error": graphError{message, kind, code, subcode, "AbCdEfGhIjK"}})
}

// exchange exchanges a code for an access token.
func (f *Facebook) exchange(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("client_id")
	switch {
	case id == "":
		graphFailure(w, 101, 0, "Missing client_id parameter.")
	case !f.knows(id):
		graphFailure(w, 101, 0, "Error validating application. Cannot get application info due to a system error.")
	case !same(r.FormValue("client_secret"), f.app.Secret):
		graphFailure(w, 1, 0, "Error validating client secret.")
	case r.FormValue("redirect_uri") == "":
		graphFailure(w, 191, 0, "Missing redirect_uri parameter.")
	default:
		granted, err := f.redeem(id, r.FormValue("code"), r.FormValue("redirect_uri"), r.FormValue("code_verifier"))
		switch err {
		case nil:
			t := f.issue(id, granted.userID, granted.scopes)
			writeJSON(w, http.StatusOK, object{"access_token": t.value, "token_type": "bearer", "expires_in": int(f.ttl.Seconds())})
		case errUsedCode:
			graphFailure(w, 100, 36009, "This authorization code has been used.")
		case errExpiredCode:
			graphFailure(w, 100, 36007, "This authorization code has expired.")
		case errRedirect:
			graphFailure(w, 100, 36008, "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request")
		case errUnknownCode:
			graphFailure(w, 100, 0, "Invalid verification code format.")
		default:
			graphFailure(w, 100, 0, "Invalid code_verifier parameter.")
		}
	}
}

// debug describes a token to its app.
func (f *Facebook) debug(w http.ResponseWriter, r *http.Request) {
	if id, secret, _ := strings.Cut(caller(r), "|"); !f.knows(id) || !same(secret, f.app.Secret) {
		graphFailure(w, 190, 0, "Invalid OAuth access token signature.")
		return
	}
	input := r.FormValue("input_token")
	t, ok := f.token(input)
	switch {
	case input == "":
		graphFailure(w, 100, 0, "(#100) The parameter input_token is required")
	case !ok:
		writeJSON(w, http.StatusOK, object{"data": object{
			"error":    object{"code": 190, "message": "Invalid OAuth access token - Cannot parse access token"},
			"is_valid": false, "scopes": []string{},
		}})
	case t.clientID != f.app.ID:
		graphFailure(w, 100, 0, "(#100) The App_id in the input_token did not match the Viewing App")
	default:
		data := object{
			"app_id": t.clientID, "type": "USER", "application": t.clientID, "user_id": t.userID, "scopes": t.scopes,
			"issued_at": t.issued.Unix(), "expires_at": t.expires.Unix(), "data_access_expires_at": t.issued.Add(90 * 24 * time.Hour).Unix(),
			"is_valid": !f.expired(t),
		}
		if f.expired(t) {
			data["error"] = object{"code": 190, "subcode": 463, "message": f.over(t)}
		}
		writeJSON(w, http.StatusOK, object{"data": data})
	}
}

// over writes that a token has expired.
func (f *Facebook) over(t accessToken) string {
	return fmt.Sprintf("Error validating access token: Session has expired on %s. The current time is %s.",
		t.expires.UTC().Format(time.RFC850), f.now().UTC().Format(time.RFC850))
}

// me writes the user of a token.
func (f *Facebook) me(w http.ResponseWriter, r *http.Request) {
	value, proof := caller(r), r.FormValue("appsecret_proof")
	t, ok := f.token(value)
	u, known := f.user(t.userID)
	switch {
	case value == "":
		graphFailure(w, 2500, 0, "An active access token must be used to query information about the current user.")
	case !ok || !known:
		graphFailure(w, 190, 0, "Invalid OAuth access token - Cannot parse access token")
	case f.expired(t):
		graphFailure(w, 190, 463, f.over(t))
	case t.clientID == f.app.ID && proof == "":
		graphFailure(w, 100, 0, "API calls from the server require an appsecret_proof argument")
	case proof != "" && (t.clientID != f.app.ID || !same(proof, f.proof(value))):
		graphFailure(w, 100, 0, "Invalid appsecret_proof provided in the API argument")
	default:
		f.describe(w, t, u, r.FormValue("fields"))
	}
}

// proof returns the appsecret_proof of a token.
func (f *Facebook) proof(token string) string {
	mac := hmac.New(sha256.New, []byte(f.app.Secret))
	mac.Write([]byte(token))
	return hex.EncodeToString(mac.Sum(nil))
}

// describe writes the requested fields of a user.
func (f *Facebook) describe(w http.ResponseWriter, t accessToken, u User, fields string) {
	if fields == "" {
		fields = "name"
	}
	o := object{"id": u.ID}
	for field := range strings.SplitSeq(fields, ",") {
		switch name := fieldName.FindString(field); name {
		case "id":
		case "name":
			o["name"] = u.Name
		case "email":
			if t.may("email") && u.EmailVerified && !u.NoEmail {
				o["email"] = u.Email
			}
		case "picture":
			o["picture"] = object{"data": object{"height": 50, "is_silhouette": u.Picture == "", "url": u.Picture, "width": 50}}
		default:
			graphFailure(w, 100, 0, "(#100) Tried accessing nonexisting field ("+name+") on node type (User)")
			return
		}
	}
	writeJSON(w, http.StatusOK, o)
}

// caller returns the token of a request to the Graph API.
func caller(r *http.Request) string {
	if token := r.FormValue("access_token"); token != "" {
		return token
	}
	return bearer(r)
}
