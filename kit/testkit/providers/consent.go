package providers

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

//go:embed consent.html
var consentPage string

// dialog is the authorization endpoint of a provider (RFC 6749 4.1.1): GET shows the consent page, POST has the user's
// decision and redirects to the client.
type dialog struct {
	*provider
	name     string     // of the provider
	methods  []string   // of PKCE
	strict   bool       // response_type and scope are required
	always   []string   // scopes that are always granted
	denial   url.Values // parameters of the redirect after a denial, besides state
	fragment string     // of the redirect after consent

	page *template.Template
}

// mount mounts the dialog at a path.
func (d dialog) mount(path string) {
	d.page = template.Must(template.New("consent").Parse(consentPage))
	d.mux.HandleFunc("GET "+path, d.ask)
	d.mux.HandleFunc("POST "+path, d.decide)
}

// ask shows the consent page.
func (d dialog) ask(w http.ResponseWriter, r *http.Request) {
	a, wrong := d.read(r.URL.Query())
	if wrong != "" {
		page(w, http.StatusBadRequest, wrong)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = d.page.Execute(w, struct {
		Provider, Client, Back string
		Scopes                 []string
		Users                  []User
	}{d.name, a.clientID, a.redirectURI, a.scopes, d.Users()})
}

// decide redirects to the client, with a code for the chosen or new user, or with the denial.
func (d dialog) decide(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	a, wrong := d.read(query)
	if wrong != "" {
		page(w, http.StatusBadRequest, wrong)
		return
	}
	back, _ := url.Parse(a.redirectURI)
	params := back.Query()
	if state := query.Get("state"); state != "" {
		params.Set("state", state)
	}
	if r.PostFormValue("decision") == "allow" {
		params.Set("code", d.code(d.chosen(r), a))
		back.Fragment = d.fragment
	} else {
		for name, values := range d.denial {
			params[name] = values
		}
	}
	back.RawQuery = params.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// chosen returns the ID of the user who consents. It adds a user who was typed in.
func (d dialog) chosen(r *http.Request) string {
	if id := r.PostFormValue("user"); id != "" {
		return id
	}
	email := strings.TrimSpace(r.PostFormValue("email"))
	return d.AddUser(User{
		Name: strings.TrimSpace(r.PostFormValue("name")), Email: email, NoEmail: email == "",
		EmailVerified: r.PostFormValue("verified") != "",
	}).ID
}

// read reads an authorization request and returns its error, or "". The page shows the error to the user. It does not
// redirect to the client, because the address may be invalid (RFC 6749 4.1.2.1).
func (d dialog) read(q url.Values) (authorization, string) {
	a := authorization{
		clientID: q.Get("client_id"), redirectURI: q.Get("redirect_uri"), nonce: q.Get("nonce"),
		scopes: strings.FieldsFunc(q.Get("scope"), func(c rune) bool { return c == ' ' || c == ',' }),
	}
	back, err := url.Parse(a.redirectURI)
	switch {
	case !d.knows(a.clientID):
		return a, "The client_id is missing or unknown."
	case err != nil || back.Host == "" || back.Fragment != "" || !slices.Contains([]string{"http", "https"}, back.Scheme):
		return a, "The redirect_uri is missing or not an http(s) address."
	case q.Get("response_type") != "code" && (d.strict || q.Has("response_type")):
		return a, "The response_type must be code."
	case d.strict && len(a.scopes) == 0:
		return a, "The scope is missing."
	}
	for _, scope := range d.always {
		if !slices.Contains(a.scopes, scope) {
			a.scopes = append(a.scopes, scope)
		}
	}
	a.challenge, a.method = q.Get("code_challenge"), q.Get("code_challenge_method")
	wrong := d.readChallenge(&a)
	return a, wrong
}

// readChallenge checks the PKCE parameters (RFC 7636 4.3, 4.4.1).
func (d dialog) readChallenge(a *authorization) string {
	if a.challenge == "" && a.method == "" {
		return ""
	}
	if a.method == "" {
		a.method = methodPlain
	}
	switch {
	case !slices.Contains(d.methods, a.method):
		return "The code_challenge_method is not supported."
	case !challengeForm[a.method].MatchString(a.challenge):
		return "The code_challenge is missing or malformed."
	}
	return ""
}

// knows reports whether a client ID is one of the app.
func (p *provider) knows(clientID string) bool {
	return clientID != "" && (clientID == p.app.ID || slices.Contains(p.app.MoreIDs, clientID))
}
