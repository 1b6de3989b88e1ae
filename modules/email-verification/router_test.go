package emailverification_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

var row = testkit.Row

const (
	page        = testkit.LinkOrigin + "/verify/{token}"
	newPassword = "a better horse battery"
	week        = 7 * 24 * time.Hour
)

// api is a service with the steps of the flows.
type api struct {
	*testkit.API
	t *testing.T
}

func start(t *testing.T, options ...testkit.Option) api {
	t.Helper()
	return api{apitest.Start(t, options...), t}
}

func askVerification(token string) request {
	return request{Method: "POST", Path: "/users/me/email-verification", As: token, Form: url.Values{"link": {page}}}
}

func askChange(email, password, to string) request {
	return request{Method: "PUT", Path: "/users/me/email", Email: email, Password: password, Form: url.Values{"email": {to}, "link": {page}}}
}

func confirm(token string) request {
	return request{Method: "PUT", Path: "/email-verifications/" + token, Form: url.Values{}}
}

func show(token string) request { return request{Method: "GET", Path: "/email-verifications/" + token} }

func signUp(email string) request {
	return request{Method: "POST", Path: "/users", As: testkit.MasterKey, Form: url.Values{"email": {email}, "password": {testkit.Password}}}
}

// verification requests a verification and returns the token.
func (a api) verification(u testkit.Account) string {
	a.t.Helper()
	a.Do(askVerification(u.Token)).Want(202)
	return emailtest.Token(a.t, a.Email.Next(a.t))
}

// changeOf requests a change of address and returns the token, which was sent to the new address.
func (a api) changeOf(email, password, to string) string {
	a.t.Helper()
	a.Do(askChange(email, password, to)).Want(202)
	m := a.Email.Next(a.t)
	if m.To != to {
		a.t.Errorf("an email to %s", m.To)
	}
	return emailtest.Token(a.t, m)
}

// changed changes an address and returns the token that undoes it, which was sent to the old address.
func (a api) changed(email, password, to string) (undo string) {
	a.t.Helper()
	a.Do(confirm(a.changeOf(email, password, to))).Want(200)
	m := a.Email.Next(a.t)
	if m.To != email || strings.Contains(m.Text+m.HTML, to) {
		a.t.Errorf("an email to %s: %s", m.To, m.Text)
	}
	return emailtest.Token(a.t, m)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada := api.SignUp("user")
	first, token := api.verification(ada), api.verification(ada)
	if len(token) != 43 || token == first {
		t.Errorf("tokens %q, %q", first, token)
	}
	view := api.Do(show(token)).Want(200)
	if cache := view.Header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("Cache-Control %q", cache)
	}
	expires := api.Clock.Now().Add(24 * time.Hour).UTC().Format("2006-01-02T15:04:05.") // to the millisecond
	post := askVerification(ada.Token)
	form := func(link string) request { r := post; r.Form = url.Values{"link": {link}}; return r }
	api.Run(t, []testkit.Scenario{
		row("show", show(token), 200, []string{`"purpose":"verify"`, `"email":"` + ada.Email, `"user":{"id":"` + ada.ID, `"expiresAt":"` + expires}, []string{"role"}),
		row("show another", show("x"), 404, []string{"This link does not work"}, nil),
		row("no link", form(""), 400, []string{`"param":"link","code":"required"`, "VERIFY_LINK_ORIGINS"}, nil),
		row("another site", form("https://evil.example/{token}"), 400, []string{`"param":"link","code":"one_of"`, "VERIFY_LINK_ORIGINS"}, []string{"evil"}),
		row("not verified yet", request{Method: "GET", Path: "/users/me", As: ada.Token}, 200, []string{`"emailVerified":false`}, nil),
		row("unknown token", confirm("x"), 404, []string{"This link does not work"}, nil),
		row("a parameter", request{Method: "PUT", Path: "/email-verifications/" + token, Form: url.Values{"email": {"eve@example.com"}}}, 200, []string{`"emailVerified":true`, ada.Email}, nil),
		row("again", confirm(token), 404, []string{"This link does not work"}, nil),
		row("show a used one", show(token), 404, nil, nil),
		row("the other token", confirm(first), 404, nil, nil),
		row("sessions continue", request{Method: "GET", Path: "/users/me", As: ada.Token}, 200, []string{`"emailVerified":true`}, nil),
		row("verified", post, 409, []string{`"code":"conflict"`}, nil),
	})
}

