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
	Apple     *providers.OpenID
	Facebook  *providers.Facebook
	GitHub    *providers.GitHub
	GitLab    *providers.OpenID
	Google    *providers.OpenID
	Microsoft *providers.OpenID
	Okta      *providers.OpenID // configured by OIDC_PROVIDERS
}

// All returns the providers by name.
func (p Providers) All() map[string]providers.Fake {
	return map[string]providers.Fake{
		"apple": p.Apple, "facebook": p.Facebook, "github": p.GitHub, "gitlab": p.GitLab, "google": p.Google, "microsoft": p.Microsoft,
		"okta": p.Okta,
	}
}

// StartProviders starts fake identity providers and configures the service to use them. The fakes stop at the end of the test.
func (c *Config) StartProviders(t testing.TB) Providers {
	t.Helper()
	app := providers.App{ID: "1234567890123456", Secret: ProviderSecret}
	now := c.Clock.Now
	p := Providers{
		providers.NewApple(app, now), providers.NewFacebook(app, now), providers.NewGitHub(app, now), providers.NewGitLab(app, now),
		providers.NewGoogle(app, now), providers.NewMicrosoft(app, now), providers.NewGitLab(app, now),
	}
	start := func(h http.Handler) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, name := range []string{"APPLE", "FACEBOOK", "GITHUB", "GITLAB", "GOOGLE", "MICROSOFT", "OIDC_OKTA"} {
		c.Env[name+"_CLIENT_ID"], c.Env[name+"_CLIENT_SECRET"] = app.ID, app.Secret
	}
	c.Env["FACEBOOK_GRAPH_URL"] = start(p.Facebook)
	c.Env["GITHUB_URL"] = start(p.GitHub)
	c.Env["GITHUB_API_URL"] = c.Env["GITHUB_URL"] + providers.GitHubAPI
	for name, fake := range map[string]*providers.OpenID{
		"APPLE_URL": p.Apple, "GITLAB_URL": p.GitLab, "GOOGLE_ISSUER": p.Google, "MICROSOFT_URL": p.Microsoft, "OIDC_OKTA_ISSUER": p.Okta,
	} {
		c.Env[name] = start(fake)
		fake.SetIssuer(c.Env[name])
	}
	c.Env["APPLE_TEAM_ID"], c.Env["APPLE_KEY_ID"], c.Env["APPLE_PRIVATE_KEY"] = providers.AppleTeam, providers.AppleKeyID, p.Apple.PrivateKey()
	c.Env["OIDC_PROVIDERS"] = "okta"
	return p
}
