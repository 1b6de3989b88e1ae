package providers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// GitHubAPI is the root path of the REST API, as in GitHub Enterprise Server. Web pages are at the root.
const GitHubAPI = "/api/v3"

// GitHub is a fake of GitHub's sign-in for OAuth apps and of the part of the REST API that describes a user. The fake follows
// these pages of docs.github.com:
//
//   - apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps: the authorization, the exchange, PKCE
//   - apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps: what user:email allows
//   - apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors: the errors, which have
//     status 200. A user whose primary email address is not verified gets no token for a code; Token creates a token
//     nevertheless
//   - rest/apps/oauth-applications (check a token), rest/users/users (the authenticated user), rest/users/emails
//   - rest/using-the-rest-api/troubleshooting-the-rest-api: 404 where a scope is missing
//
// The exchange responds with a form, as GitHub does to clients that do not ask for JSON. The response to a wrong code_verifier
// is not documented; the fake responds with bad_verification_code.
type GitHub struct{ *provider }

// NewGitHub returns a fake of GitHub with one app and no user.
func NewGitHub(app App, now func() time.Time) *GitHub {
	g := &GitHub{newProvider(app, now, "gho_", "read:user", "user:email")}
	g.mountDialog("/login/oauth/authorize", "GitHub", "")
	g.mux.HandleFunc("POST /login/oauth/access_token", g.exchange)
	g.mux.HandleFunc("POST "+GitHubAPI+"/applications/{client}/token", g.check)
	g.mux.HandleFunc("GET "+GitHubAPI+"/user", g.bearer(g.me))
	g.mux.HandleFunc("GET "+GitHubAPI+"/user/emails", g.bearer(g.emails))
	return g
}

// exchange exchanges a code for a token.
func (g *GitHub) exchange(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	_, _ = w.Write([]byte(g.exchanged(r).Encode()))
}

func (g *GitHub) exchanged(r *http.Request) url.Values {
	refuse := func(code, description string) url.Values {
		return url.Values{"error": {code}, "error_description": {description}}
	}
	id := r.FormValue("client_id")
	if !g.knows(id) || r.FormValue("client_secret") != g.app.Secret {
		return refuse("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.")
	}
	t, u, err := g.redeem(id, r)
	switch {
	case err == errRedirect:
		return refuse("redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL for this application.")
	case err != nil:
		return refuse("bad_verification_code", "The code passed is incorrect or expired.")
	case !u.EmailVerified && !u.NoEmail:
		return refuse("unverified_user_email", "The user must have a verified primary email.")
	}
	return url.Values{"access_token": {t.value}, "scope": {strings.Join(t.scopes, ",")}, "token_type": {"bearer"}}
}

// check describes a token to its app.
func (g *GitHub) check(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	var body struct {
		Token string `json:"access_token"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	t, u, ok := g.token(body.Token)
	switch {
	case !g.knows(id) || secret != g.app.Secret:
		apiFailure(w, http.StatusUnauthorized, "Bad credentials")
	case err != nil:
		apiFailure(w, http.StatusBadRequest, "Problems parsing JSON")
	case body.Token == "":
		apiFailure(w, http.StatusUnprocessableEntity, "Validation Failed")
	case !ok || t.clientID != id || id != r.PathValue("client"):
		apiFailure(w, http.StatusNotFound, "Not Found")
	default:
		writeJSON(w, http.StatusOK, object{"scopes": t.scopes, "token": t.value, "app": object{"client_id": id}, "user": simple(u)})
	}
}

// me writes the token's user. The email address is null, as for users whose address is not public.
func (g *GitHub) me(w http.ResponseWriter, _ accessToken, u User) {
	user := simple(u)
	user["name"], user["email"] = nil, nil
	if u.Name != "" {
		user["name"] = u.Name
	}
	writeJSON(w, http.StatusOK, user)
}

// emails writes the email addresses of the token's user.
func (g *GitHub) emails(w http.ResponseWriter, t accessToken, u User) {
	if !t.may("user", "user:email") {
		apiFailure(w, http.StatusNotFound, "Not Found")
		return
	}
	list := []object{}
	for _, e := range u.OtherEmails {
		list = append(list, object{"email": e.Address, "primary": false, "verified": e.Verified, "visibility": nil})
	}
	if !u.NoEmail {
		list = append(list, object{"email": u.Email, "primary": true, "verified": u.EmailVerified, "visibility": "private"})
	}
	writeJSON(w, http.StatusOK, list)
}

// bearer calls h with the user of the token in the header.
func (g *GitHub) bearer(h func(http.ResponseWriter, accessToken, User)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t, u, ok := g.token(bearer(r))
		if !ok {
			apiFailure(w, http.StatusUnauthorized, "Bad credentials")
			return
		}
		h(w, t, u)
	}
}

// simple returns the "simple user" of the REST API.
func simple(u User) object {
	return object{"login": u.Login, "id": json.Number(u.ID), "avatar_url": u.Picture, "type": "User", "site_admin": false}
}

// apiFailure writes an error of the REST API.
func apiFailure(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)})
}