// TestSignUpEmail checks that an email is sent at sign-up if exactly one page has a path.
func TestSignUpEmail(t *testing.T) {
	t.Parallel()
	for pages, want := range map[string]bool{
		"": false, testkit.LinkOrigin: false, testkit.LinkOrigin + "/verify": true, testkit.LinkOrigin + "/verify,https://other.example.com": true,
		testkit.LinkOrigin + "/verify," + testkit.LinkOrigin + "/confirm": false,
	} {
		api := start(t, testkit.Env("VERIFY_LINK_ORIGINS", pages))
		ada := api.SignUp("user")
		if want {
			m := api.Email.Next(t)
			if m.To != ada.Email || !strings.Contains(m.Text, "\n"+testkit.LinkOrigin+"/verify/") {
				t.Errorf("%s: to %s: %s", pages, m.To, m.Text)
			}
			api.Do(confirm(emailtest.Token(t, m))).Want(200)
		}
		api.Do(signUp(ada.Email)).Want(409)
		api.Finish()
		api.Email.None(t)
	}
}

// TestTokenEnds checks what makes a token invalid.
func TestTokenEnds(t *testing.T) {
	t.Parallel()
	api := start(t)
	admin := api.SignUp("admin")
	patch := func(u testkit.Account, name, value string) request {
		return request{Method: "PATCH", Path: "/users/" + u.ID, As: admin.Token, Form: url.Values{name: {value}}}
	}
	for name, event := range map[string]func(u testkit.Account){
		"a password change": func(u testkit.Account) {
			api.Do(request{Method: "PUT", Path: "/users/me/password", Email: u.Email, Password: testkit.Password, Form: url.Values{"password": {newPassword}}}).Want(200)
		},
		"another address": func(u testkit.Account) { api.Do(patch(u, "email", "x"+u.Email)).Want(200) },
		"deletion":        func(u testkit.Account) { api.Do(request{Method: "DELETE", Path: "/users/me", As: u.Token}).Want(204) },
	} {
		u := api.SignUp("user")
		tokens := []string{api.verification(u), api.changeOf(u.Email, testkit.Password, "new"+u.Email)}
		for _, token := range tokens {
			api.Do(show(token)).Want(200)
		}
		event(u)
		for _, token := range tokens {
			for _, r := range []request{show(token), confirm(token)} {
				if status := api.Do(r).Status; status != 404 {
					t.Errorf("after %s: status %d", name, status)
				}
			}
		}
	}
	u := api.SignUp("user")
	token := api.verification(u)
	api.Do(patch(u, "name", "Ada")).Want(200)
	api.Clock.Advance(24*time.Hour - time.Second)
	api.Do(show(token)).Want(200)
	api.Clock.Advance(time.Second)
	api.Do(show(token)).Want(404)
	api.Do(confirm(token)).Want(404)
	api.RunJobs()
}

func TestChange(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	api.Do(confirm(api.verification(ada))).Want(200)
	const to = "ada@xn--bcher-kva.example"
	session := request{Method: "GET", Path: "/users/me", As: ada.Token}
	api.Run(t, []testkit.Scenario{
		row("own address", askChange(ada.Email, testkit.Password, strings.ToUpper(ada.Email)), 409, []string{`"param":"email","code":"conflict"`, "already"}, nil),
		row("in use", askChange(ada.Email, testkit.Password, eve.Email), 409, []string{`"param":"email","code":"conflict"`}, nil),
		row("wrong password", askChange(ada.Email, "wrong", to), 401, nil, nil),
		row("invalid address", askChange(ada.Email, testkit.Password, "ada"), 400, []string{`"param":"email","code":"format"`}, nil),
		row("PATCH names this route", request{Method: "PATCH", Path: "/users/me", As: ada.Token, Form: url.Values{"email": {to}}}, 400, []string{`"code":"read_only"`, "PUT /users/me/email"}, nil),
	})
	token := api.changeOf(ada.Email, testkit.Password, to)
	api.Run(t, []testkit.Scenario{
		row("show", show(token), 200, []string{`"purpose":"change"`, `"email":"` + to, `"user":{"id":"` + ada.ID}, []string{ada.Email}),
		row("not changed yet", session, 200, []string{ada.Email}, nil),
		row("confirm", confirm(token), 200, []string{`"email":"` + to, `"emailVerified":true`}, nil),
		row("again", confirm(token), 404, nil, nil),
		row("sessions have ended", session, 401, nil, nil),
		row("the old address", testkit.SignInRequest(ada.Email, testkit.Password), 401, nil, nil),
		row("the new address", testkit.SignInRequest("ada@BÜCHER.example", testkit.Password), 201, nil, nil),
	})
	if m := api.Email.Next(t); m.To != ada.Email || strings.Contains(m.Text+m.HTML, to) {
		t.Errorf("to %s: %s", m.To, m.Text)
	}
	taken := []testkit.Scenario{
		row("sign-up", signUp(" "+strings.ToUpper(ada.Email)), 409, []string{`"param":"email","code":"conflict"`, "7 days"}, nil),
		row("sign-up with an address in use", signUp(eve.Email), 409, []string{`"param":"email","code":"conflict"`, "7 days"}, nil), // the same response
		row("another's change", askChange(eve.Email, testkit.Password, ada.Email), 409, []string{`"param":"email","code":"conflict"`, "7 days"}, nil),
	}
	api.Run(t, taken)
	api.Clock.Advance(week - time.Minute)
	api.Run(t, taken[:2])
	api.Clock.Advance(time.Minute)
	api.RunJobs()
	api.Run(t, []testkit.Scenario{row("sign-up after a week", signUp(ada.Email), 201, nil, nil)})
}

