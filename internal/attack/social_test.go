package attack_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

// page is the redirect URI of codes.
const page = "https://app.example.com/signed-in"

// fake is the common interface of the fake providers.
type fake interface {
	AddUser(providers.User) providers.User
	Token(userID string, scopes ...string) string
	ForeignToken(userID string, scopes ...string) string
	Code(userID, redirectURI, challenge string) string
	Fail(providers.Failure, ...string)
}

// world is a service with fake providers.
type world struct {
	*testkit.API
	testkit.Providers
	secret string // client secret of the service at all providers
}

// newWorld starts a service with the providers. The options are applied last.
func newWorld(t *testing.T, set ...testkit.Option) *world {
	t.Helper()
	w := new(world)
	first := []testkit.Option{
		public,
		func(c *testkit.Config) { w.Providers = c.StartProviders(t) },
		func(*testkit.Config) { w.secret = testkit.ProviderSecret },
	}
	w.API = apitest.Start(t, append(first, set...)...)
	return w
}

// all returns the providers by name.
func (w *world) all() map[string]fake {
	return map[string]fake{"facebook": w.Facebook, "github": w.GitHub, "google": w.Google}
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

// TestProofOfAnotherApp signs in with a token that was issued to the attacker's app.
func TestProofOfAnotherApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, provider := range w.all() {
		provider.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true})
		ok(t, w.Do(enter(name, "", "access_token", provider.Token("7"))))
		want(t, 401, w.Do(enter(name, "", "access_token", provider.ForeignToken("7"))), "a token for another app, "+name)
	}
	ours, other := claimsOf(t, w.Google.IDToken("7"))["aud"], providers.ForeignClientID
	for name, audience := range map[string]any{"another": other, "ours and another": []any{ours, other}, "another and ours": []any{other, ours}, "none": []string{}, "no": nil} {
		want(t, 401, w.Do(enter("google", "", "id_token", w.Google.IDToken("7", providers.Claim("aud", audience)))), "an ID token for "+name+" app")
	}
}

// TestForgedIDToken signs in with ID tokens that Google did not issue.
func TestForgedIDToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Google.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true})
	good := w.Google.IDToken("7")
	ok(t, w.Do(enter("google", "", "id_token", good)))
	now := w.Clock.Now()
	for name, change := range map[string]providers.Change{
		"unsigned":                          providers.Algorithm("none"),
		"signed with the public key (HMAC)": providers.Algorithm("HS256"),
		"of another algorithm":              providers.Algorithm("PS256"),
		"of another key":                    providers.ForeignKey(),
		"of another issuer":                 providers.Claim("iss", "https://evil.example.com"),
		"expired":                           providers.Claim("exp", now.Add(-time.Second).Unix()),
		"before its time":                   providers.Claim("nbf", now.Add(time.Hour).Unix()),
		"without an end":                    providers.Claim("exp", nil),
		"no subject":                        providers.Claim("sub", ""),
	} {
		if got := w.Do(enter("google", "", "id_token", w.Google.IDToken("7", change))); got.Status < 400 {
			t.Errorf("an ID token %s: the attack succeeded: the attacker got %d: %s", name, got.Status, got.Body)
		}
	}
	parts := strings.Split(good, ".")
	eves := strings.Split(w.Google.IDToken(w.Google.AddUser(providers.User{EmailVerified: true}).ID), ".")
	want(t, 401, w.Do(enter("google", "", "id_token", eves[0]+"."+parts[1]+"."+eves[2])), "the claims of one, the signature of another")
}

