package twofactor_test

import (
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestStepUp changes the password and the address of an account with a second factor, and deletes the account. The password is
// not sufficient without the second factor.
func TestStepUp(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h, other := enrol(t, api, api.SignUp("user")), api.SignUp("user")
	create(api, other) // not confirmed: has no effect
	routes := []func(testkit.Account, url.Values) request{
		func(a testkit.Account, proof url.Values) request {
			proof.Set("password", testkit.Password)
			return basic("PUT", "/users/me/password", a, proof)
		},
		func(a testkit.Account, proof url.Values) request {
			proof.Set("email", "new-"+a.Email)
			proof.Set("link", link)
			return basic("PUT", "/users/me/email", a, proof)
		},
		func(a testkit.Account, proof url.Values) request {
			return basic("DELETE", "/users/me", a, proof)
		},
	}
	for _, route := range routes {
		r := route(h.Account, values())
		if r.Method == "PUT" && !slices.Contains(api.Handler.Routes(), "PUT "+r.Path) && r.Path != "/users/me/password" {
			continue // without the component
		}
		t.Log(r.Method, r.Path)
		refused := api.Do(r)
		refused.Want(403, `"code":"second_factor_required"`)
		if refused.Header.Get("WWW-Authenticate") != "" {
			t.Error("403 with WWW-Authenticate")
		}
		api.Do(route(h.Account, values("code", h.wrong()))).Want(400, `"param":"code","code":"wrong"`)
		response := api.Do(route(h.Account, values("code", h.code())))
		if response.Status < 200 || response.Status > 299 {
			t.Errorf("with a code: status %d: %s", response.Status, response.Body)
		}
		if response := api.Do(route(other, values())); response.Status < 200 || response.Status > 299 {
			t.Errorf("without a second factor: status %d: %s", response.Status, response.Body)
		}
		api.Clock.Advance(30 * time.Second)
	}
}

// TestStepUpWithASession changes the account with sessions. A session that was opened with the second factor requires no code for
// 10 minutes. The session that confirmed the second factor requires a code.
func TestStepUpWithASession(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h := enrol(t, api, api.SignUp("user"))
	change := func(token string, proof url.Values) testkit.Response {
		proof.Set("password", testkit.Password)
		return api.Do(request{Method: "PUT", Path: "/users/me/password", As: token, Form: proof})
	}
	change(h.Token, values()).Want(403, "second_factor_required")
	change(h.Token, values("recovery_code", h.recovery[0])).Want(200, h.Email)
	signedIn := answer(api, h.challenge(), "code", h.code()).JSON(201)
	token := signedIn["token"].(string)
	change(token, values()).Want(200, h.Email)
	api.Do(request{Method: "GET", Path: mine, As: h.Token}).Want(401, "unauthorized") // another session
	api.Clock.Advance(10*time.Minute + time.Second)
	change(token, values("code", h.code())).Want(403, "reauthentication_required")
	token = api.Do(request{Method: "POST", Path: "/auth/refresh", Form: values("refresh_token", signedIn["refreshToken"].(string))}).JSON(201)["token"].(string)
	change(token, values("code", h.code())).Want(403, "reauthentication_required")
	api.Do(request{Method: "DELETE", Path: mine, As: token, Form: values("code", h.code())}).Want(403, "reauthentication_required")
	fresh := answer(api, h.challenge(), "code", h.code()).JSON(201)["token"].(string)
	api.Do(request{Method: "DELETE", Path: mine, As: fresh}).Want(204)
	api.Do(request{Method: "GET", Path: mine, As: fresh}).Want(200, `"enabled":false`)
	api.Do(request{Method: "GET", Path: mine, As: token}).Want(401, "unauthorized")
}

// TestAdminDeletes deletes users as an admin, who needs a code for others too.
func TestAdminDeletes(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h, admin := enrol(t, api, api.SignUp("user")), enrol(t, api, api.SignUp("admin"))
	for _, id := range []string{h.ID, admin.ID} {
		api.Do(request{Method: "DELETE", Path: "/users/" + id, As: admin.Token}).Want(403, "second_factor_required")
		api.Do(request{Method: "DELETE", Path: "/users/" + id, As: admin.Token, Form: values("code", admin.code())}).Want(204)
		api.Clock.Advance(30 * time.Second) // the next code
	}
}

// TestChangeBeforeEnrolment requests a change of the address before the user enrols, and again after that. Only the link of the
// later request works.
func TestChangeBeforeEnrolment(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	apitest.Need(t, api, "PUT /users/me/email")
	change := func(to string, proof url.Values) (confirm request) {
		proof.Set("email", to)
		proof.Set("link", link)
		api.Do(basic("PUT", "/users/me/email", ada, proof)).Want(202)
		for m := api.Email.Next(t); ; m = api.Email.Next(t) {
			if m.To == to {
				return request{Method: "PUT", Path: "/email-verifications/" + regexp.MustCompile(`[\w-]{43}`).FindString(m.Text)}
			}
		}
	}
	before := change("attacker@example.org", values("code", "123456")) // ignored
	h := enrol(t, api, ada)
	api.Do(before).Want(404)
	api.Do(change("ada@example.org", values("recovery_code", h.recovery[0]))).Want(200, "ada@example.org")
}
