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

// TestStolenAdminToken has an attacker with an admin's token use the rights of the admin to take over accounts, first with an old
// token, then with one that a refresh returned. What needs no recent sign-in still works: fields with their current values, and
// the name.
func TestStolenAdminToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, other, ada := w.SignUp("admin"), w.SignUp("admin"), w.SignUp("user")
	key := ok(t, w.Do(request{
		Method: "POST", Path: "/users/me/api-keys", As: ada.Token, JSON: `{"name":"n","scopes":["*:read"]}`,
	})).JSON(http.StatusCreated)["id"].(string)
	hook := ok(t, w.Do(request{
		Method: "POST", Path: "/webhooks", Email: other.Email, Password: testkit.Password, JSON: `{"url":"https://example.com/","events":["*"]}`,
	})).Header.Get("Location")
	w.Clock.Advance(10*time.Minute + time.Second)
	refreshed := ok(t, w.Do(refresh(admin.RefreshToken))).JSON(http.StatusCreated)["token"].(string)
	for _, token := range []string{admin.Token, refreshed} {
		const reauthenticate = "reauthentication_required"
		user := func(name, method, path, json string) attempt {
			return attempt{name, request{Method: method, Path: "/users/" + path, As: token, JSON: json}, 403, reauthenticate}
		}
		rejected(t, w.API, []attempt{
			user("promote a user", "PATCH", ada.ID, `{"role":"admin"}`),
			user("demote an admin", "PUT", other.ID, `{"role":"user"}`),
			user("change an admin's address", "PATCH", other.ID, `{"name":"N","email":"eve@example.com"}`),
			user("change the address of the token's account", "PATCH", "me", `{"email":"eve@example.com"}`),
			user("suspend an admin", "PATCH", other.ID, `{"suspended":true}`),
			user("delete an admin", "DELETE", other.ID, ""),
			user("end sessions", "DELETE", other.ID+"/sessions", ""),
			user("remove a second factor", "DELETE", other.ID+"/two-factor", ""),
			user("remove a passkey", "DELETE", other.ID+"/passkeys/65f0c1d2e3a4b5c6d7e8f901", ""),
			user("remove a key", "DELETE", ada.ID+"/api-keys/"+key, ""),
			{"create a webhook", request{Method: "POST", Path: "/webhooks", As: token, JSON: `{"url":"https://example.com/","events":["*"]}`}, 403, reauthenticate},
			{"redirect a webhook", request{Method: "PATCH", Path: hook, As: token, JSON: `{"url":"https://eve.example/"}`}, 403, reauthenticate},
			{"read a webhook's secret", request{Method: "POST", Path: hook + "/secret", As: token}, 403, reauthenticate},
			{"delete a webhook", request{Method: "DELETE", Path: hook, As: token}, 403, reauthenticate},
		})
		view := w.Do(request{Method: "GET", Path: "/users/" + ada.ID, As: token}).JSON(http.StatusOK)
		ok(t, w.Do(request{Method: "PUT", Path: "/users/" + ada.ID, As: token, JSON: view}))
		ok(t, w.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: token, JSON: `{"name":"Ada"}`}))
	}
	ok(t, w.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: w.SignIn(admin.Email, testkit.Password).Token, JSON: `{"role":"admin"}`}))
	ok(t, w.Do(request{Method: "DELETE", Path: "/users/" + ada.ID + "/api-keys/" + key, Email: admin.Email, Password: testkit.Password}))
	ok(t, w.Do(request{Method: "DELETE", Path: hook, Email: admin.Email, Password: testkit.Password}))
}
