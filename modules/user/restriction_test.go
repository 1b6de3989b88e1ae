package user_test

import (
	"net/url"
	"testing"

	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/modules/apitest"
)

var emailRequired = testkit.Env("SIGNUP_EMAIL", "required")

// TestUnverifiedAccount sends the requests of an account whose email address is not verified.
func TestUnverifiedAccount(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, emailRequired)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	unverified := []string{`"code":"email_not_verified"`}
	api.Run(t, []testkit.Scenario{
		row("read", request{Method: "GET", Path: "/users/me", As: ada.Token}, 200, []string{`"emailVerified":false`}, nil),
		row("read as admin", request{Method: "GET", Path: "/users", As: admin.Token}, 200, []string{ada.Email}, nil),
		row("change", request{Method: "PATCH", Path: "/users/me", As: ada.Token, Form: url.Values{"name": {"Ada"}}}, 403, unverified, nil),
		row("change as admin", request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: url.Values{"name": {"Ada"}}}, 403, unverified, nil),
		row("delete another as admin", request{Method: "DELETE", Path: "/users/" + ada.ID, As: admin.Token}, 403, unverified, nil),
		row("sign in", request{Method: "POST", Path: "/auth", Email: ada.Email, Password: testkit.Password, Form: url.Values{"access_token": {testkit.MasterKey}}}, 201, nil, nil),
		row("change the password", request{Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: testkit.Password, Form: url.Values{"password": {newPassword}}}, 200, nil, nil),
	})
	again := api.SignIn(ada.Email, newPassword)
	api.Run(t, []testkit.Scenario{
		row("delete the account", request{Method: "DELETE", Path: "/users/me", As: again.Token}, 204, nil, nil),
	})
}
