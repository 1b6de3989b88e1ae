package testkit

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/ginseng/kit/testkit/providers"
)

// Providers are fakes of the identity providers.
type Providers struct {
	Facebook *providers.Facebook
	GitHub   *providers.GitHub
	Google   *providers.Google
}

// StartProviders starts fakes of the identity providers, at which the service has clients then. It is for the functions
// that Start takes; the test's clean-up stops the fakes.
func (c *Config) StartProviders(t testing.TB) Providers {
	t.Helper()
	app := providers.App{ID: "1234567890123456", Secret: "test-client-secret-0123456789abcdefg"}
	p := Providers{providers.NewFacebook(app, c.Host.Now), providers.NewGitHub(app, c.Host.Now), providers.NewGoogle(app, c.Host.Now)}
	start := func(h http.Handler) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	s := &c.Settings.Social
	s.Facebook.ID, s.Facebook.Secret, s.Facebook.GraphURL = app.ID, app.Secret, start(p.Facebook)
	s.GitHub.ID, s.GitHub.Secret, s.GitHub.URL = app.ID, app.Secret, start(p.GitHub)
	s.GitHub.APIURL = s.GitHub.URL + providers.GitHubAPI
	s.Google.IDs, s.Google.Secret, s.Google.Issuer = []string{app.ID}, app.Secret, start(p.Google)
	p.Google.SetIssuer(s.Google.Issuer)
	return p
}