// TestSignupEmailRequired checks that an account can be used after its address is verified, and that its address can be
// changed before.
func TestSignupEmailRequired(t *testing.T) {
	t.Parallel()
	api := start(t, testkit.Env("SIGNUP_EMAIL", "required"))
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	rename := request{Method: "PATCH", Path: "/users/me", As: ada.Token, Form: url.Values{"name": {"Ada"}}}
	api.Do(rename).Want(403, `"code":"email_not_verified"`)
	api.Do(request{Method: "DELETE", Path: "/users/" + ada.ID, As: admin.Token}).Want(403, `"code":"email_not_verified"`)
	token := api.verification(ada)
	withToken := confirm(token)
	withToken.As = ada.Token
	api.Do(withToken).Want(200)
	api.Do(rename).Want(200)

	eve := api.SignUp("user")
	const to = "eve@example.org"
	api.changed(eve.Email, testkit.Password, to)
	rename.As = api.SignIn(to, testkit.Password).Token
	api.Do(rename).Want(200)
}

// TestLimits checks the limits of an address, of an account and of a network.
func TestLimits(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	limited := func(r request, name string) {
		t.Helper()
		if response := api.Do(r).Want(429); !strings.Contains(response.Header.Get("RateLimit"), `"`+name+`";r=0`) {
			t.Errorf("%v", response.Header)
		}
	}
	for range 5 {
		api.verification(ada)
	}
	limited(askVerification(ada.Token), "verification-emails")
	for range 2 {
		api.changeOf(eve.Email, testkit.Password, "new@example.org")
	}
	for range 3 {
		api.Do(askChange(eve.Email, testkit.Password, ada.Email)).Want(409) // a conflict counts too
	}
	limited(askChange(eve.Email, testkit.Password, "other@example.org"), "address-changes")
	for range 3 {
		api.changeOf(ada.Email, testkit.Password, "new@example.org")
	}
	limited(askChange(ada.Email, testkit.Password, "New@example.ORG"), "address-change-emails")
	api.Do(signUp("new@example.org")).Want(201)
	api.verification(testkit.Account{Session: api.SignIn("new@example.org", testkit.Password)}) // changes by other users do not count
	for range 100 {
		api.Do(askVerification(ada.Token))
	}
	limited(askVerification(api.SignUp("user").Token), "verification-requests")
	api.Clock.Advance(time.Hour)
	ada.Session = api.SignIn(ada.Email, testkit.Password)
	api.verification(ada)
	api.Finish()
	api.Email.None(t)
}

// TestFullQueue checks that an address does not change if the owner of the old address cannot be notified.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	page := testkit.Env("VERIFY_LINK_ORIGINS", testkit.LinkOrigin+"/verify")
	a := start(t, page)
	ada := a.SignUp("user")
	a.Email.Next(t)
	token := a.changeOf(ada.Email, testkit.Password, "ada@example.org")
	full := api{a.Instance(page, func(c *testkit.Config) { c.DB = emailtest.Full(c.DB) }), t}
	full.Do(confirm(token)).Want(503)
	full.Do(show(token)).Want(200)
	full.SignIn(ada.Email, testkit.Password)
	full.Do(signUp("grace@example.com")).Want(201)
	a.Finish()
	full.Finish()
	a.Email.None(t)
}