// TestUnverifiedAddress signs in with a provider account that has the victim's email address unverified.
func TestUnverifiedAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.GitHub.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true})
	ada := userID(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7"))))
	w.Google.AddUser(providers.User{ID: "666", Email: "ada@example.com"})
	w.GitHub.AddUser(providers.User{ID: "666", Email: "ada@example.com", OtherEmails: []providers.Email{{Address: "eve@example.com", Verified: true}}})
	for name, r := range map[string]request{
		"google":                    enter("google", "", "access_token", w.Google.Token("666")),
		"google, by ID token":       enter("google", "", "id_token", w.Google.IDToken("666")),
		"google, verified in words": enter("google", "", "id_token", w.Google.IDToken("666", providers.Claim("email_verified", "no"))),
		"github":                    enter("github", "", "access_token", w.GitHub.Token("666")),
	} {
		if got := w.Do(r); got.Status != 409 {
			t.Errorf("%s: the attack succeeded: the attacker got %d, not 409, as a user like %s: %s", name, got.Status, ada, got.Body)
		}
	}
}

// TestLookalikeAddress has a provider verify an address of the attacker that becomes the victim's when
// converted to lower case: the Kelvin sign becomes k, and the dotted capital I becomes i (Unicode, UnicodeData.txt).
func TestLookalikeAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.GitHub.AddUser(providers.User{ID: "7", Email: "kim@example.com", EmailVerified: true})
	kim := userID(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7"))))
	for _, address := range []string{"\u212Aim@example.com", "k\u0130m@example.com", "kim@example.com\u0000", "kim@ex\u00ADample.com"} {
		eve := w.Google.AddUser(providers.User{Email: address, EmailVerified: true})
		if got := w.Do(enter("google", "", "access_token", w.Google.Token(eve.ID))); got.Status == 201 && userID(t, got) == kim {
			t.Errorf("%+q: the attack succeeded: the attacker got in as the user of kim@example.com", address)
		}
	}
}

// TestSignedUpBefore signs up with the victim's address before the victim signs in with a provider.
func TestSignedUpBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ok(t, w.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {"ada@example.com"}, "password": {guess}}}))
	for name, provider := range w.all() {
		provider.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true})
		if got := w.Do(enter(name, "", "access_token", provider.Token("7"))); got.Status != 409 {
			t.Errorf("%s: the attack succeeded: the victim got %d, not 409, and is now in the attacker's account: %s", name, got.Status, got.Body)
		}
	}
}

// TestSameIDElsewhere signs in with an account that has the victim's account ID at another provider.
func TestSameIDElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.GitHub.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true})
	ada := userID(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7"))))
	for name, provider := range map[string]fake{"google": w.Google, "facebook": w.Facebook} {
		provider.AddUser(providers.User{ID: "7", Email: name + "@example.com", EmailVerified: true})
		if got := userID(t, w.Do(enter(name, "", "access_token", provider.Token("7")))); got == ada {
			t.Errorf("%s: the attack succeeded: the attacker got in as another's user %s", name, got)
		}
	}
}

// TestAccountOfTheDeleted signs in with the provider account of a deleted user. It must create a new user.
func TestAccountOfTheDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.GitHub.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true})
	first := ok(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))).JSON(201)
	ok(t, w.Do(request{Method: "DELETE", Path: "/users/me", As: first["token"].(string)}))
	eve := userID(t, w.Do(request{Method: "POST", Path: "/auth/github", Form: url.Values{"access_token": {w.GitHub.Token("7")}}}))
	if before := first["user"].(map[string]any)["id"]; eve == before {
		t.Errorf("the attack succeeded: a deleted user came back: %s", eve)
	}
}

