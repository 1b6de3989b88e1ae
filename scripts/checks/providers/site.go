package main

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/ginseng/kit/testkit/providers"
)

//go:embed demo
var demo embed.FS

// The registered apps. These values are only valid for the fake providers.
const (
	gitHubID, gitHubSecret     = "Iv1.0123456789abcdef", "fake-github-client-secret"
	googleID, googleSecret     = "123456789012-demo.apps.googleusercontent.com", "fake-google-client-secret"
	facebookID, facebookSecret = "100000000000001", "fake-facebook-client-secret"
)

// site serves the three fake providers and the demo page.
type site struct {
	base     string // without a slash at the end
	api      *url.URL
	gitHub   *providers.GitHub
	google   *providers.Google
	facebook *providers.Facebook
}

func newSite(base string, api *url.URL, now func() time.Time) *site {
	s := &site{
		base: base, api: api,
		gitHub:   providers.NewGitHub(providers.App{ID: gitHubID, Secret: gitHubSecret}, now),
		google:   providers.NewGoogle(providers.App{ID: googleID, Secret: googleSecret}, now),
		facebook: providers.NewFacebook(providers.App{ID: facebookID, Secret: facebookSecret}, now),
	}
	s.google.SetIssuer(base + "/google")
	for _, add := range []func(providers.User) providers.User{s.gitHub.AddUser, s.google.AddUser, s.facebook.AddUser} {
		add(providers.User{ID: "1815", Login: "ada", Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: true})
		add(providers.User{ID: "1906", Login: "grace", Name: "Grace Hopper", Email: "grace@example.com", EmailVerified: true})
		add(providers.User{ID: "1912", Login: "alan", Name: "Alan Turing", Email: "alan@example.com"})
		add(providers.User{ID: "1903", Login: "alonzo", Name: "Alonzo Church", NoEmail: true})
	}
	return s
}

// settings returns the settings of the service for the fake providers, one per line.
func (s *site) settings() string {
	lines := []string{
		"GITHUB_CLIENT_ID=" + gitHubID,
		"GITHUB_CLIENT_SECRET=" + gitHubSecret,
		"GITHUB_URL=" + s.base + "/github",
		"GITHUB_API_URL=" + s.base + "/github" + providers.GitHubAPI,
		"GOOGLE_CLIENT_ID=" + googleID,
		"GOOGLE_CLIENT_SECRET=" + googleSecret,
		"GOOGLE_ISSUER=" + s.base + "/google",
		"FACEBOOK_CLIENT_ID=" + facebookID,
		"FACEBOOK_CLIENT_SECRET=" + facebookSecret,
		"FACEBOOK_GRAPH_URL=" + s.base + "/facebook",
	}
	return strings.Join(lines, "\n") + "\n"
}

// provider is the public configuration of an identity provider for a client.
type provider struct {
	Name      string `json:"name"`
	Authorize string `json:"authorize"` // address of the authorization endpoint
	ClientID  string `json:"clientId"`
	Scope     string `json:"scope"`
}

// config is the configuration of the page.
type config struct {
	API       string              `json:"api"`
	Providers map[string]provider `json:"providers"` // by the name in the service's paths
}

// config serves the configuration.
func (s *site) config() config {
	return config{s.api.String(), map[string]provider{
		"github":   {"GitHub", s.base + "/github/login/oauth/authorize", gitHubID, "read:user user:email"},
		"google":   {"Google", s.base + "/google/o/oauth2/v2/auth", googleID, "openid email profile"},
		"facebook": {"Facebook", s.base + "/facebook/dialog/oauth", facebookID, "public_profile email"},
	}}
}

// handler serves the page at the root and the fake providers under their names.
func (s *site) handler() http.Handler {
	files, err := fs.Sub(demo, "demo")
	if err != nil {
		panic(err) // the directory is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("/github/", http.StripPrefix("/github", s.gitHub))
	mux.Handle("/google/", http.StripPrefix("/google", s.google))
	mux.Handle("/facebook/", http.StripPrefix("/facebook", s.facebook))
	mux.Handle("/", s.guarded(http.FileServerFS(files)))
	mux.HandleFunc("/config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.config())
	})
	return mux
}

// guarded sets a Content-Security-Policy that allows only the script of the page and requests to the service, and a
// Referrer-Policy that hides the code in the URL.
func (s *site) guarded(h http.Handler) http.Handler {
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' " + s.api.Scheme + "://" + s.api.Host +
		"; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		h.ServeHTTP(w, r)
	})
}
