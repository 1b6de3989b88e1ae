package auth_test

import (
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// suspend returns a request of an admin that suspends a user, or ends the suspension.
func suspend(admin testkit.Account, id, value string) request {
	return request{Method: "PATCH", Path: "/users/" + id, As: admin.Token, Form: url.Values{"suspended": {value}}}
}

func TestSuspension(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	signIn := func(password string) request {
		return testkit.SignInRequest(ada.Email, password)
	}
	refresh := request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {ada.RefreshToken}}}
	suspended := []string{`"code":"suspended"`}
	api.Run(t, []testkit.Scenario{
		row("the current value by the user", request{Method: "PATCH", Path: "/users/me", As: ada.Token, Form: url.Values{"suspended": {"false"}}}, 200, []string{`"suspended":false`}, nil),
		row("an admin's own account", suspend(admin, "me", "true"), 403, nil, nil),
		row("suspend", suspend(admin, ada.ID, "true"), 200, []string{`"suspended":true`}, nil),
		row("refresh", refresh, 403, suspended, nil),
		row("wrong password", signIn("wrong"), 401, nil, []string{"suspended"}),
		row("sign in", signIn(testkit.Password), 403, suspended, nil),
		row("list", request{Method: "GET", Path: "/users?suspended=true", As: admin.Token}, 200, []string{`"count":1,`, ada.ID}, nil),
		row("list of the others", request{Method: "GET", Path: "/users?suspended=false", As: admin.Token}, 200, []string{`"count":1,`, admin.ID}, nil),
		row("end the suspension", suspend(admin, ada.ID, "false"), 200, []string{`"suspended":false`}, nil),
		row("the session stays ended", request{Method: "GET", Path: "/users/me", As: ada.Token}, 401, nil, nil),
		row("the refresh token too", refresh, 401, nil, nil),
		row("sign in again", signIn(testkit.Password), 201, nil, nil),
	})
}

// TestEndAllSessions ends all sessions of a user, as the user and as an admin.
func TestEndAllSessions(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	end := func(as testkit.Account, id string) request {
		return request{Method: "DELETE", Path: "/users/" + id + "/sessions", As: as.Token}
	}
	api.Run(t, []testkit.Scenario{
		row("unknown user", end(admin, "000000000000000000000000"), 404, nil, nil),
		row("admin", end(admin, ada.ID), 204, nil, nil),
		row("the session has ended", request{Method: "GET", Path: "/users/me", As: ada.Token}, 401, nil, nil),
		row("the refresh token too", request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {ada.RefreshToken}}}, 401, nil, nil),
		row("own sessions", end(eve, "me"), 204, nil, nil),
		row("this session too", request{Method: "GET", Path: "/users/me", As: eve.Token}, 401, nil, nil),
		row("the admin's continues", request{Method: "GET", Path: "/users/me", As: admin.Token}, 200, nil, nil),
	})
	again := signIn(api, ada.Email)
	if listed, stored := sessions(t, api, again.Token); listed != 1 || stored != 2 {
		t.Errorf("%v sessions are listed, %d stored", listed, stored)
	}
}

// TestSessionPages reads the sessions in pages, in both sort orders.
func TestSessionPages(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	phone := signIn(api, ada.Email)
	api.SignUp("user") // whose session is not listed
	list := func(query string) map[string]any {
		t.Helper()
		return api.Do(request{Method: "GET", Path: "/auth/sessions?" + query, As: phone.Token}).JSON(200)
	}
	for _, sort := range []string{"createdAt", "-createdAt", "lastUsedAt", "-lastUsedAt"} {
		first := list("limit=1&sort=" + sort)
		last := list("limit=1&sort=" + sort + "&after=" + first["next"].(string))
		if first["count"] != 2.0 || len(first["rows"].([]any)) != 1 || len(last["rows"].([]any)) != 1 || last["next"] != nil {
			t.Errorf("%s: %v, then %v", sort, first, last)
		}
	}
	if rows := list("fields=current")["rows"].([]any); rows[0].(map[string]any)["current"] == rows[1].(map[string]any)["current"] {
		t.Errorf("current: %v", rows)
	}
}

// TestNoticesOfEndedSessions checks which calls send the user an email.
func TestNoticesOfEndedSessions(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SECURITY_NOTICES", "true"))
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	end := func(as, path string) {
		t.Helper()
		api.Do(request{Method: "DELETE", Path: path, As: as}).Want(204)
	}
	received := func(event string) {
		t.Helper()
		if message := api.Email.Next(t); message.To != ada.Email || !strings.Contains(message.Text, event) {
			t.Errorf("%+v, want %s", message, event)
		}
	}
	end(ada.Token, "/auth/sessions") // no other session exists: no email
	signIn(api, ada.Email)
	end(ada.Token, "/auth/sessions")
	received("All sessions of your account were ended, except")
	end(admin.Token, "/users/"+ada.ID+"/sessions")
	received("All sessions of your account were ended.")
	end(signIn(api, ada.Email).Token, "/auth")
	api.Finish()
	api.Email.None(t)
}
