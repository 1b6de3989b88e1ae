package attack_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

// takeovers are the requests with which somebody with a user token could take over the account, keep the access, or end it.
func takeovers(w *world, token string) []attempt {
	const reauthenticate = "reauthentication_required"
	form := func(pairs ...string) url.Values {
		values := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			values.Set(pairs[i], pairs[i+1])
		}
		return values
	}
	return []attempt{
		{"change the password", request{Method: "PUT", Path: "/users/me/password", As: token, Form: form("password", guess)}, 403, reauthenticate},
		{
			"change the address", request{
				Method: "PUT", Path: "/users/me/email", As: token,
				Form: form("email", "eve@example.com", "link", testkit.LinkOrigin+"/{token}"),
			}, 403, reauthenticate,
		},
		{"enrol a second factor", request{Method: "POST", Path: "/users/me/two-factor", As: token}, 403, reauthenticate},
		{"turn the second factor off", request{Method: "DELETE", Path: "/users/me/two-factor", As: token}, 403, reauthenticate},
		{"add a passkey", request{Method: "POST", Path: "/users/me/passkeys/options", As: token}, 403, reauthenticate},
		{"remove a passkey", request{Method: "DELETE", Path: "/users/me/passkeys/65f0c1d2e3a4b5c6d7e8f901", As: token}, 403, reauthenticate},
		{"link an account", enter("google", token, "access_token", w.Google.Token("666")), 403, reauthenticate},
		{"delete the account", request{Method: "DELETE", Path: "/users/me", As: token}, 403, reauthenticate},
	}
}

// TestStolenTokens makes changes of an account with a stolen access token, with a stolen refresh token, and with a session
// that was refreshed for weeks, of a user with a password and of one with a provider. Then the owner makes a change with a new
// session, which ends the stolen ones.
func TestStolenTokens(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	for name, open := range map[string]func(w *world) testkit.Response{
		"password": func(w *world) testkit.Response {
			ok(t, w.Do(request{Method: "POST", Path: "/users", Form: url.Values{"access_token": {testkit.MasterKey}, "email": {email}, "password": {testkit.Password}}}))
			return w.Do(signIn(email, testkit.Password))
		},
		"provider": func(w *world) testkit.Response {
			w.GitHub.AddUser(providers.User{ID: "7", Email: email, EmailVerified: true})
			return w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Google.AddUser(providers.User{ID: "666", Email: "eve@example.com", EmailVerified: true})
			first := ok(t, open(w)).JSON(http.StatusCreated)
			token, next := first["token"].(string), first["refreshToken"].(string)
			w.Clock.Advance(10*time.Minute + time.Second)
			rejected(t, w.API, takeovers(w, token))
			for range 21 {
				refreshed := ok(t, w.Do(refresh(next))).JSON(http.StatusCreated)
				next = refreshed["refreshToken"].(string)
				w.Clock.Advance(24*time.Hour - time.Minute)
			}
			refreshed := ok(t, w.Do(refresh(next))).JSON(http.StatusCreated)
			token = refreshed["token"].(string)
			rejected(t, w.API, takeovers(w, token))

			signedIn := w.Do(signIn(email, testkit.Password))
			if name == "provider" {
				signedIn = w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))
			}
			fresh := ok(t, signedIn).JSON(http.StatusCreated)["token"].(string)
			ok(t, w.Do(request{Method: "PUT", Path: "/users/me/password", As: fresh, Form: url.Values{"password": {recovered}}}))
			ok(t, w.Do(me(fresh)))
			rejected(t, w.API, []attempt{
				{"the stolen token", me(token), 401, "unauthorized"},
				{"the stolen refresh token", refresh(refreshed["refreshToken"].(string)), 401, "unauthorized"},
			})
			ok(t, w.Do(request{Method: "DELETE", Path: "/users/me", As: fresh}))
		})
	}
}
