package passkey_test

import (
	"net/url"
	"testing"
	"time"

	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestPasswordReset completes a reset, which invalidates a passkey and a pending registration.
func TestPasswordReset(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	apitest.Need(t, api, "POST /password-resets")
	ada, d, late := api.SignUp("user"), device(), device()
	path := register(t, api, ada, d).Header.Get("Location")
	pending, publicKey := options(t, api, mine+"/options", ada.Token)
	pending["credential"], _ = late.Create(publicKey)
	reset := url.Values{"email": {ada.Email}, "link": {testkit.LinkOrigin + "/{token}"}}
	api.Do(request{Method: "POST", Path: "/password-resets", As: testkit.MasterKey, Form: reset}).Want(202)
	const password = "another password"
	complete := request{Method: "PUT", Path: "/password-resets/" + emailtest.Token(t, api.Email.NextTo(t, ada.Email)), Form: url.Values{"password": {password}}}
	api.Do(complete).Want(200, ada.Email)

	signIn(t, api, d).Want(401, "unauthorized")
	ada.Session = api.SignIn(ada.Email, password)
	api.Do(request{Method: "GET", Path: mine, As: ada.Token}).Want(200, `"count":0`)
	api.Do(request{Method: "GET", Path: path, As: ada.Token}).Want(404, "not_found")
	api.Do(request{Method: "POST", Path: mine, As: ada.Token, JSON: pending}).Want(400, `"param":"challenge","code":"wrong"`)
	register(t, api, ada, device()).Want(201) // also deletes the invalid passkey
	if n := api.Count("passkeys"); n != 1 {
		t.Errorf("%d passkeys are stored", n)
	}
}

// TestUndo undoes a change of the address, which also invalidates passkeys that were registered before the change.
func TestUndo(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	apitest.Need(t, api, "PUT /users/me/email")
	ada, d := api.SignUp("user"), device()
	register(t, api, ada, d).Want(201)
	const to = "eve@example.org"
	change := url.Values{"email": {to}, "link": {testkit.LinkOrigin + "/{token}"}}
	api.Do(request{Method: "PUT", Path: "/users/me/email", Email: ada.Email, Password: testkit.Password, Form: change}).Want(202)
	api.Do(request{Method: "PUT", Path: "/email-verifications/" + emailtest.Token(t, api.Email.NextTo(t, to))}).Want(200, to)
	signIn(t, api, d).Want(201, to) // the owner may have changed the address
	api.Do(request{Method: "PUT", Path: "/email-verifications/" + emailtest.Token(t, api.Email.NextTo(t, ada.Email))}).Want(200, ada.Email)
	signIn(t, api, d).Want(401, "unauthorized")
}

// TestStepUp changes passkeys with a session that is too old, and with the password.
func TestStepUp(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, d := api.SignUp("user"), device()
	path := register(t, api, ada, d).Header.Get("Location")
	api.Clock.Advance(11 * time.Minute)
	name := url.Values{"name": {"N"}}
	for _, r := range []request{{Method: "POST", Path: mine + "/options"}, {Method: "PATCH", Path: path, Form: name}, {Method: "DELETE", Path: path}} {
		r.As = ada.Token
		api.Do(r).Want(403, "reauthentication_required")
	}
	basic := func(method, path string, form url.Values) testkit.Response {
		return api.Do(request{Method: method, Path: path, Email: ada.Email, Password: testkit.Password, Form: form})
	}
	issued := basic("POST", mine+"/options", nil).JSON(200)
	credential, err := device().Create(issued["publicKey"])
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]any{"challenge": issued["challenge"], "credential": credential}
	api.Do(request{Method: "POST", Path: mine, As: ada.Token, JSON: params}).Want(201) // the challenge is sufficient
	basic("PATCH", path, name).Want(200, `"name":"N"`)
	basic("DELETE", path, nil).Want(204)
	api.Do(request{Method: "GET", Path: mine, As: ada.Token}).Want(401) // all sessions have ended
}

// TestPasswordChange changes the password, which does not invalidate passkeys.
func TestPasswordChange(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, d := api.SignUp("user"), device()
	register(t, api, ada, d).Want(201)
	change := request{Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: testkit.Password, Form: url.Values{"password": {"another password"}}}
	api.Do(change).Want(200)
	signIn(t, api, d).Want(201, ada.Email)
}

// TestTwoFactor signs in with a passkey instead of a password and a code. A passkey is no second factor for sign-in with a password.
func TestTwoFactor(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	apitest.Need(t, api, "POST /auth/second-factor")
	required := api.Instance(testkit.Env("REQUIRE_TWO_FACTOR", "admin"))
	admin, d := api.SignUp("admin"), device()
	register(t, api, admin, d).Want(201)
	id, ok := store.ParseID(admin.ID)
	if !ok {
		t.Fatal("no ID")
	}
	now := store.At(api.Clock.Now())
	type factor struct {
		store.Meta    `bson:",inline"`
		ConfirmedAt   store.Time `json:"confirmedAt"`
		RecoveryCodes []string   `json:"recoveryCodes"`
	}
	testkit.Insert(api, "factors", factor{store.NewMeta(id, now), now, []string{}})
	password := request{Method: "POST", Path: "/auth", Email: admin.Email, Password: testkit.Password, Form: url.Values{"access_token": {testkit.MasterKey}}}
	api.Do(password).Want(401, "second_factor_required")
	admin.Token = signIn(t, required, d).JSON(201)["token"].(string)
	required.Do(request{Method: "GET", Path: "/users", As: admin.Token}).Want(200, admin.Email)
	register(t, required, admin, device()).Want(201) // a session with both factors needs no code

	if _, err := store.Open[factor](api.DB, store.Spec{Name: "factors"}).Delete(t.Context(), store.Eq("id", id)); err != nil {
		t.Fatal(err)
	}
	token := signIn(t, required, d).JSON(201)["token"].(string)
	required.Do(request{Method: "GET", Path: "/users", As: token}).Want(403, "two_factor_required") // a passkey alone does not count
}
