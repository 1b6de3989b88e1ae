package providers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Facebook is a fake of Facebook Login and of the part of the Graph API that Facebook Login needs. "Require App Secret" is
// enabled for the app. The fake follows these pages of developers.facebook.com/docs:
//
//   - facebook-login/guides/advanced/manual-flow: the dialog and its denial, the exchange, debug_token
//   - facebook-login/guides/advanced/oidc-token: PKCE
//   - graph-api/reference/debug_token, facebook-login/guides/access-tokens/debugging (and …/error-handling)
//   - graph-api/guides/secure-requests: appsecret_proof
//   - graph-api/reference/user, facebook-login/permissions: the email address is present only with the permission
//     email, and only if the address is confirmed
//   - graph-api/guides/error-handling: the format of errors
//
// The error messages are from user reports; the pages list only the codes.
type Facebook struct{ *provider }

// NewFacebook returns a fake of Facebook with one app and no user.
func NewFacebook(app App, now func() time.Time) *Facebook {
	f := &Facebook{newProvider(app, now, "EAA", "public_profile", "email")}
	f.mountDialog("/dialog/oauth", "Facebook", "_=_")
	f.mux.HandleFunc("/oauth/access_token", f.exchange)
	f.mux.HandleFunc("GET /debug_token", f.debug)
	f.mux.HandleFunc("GET /me", f.me)
	return f
}

// graphFailure writes an error of the Graph API with 400.
func graphFailure(w http.ResponseWriter, code int, message string) {
	writeJSON(w, http.StatusBadRequest, object{"error": object{"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "AbCdEfGhIjK"}})
}

// exchange exchanges a code for an access token.
func (f *Facebook) exchange(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("client_id")
	switch {
	case !f.knows(id):
		graphFailure(w, 101, "Error validating application. Cannot get application info due to a system error.")
		return
	case r.FormValue("client_secret") != f.app.Secret:
		graphFailure(w, 1, "Error validating client secret.")
		return
	case r.FormValue("redirect_uri") == "":
		graphFailure(w, 191, "Missing redirect_uri parameter.")
		return
	}
	t, _, err := f.redeem(id, r)
	if err != nil {
		graphFailure(w, 100, "Error validating verification code: "+err.Error())
		return
	}
	writeJSON(w, http.StatusOK, object{"access_token": t.value, "token_type": "bearer", "expires_in": 5183944})
}

// debug describes a token to its app.
func (f *Facebook) debug(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("access_token") != f.app.ID+"|"+f.app.Secret {
		graphFailure(w, 190, "Invalid OAuth access token signature.")
		return
	}
	input := r.FormValue("input_token")
	t, _, ok := f.token(input)
	switch {
	case input == "":
		graphFailure(w, 100, "(#100) The parameter input_token is required")
	case !ok:
		writeJSON(w, http.StatusOK, object{"data": object{
			"error":    object{"code": 190, "message": "Invalid OAuth access token - Cannot parse access token"},
			"is_valid": false, "scopes": []string{},
		}})
	case t.clientID != f.app.ID:
		graphFailure(w, 100, "(#100) The App_id in the input_token did not match the Viewing App")
	default:
		writeJSON(w, http.StatusOK, object{"data": object{
			"app_id": t.clientID, "type": "USER", "user_id": t.userID, "scopes": t.scopes, "is_valid": true,
		}})
	}
}

// me writes the user of a token.
func (f *Facebook) me(w http.ResponseWriter, r *http.Request) {
	value, proof := r.FormValue("access_token"), r.FormValue("appsecret_proof")
	t, u, ok := f.token(value)
	mac := hmac.New(sha256.New, []byte(f.app.Secret))
	mac.Write([]byte(value))
	switch {
	case !ok:
		graphFailure(w, 190, "Invalid OAuth access token - Cannot parse access token")
	case t.clientID == f.app.ID && proof == "":
		graphFailure(w, 100, "API calls from the server require an appsecret_proof argument")
	case proof != "" && (t.clientID != f.app.ID || proof != hex.EncodeToString(mac.Sum(nil))):
		graphFailure(w, 100, "Invalid appsecret_proof provided in the API argument")
	default:
		writeJSON(w, http.StatusOK, fields(t, u, r.FormValue("fields")))
	}
}

// fields returns the requested fields of a user. Modifiers such as picture.type(large) are ignored.
func fields(t accessToken, u User, names string) object {
	o := object{"id": u.ID}
	for name := range strings.SplitSeq(names, ",") {
		switch name, _, _ = strings.Cut(name, "."); {
		case name == "name":
			o["name"] = u.Name
		case name == "email" && t.may("email") && u.EmailVerified && !u.NoEmail:
			o["email"] = u.Email
		case name == "picture":
			o["picture"] = object{"data": object{"height": 50, "is_silhouette": u.Picture == "", "url": u.Picture, "width": 50}}
		}
	}
	return o
}
