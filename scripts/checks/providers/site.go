package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/ginseng/testkit/providers"
)

//go:embed demo
var demo embed.FS

// app is registered with all providers. Its values are only valid for the fakes.
var app = providers.App{ID: "123456789012", Secret: "fake-client-secret"}

// site serves the three fake providers and the demo page.
type site struct {
	base      string // without a slash at the end
	api       *url.URL
	providers map[string]provider // by the name in the service's paths
}

// provider is a fake, and its public configuration for a client.
type provider struct {
	Name      string `json:"name"`
	Authorize string `json:"authorize"` // address of the authorization endpoint
	ClientID  string `json:"clientId"`
	Scope     string `json:"scope"`
	fake      providers.Fake
}

func newSite(base string, api *url.URL) *site {
	google := providers.NewGoogle(app, time.Now)
	google.SetIssuer(base + "/google")
	s := &site{base, api, map[string]provider{
		"github":   {"GitHub", base + "/github/login/oauth/authorize", app.ID, "read:user user:email", providers.NewGitHub(app, time.Now)},
		"google":   {"Google", base + "/google/o/oauth2/v2/auth", app.ID, "openid email profile", google},
		"facebook": {"Facebook", base + "/facebook/dialog/oauth", app.ID, "public_profile email", providers.NewFacebook(app, time.Now)},
	}}
	for _, p := range s.providers {
		p.fake.AddUser(providers.User{ID: "1815", Login: "ada", Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: true})
		p.fake.AddUser(providers.User{ID: "1906", Login: "grace", Name: "Grace Hopper", Email: "grace@example.com", EmailVerified: true})
		p.fake.AddUser(providers.User{ID: "1912", Login: "alan", Name: "Alan Turing", Email: "alan@example.com"})
		p.fake.AddUser(providers.User{ID: "1903", Login: "alonzo", Name: "Alonzo Church", NoEmail: true})
	}
	return s
}

// settings returns the settings of the service for the fake providers, one per line.
func (s *site) settings() string {
	var text strings.Builder
	for _, name := range []string{"GITHUB", "GOOGLE", "FACEBOOK"} {
		fmt.Fprintf(&text, "%s_CLIENT_ID=%s\n%[1]s_CLIENT_SECRET=%[3]s\n", name, app.ID, app.Secret)
	}
	fmt.Fprintf(&text, "GITHUB_URL=%s/github\nGITHUB_API_URL=%[1]s/github%s\n", s.base, providers.GitHubAPI)
	fmt.Fprintf(&text, "GOOGLE_ISSUER=%s/google\nFACEBOOK_GRAPH_URL=%[1]s/facebook\n", s.base)
	return text.String()
}

// config is the configuration of the page.
type config struct {
	API       string              `json:"api"`
	Providers map[string]provider `json:"providers"`
}

// handler serves the page at the root and the fake providers under their names. The Content-Security-Policy allows only the
// script of the page and requests to the service; the Referrer-Policy hides the code in the URL.
func (s *site) handler() http.Handler {
	files, err := fs.Sub(demo, "demo")
	if err != nil {
		panic(err) // the directory is embedded
	}
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' " + s.api.Scheme + "://" + s.api.Host +
		"; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
	mux := http.NewServeMux()
	for name, p := range s.providers {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, p.fake))
	}
	mux.HandleFunc("/config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(config{s.api.String(), s.providers})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		http.FileServerFS(files).ServeHTTP(w, r)
	})
	return mux
}