// TestStolenCode uses an intercepted authorization code without its verifier (RFC 7636). Clients protect themselves
// against injected codes with state (RFC 6749 section 10.12), which the service never sees: see
// scripts/checks/providers/demo/app.js.
func TestStolenCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	verifier := strings.Repeat("0123456789abcdef", 3)
	for name, provider := range w.all() {
		provider.AddUser(providers.User{ID: "7", Email: name + "@example.com", EmailVerified: true})
		code := func() string { return provider.Code("7", page, providers.Challenge(verifier)) }
		spent := code()
		ok(t, w.Do(enter(name, "", "code", spent, "redirect_uri", page, "code_verifier", verifier)))
		rejected(t, w.API, []attempt{
			{"no verifier, " + name, enter(name, "", "code", code(), "redirect_uri", page), 401, "unauthorized"},
			{"another verifier, " + name, enter(name, "", "code", code(), "redirect_uri", page, "code_verifier", verifier+"x"), 401, "unauthorized"},
			{"the challenge for verifier, " + name, enter(name, "", "code", code(), "redirect_uri", page, "code_verifier", providers.Challenge(verifier)), 401, "unauthorized"},
			{"another page, " + name, enter(name, "", "code", code(), "redirect_uri", "https://evil.example.com/", "code_verifier", verifier), 401, "unauthorized"},
			{"used before, " + name, enter(name, "", "code", spent, "redirect_uri", page, "code_verifier", verifier), 401, "unauthorized"},
			{"no page, " + name, enter(name, "", "code", code(), "code_verifier", verifier), 400, "redirect_uri"},
		})
	}
}

// TestAnothersIdentity links, lists and unlinks another user's identity.
func TestAnothersIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.GitHub.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true})
	ada := ok(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))).JSON(201)
	eve := w.SignUp("user")
	rejected(t, w.API, []attempt{
		{"link another user's account", enter("github", eve.Token, "access_token", w.GitHub.Token("7")), 409, "conflict"},
		{"link with the master key", enter("github", testkit.MasterKey, "access_token", "x"), 401, "unauthorized"},
		{"unlink another user's account", request{Method: "DELETE", Path: "/auth/identities/github", As: eve.Token}, 404, "not_found"},
		{"list without a user", request{Method: "GET", Path: "/auth/identities"}, 401, "unauthorized"},
	})
	if list := w.Do(request{Method: "GET", Path: "/auth/identities", As: eve.Token}).JSON(200); list["count"] != 0.0 {
		t.Errorf("the attack succeeded: the attacker got %v", list)
	}
	if list := w.Do(request{Method: "GET", Path: "/auth/identities", As: ada["token"].(string)}).JSON(200); list["count"] != 1.0 {
		t.Errorf("the attack succeeded: the victim has %v", list)
	}
}

// TestOverwrittenProfile links an account whose profile has changed at the provider. The user must keep its profile.
func TestOverwrittenProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.GitHub.AddUser(providers.User{ID: "7", Email: "ada@example.com", EmailVerified: true, Name: "Ada"})
	ada := ok(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))).JSON(201)["user"].(map[string]any)
	w.GitHub.AddUser(providers.User{ID: "7", Email: "root@example.com", EmailVerified: true, Name: "<b>Root</b>", Picture: "javascript:alert(1)"})
	now := ok(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))).JSON(201)["user"].(map[string]any)
	for _, name := range []string{"id", "email", "name", "picture", "role"} {
		if now[name] != ada[name] {
			t.Errorf("the attack succeeded: the attacker changed %s from %v to %v", name, ada[name], now[name])
		}
	}
	eve := w.GitHub.AddUser(providers.User{Email: "eve@example.com", EmailVerified: true, Name: "Eve\r\nX: y\x00", Picture: "javascript:alert(1)"})
	proof := enter("github", "", "access_token", w.GitHub.Token(eve.ID), "role", "admin", "email", "root@example.com", "emailVerified", "true", "id", "x")
	want(t, 400, w.Do(proof), "a profile beside the token")
	proof = enter("github", "", "access_token", w.GitHub.Token(eve.ID))
	made := ok(t, w.Do(proof)).JSON(201)["user"].(map[string]any)
	if text := made["name"].(string) + made["picture"].(string); strings.ContainsAny(text, "\r\n\x00") || strings.Contains(text, "javascript") {
		t.Errorf("the attack succeeded: the attacker's profile is %q", text)
	}
	if made["role"] != "user" || made["email"] != "eve@example.com" {
		t.Errorf("the attack succeeded: the attacker is %v", made)
	}
}
