package attack_test

import (
	"net/url"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

// page is the redirect URI of codes.
const page = "https://app.example.com/signed-in"

// world is a service with fake providers.
type world struct {
	*testkit.API
	testkit.Providers
}

// newWorld starts a service with the providers. The options are applied last.
func newWorld(t *testing.T, set ...testkit.Option) *world {
	t.Helper()
	w := new(world)
	first := []testkit.Option{public, func(c *testkit.Config) { w.Providers = c.StartProviders(t) }}
	w.API = apitest.Start(t, append(first, set...)...)
	return w
}

// all returns the providers by name.
func (w *world) all() map[string]providers.Fake {
	return map[string]providers.Fake{"facebook": w.Facebook, "github": w.GitHub, "google": w.Google}
}

// enter returns a sign-in request with a proof of a provider. With a token it links the account to the token's user.
func enter(provider, token string, proof ...string) request {
	form := url.Values{}
	for i := 0; i+1 < len(proof); i += 2 {
		form.Set(proof[i], proof[i+1])
	}
	return request{Method: "POST", Path: "/auth/" + provider, As: token, Form: form}
}

// userID returns the ID of the user in a sign-in response.
func userID(t *testing.T, a testkit.Response) string {
	t.Helper()
	return ok(t, a).JSON(201)["user"].(map[string]any)["id"].(string)
}
