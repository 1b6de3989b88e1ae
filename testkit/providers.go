package testkit

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/ginseng/testkit/providers"
)

// ProviderSecret is the client secret of the service at the fake identity providers.
const ProviderSecret = "test-client-secret-0123456789abcdefg"

// Providers has a fake of each identity provider.
type Providers struct {
	Facebook *providers.Facebook
	GitHub   *providers.GitHub
	Google   *providers.Google
}

// All returns the providers by name.
func (p Providers) All() map[string]providers.Fake {
	return map[string]providers.Fake{"facebook": p.Facebook, "github": p.GitHub, "google": p.Google}
}

// StartProviders starts fake identity providers and configures the service to use them. It stops them at the end of the
// test.
func (c *Config) StartProviders(t testing.TB) Providers {
	t.Helper()
	app := providers.App{ID: "1234567890123456", Secret: ProviderSecret}
	now := c.Clock.Now
	p := Providers{providers.NewFacebook(app, now), providers.NewGitHub(app, now), providers.NewGoogle(app, now)}
	start := func(h http.Handler) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, name := range []string{"FACEBOOK", "GITHUB", "GOOGLE"} {
		c.Env[name+"_CLIENT_ID"], c.Env[name+"_CLIENT_SECRET"] = app.ID, app.Secret
	}
	c.Env["FACEBOOK_GRAPH_URL"] = start(p.Facebook)
	c.Env["GITHUB_URL"] = start(p.GitHub)
	c.Env["GITHUB_API_URL"] = c.Env["GITHUB_URL"] + providers.GitHubAPI
	c.Env["GOOGLE_ISSUER"] = start(p.Google)
	p.Google.SetIssuer(c.Env["GOOGLE_ISSUER"])
	return p
}
