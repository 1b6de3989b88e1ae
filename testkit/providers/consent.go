package providers

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

//go:embed consent.html
var consentPage string

var consentTemplate = template.Must(template.New("consent").Parse(consentPage))

// challengeForm is the format of an S256 code_challenge (RFC 7636 section 4.2): 32 bytes in base64url.
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// mountDialog mounts the authorization endpoint (RFC 6749 section 4.1.1). GET shows the consent page. POST receives the user's
// decision, and redirects to the client. After consent, the URL of the redirect has the fragment.
func (p *provider) mountDialog(path, name, fragment string) {
	p.mux.HandleFunc("GET "+path, p.authorized(func(w http.ResponseWriter, _ *http.Request, g grant) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = consentTemplate.Execute(w, struct {
			Provider, Client, Back string
			Scopes                 []string
			Users                  []User
		}{name, g.clientID, g.redirectURI, g.scopes, p.Users()})
	}))
	p.mux.HandleFunc("POST "+path, p.authorized(func(w http.ResponseWriter, r *http.Request, g grant) {
		back, _ := url.Parse(g.redirectURI)
		params := back.Query()
		if state := r.URL.Query().Get("state"); state != "" {
			params.Set("state", state)
		}
		if r.PostFormValue("decision") == "allow" {
			g.userID = p.chosen(r)
			params.Set("code", p.code(g))
			back.Fragment = fragment
		} else {
			params.Set("error", "access_denied")
			params.Set("error_description", "The user has denied access.")
		}
		back.RawQuery = params.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	}))
}

// chosen returns the ID of the user who consents. If the form describes a new user, chosen adds the user.
func (p *provider) chosen(r *http.Request) string {
	if id := r.PostFormValue("user"); id != "" {
		return id
	}
	email := strings.TrimSpace(r.PostFormValue("email"))
	return p.AddUser(User{
		Name: strings.TrimSpace(r.PostFormValue("name")), Email: email, NoEmail: email == "",
		EmailVerified: r.PostFormValue("verified") != "",
	}).ID
}

// authorized reads the authorization request, and calls h. It shows all errors to the user. RFC 6749 section
// 4.1.2.1 requires this if client_id or redirect_uri is invalid; other errors would redirect to the client.
func (p *provider) authorized(h func(http.ResponseWriter, *http.Request, grant)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		g := grant{
			clientID: q.Get("client_id"), redirectURI: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), nonce: q.Get("nonce"),
			scopes: strings.FieldsFunc(q.Get("scope"), func(c rune) bool { return c == ' ' || c == ',' }),
		}
		back, err := url.Parse(g.redirectURI)
		method := q.Get("code_challenge_method")
		switch {
		case !p.knows(g.clientID):
			page(w, http.StatusBadRequest, "The client_id is missing or unknown.")
		case err != nil || back.Host == "" || back.Fragment != "" || !slices.Contains([]string{"http", "https"}, back.Scheme):
			page(w, http.StatusBadRequest, "The redirect_uri is missing or not an http(s) address.")
		case q.Get("response_type") != "code":
			page(w, http.StatusBadRequest, "The response_type must be code.")
		case (g.challenge != "" || method != "") && (method != "S256" || !challengeForm.MatchString(g.challenge)):
			page(w, http.StatusBadRequest, "The code_challenge is malformed, or its code_challenge_method is not S256.")
		default:
			h(w, r, g)
		}
	}
}
