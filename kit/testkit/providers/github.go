package providers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GitHubAPI is the root path of the API, as in GitHub Enterprise Server. The web pages are at the root.
const GitHubAPI = "/api/v3"

// GitHub is a fake of GitHub's sign-in for OAuth apps and of the part of its REST API that describes a user. It follows
// these pages of docs.github.com:
//
//   - apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps: the authorization, the exchange, responses by Accept (XML
//     is not supported), PKCE with S256 only
//   - apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps: X-OAuth-Scopes, and what user:email allows
//   - apps/oauth-apps/maintaining-oauth-apps/troubleshooting-authorization-request-errors, and
//     …/troubleshooting-oauth-app-access-token-request-errors: the errors, which have status 200. A user whose primary
//     email address is not verified gets no token for a code; Token creates one nevertheless
//   - rest/apps/oauth-applications (check a token), rest/users/users (the authenticated user), rest/users/emails
//   - rest/using-the-rest-api/getting-started-with-the-rest-api (User-Agent), and
//     …/troubleshooting-the-rest-api: 404 where a scope is missing
//
// The response to a wrong code_verifier is not documented; the fake responds with bad_verification_code.
type GitHub struct{ *provider }

// NewGitHub returns a GitHub with one app and no user.
func NewGitHub(app App, now func() time.Time) *GitHub {
	g := &GitHub{newProvider(app, now)}
	g.prefix, g.scopes = "gho_", []string{"read:user", "user:email"}
	dialog{provider: g.provider, name: "GitHub", methods: []string{methodS256}, denial: url.Values{
		"error":             {"access_denied"},
		"error_description": {"The user has denied your application access."},
		"error_uri":         {"/apps/building-integrations/setting-up-and-registering-oauth-apps/troubleshooting-authorization-request-errors/#access-denied"},
	}}.mount("/login/oauth/authorize")
	g.mux.HandleFunc("POST /login/oauth/access_token", g.exchange)
	g.mux.HandleFunc("POST "+GitHubAPI+"/applications/{client}/token", agent(g.check))
	g.mux.HandleFunc("GET "+GitHubAPI+"/user", agent(g.bearer(g.me)))
	g.mux.HandleFunc("GET "+GitHubAPI+"/user/emails", agent(g.bearer(g.emails)))
	return g
}

// exchange exchanges a code for a token.
func (g *GitHub) exchange(w http.ResponseWriter, r *http.Request) {
	values := g.exchanged(r)
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		flat := object{}
		for name := range values {
			flat[name] = values.Get(name)
		}
		writeJSON(w, http.StatusOK, flat)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	_, _ = w.Write([]byte(values.Encode()))
}

func (g *GitHub) exchanged(r *http.Request) url.Values {
	const help = "/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/#"
	refuse := func(code, description, uri string) url.Values {
		return url.Values{"error": {code}, "error_description": {description}, "error_uri": {uri}}
	}
	id := r.FormValue("client_id")
	if !g.knows(id) || !same(r.FormValue("client_secret"), g.app.Secret) {
		return refuse("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.", help+"incorrect-client-credentials")
	}
	granted, err := g.redeem(id, r.FormValue("code"), r.FormValue("redirect_uri"), r.FormValue("code_verifier"))
	u, known := g.user(granted.userID)
	switch {
	case err == errRedirect:
		return refuse("redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL for this application.",
			"/apps/managing-oauth-apps/troubleshooting-authorization-request-errors/#redirect-uri-mismatch2")
	case err != nil || !known:
		return refuse("bad_verification_code", "The code passed is incorrect or expired.", help+"bad-verification-code")
	case !u.EmailVerified && !u.NoEmail:
		return refuse("unverified_user_email", "The user must have a verified primary email.", help+"unverified_user_email")
	}
	t := g.issue(id, u.ID, granted.scopes)
	return url.Values{"access_token": {t.value}, "scope": {strings.Join(t.scopes, ",")}, "token_type": {"bearer"}}
}

// check describes a token to its app.
func (g *GitHub) check(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if !g.knows(id) || !same(secret, g.app.Secret) {
		apiFailure(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		apiFailure(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	t, u, ok := g.live(body.Token)
	switch {
	case body.Token == "":
		apiFailure(w, http.StatusUnprocessableEntity, "Validation Failed")
	case !ok || t.clientID != id || id != r.PathValue("client"):
		apiFailure(w, http.StatusNotFound, "Not Found")
	default:
		writeJSON(w, http.StatusOK, object{
			"id": 1, "scopes": t.scopes, "token": t.value, "token_last_eight": t.value[len(t.value)-8:],
			"app":        object{"client_id": id, "name": id, "url": "https://app.example.com"},
			"created_at": t.issued.UTC().Format(time.RFC3339), "expires_at": nil, "user": simple(u),
		})
	}
}

// me writes the token's user. The email address is null, as for users who have not made it public.
func (g *GitHub) me(w http.ResponseWriter, _ accessToken, u User) {
	user := simple(u)
	user["name"], user["email"] = nullable(u.Name), nil
	writeJSON(w, http.StatusOK, user)
}

// emails writes the email addresses of the token's user.
func (g *GitHub) emails(w http.ResponseWriter, t accessToken, u User) {
	w.Header().Set("X-Accepted-OAuth-Scopes", "user, user:email")
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
		token := bearer(r)
		t, u, ok := g.live(token)
		switch {
		case token == "":
			apiFailure(w, http.StatusUnauthorized, "Requires authentication")
		case !ok:
			apiFailure(w, http.StatusUnauthorized, "Bad credentials")
		default:
			w.Header().Set("X-OAuth-Scopes", strings.Join(slices.Sorted(slices.Values(t.scopes)), ", "))
			h(w, t, u)
		}
	}
}

// agent rejects requests without a User-Agent.
func agent(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() == "" {
			apiFailure(w, http.StatusForbidden, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.")
			return
		}
		h(w, r)
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
