package attack_test

import (
	"net/url"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

// askChange returns a request to change the email address of an account.
func askChange(email, password, to string) request {
	return request{
		Method: "PUT", Path: "/users/me/email", Email: email, Password: password,
		Form: url.Values{"email": {to}, "link": {testkit.LinkOrigin + "/verify/{token}"}},
	}
}

// confirm returns a request that confirms an email verification.
func confirm(token string) request {
	return request{Method: "PUT", Path: "/email-verifications/" + url.PathEscape(token), Form: url.Values{}}
}

// changeAddress changes an address, and returns the token that undoes it, from the email to the old address.
func changeAddress(t *testing.T, api *testkit.API, email, password, to string) (undo string) {
	t.Helper()
	ok(t, api.Do(askChange(email, password, to)))
	ok(t, api.Do(confirm(tokenIn(t, api.Email.Next(t)))))
	m := api.Email.Next(t)
	if m.To != email {
		t.Errorf("the notice went to %s", m.To)
	}
	return tokenIn(t, m)
}

// TestUndoAfterPasswordChange changes the password after a change of address, which must not invalidate the link to the
// victim, and asks for a change with a link to another site.
func TestUndoAfterPasswordChange(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	const taken = "eve@evil.example"
	elsewhere := askChange(ada.Email, testkit.Password, taken)
	elsewhere.Form.Set("link", "https://evil.example/{token}")
	rejected(t, api, []attempt{{"a link to another site", elsewhere, 400, `"param":"link"`}})
	undo := changeAddress(t, api, ada.Email, testkit.Password, taken)
	ok(t, api.Do(request{Method: "PUT", Path: "/users/me/password", Email: taken, Password: testkit.Password, Form: url.Values{"password": {guess}}}))
	ok(t, api.Do(complete(resetToken(t, api, taken), guess)))
	api.Clock.Advance(6 * 24 * time.Hour)
	ok(t, api.Do(confirm(undo)))
	want(t, 401, api.Do(signIn(ada.Email, guess)), "the attacker's password")
}

// TestSquatting gives up a victim's address, which the attacker never verified, to reserve it; then the attacker's own. The
// victim can sign up and, with a provider that has verified an address, get one that is reserved.
func TestSquatting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eve := w.SignUp("user")
	undo := changeAddress(t, w.API, eve.Email, testkit.Password, "eve@evil.example")
	changeAddress(t, w.API, "eve@evil.example", testkit.Password, "mallory@evil.example")
	ok(t, w.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {eve.Email}, "password": {recovered}}}))
	want(t, 409, w.Do(confirm(undo)), "the attacker's link to the victim's address")
	want(t, 409, w.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {"eve@evil.example"}, "password": {guess}}}), "sign-up with a reserved address")
	w.Google.AddUser(providers.User{ID: "7", Email: "eve@evil.example"})
	want(t, 409, w.Do(enter("google", "", "access_token", w.Google.Token("7"))), "a reserved address that the provider has not verified")
	w.Google.AddUser(providers.User{ID: "8", Email: "eve@evil.example", EmailVerified: true})
	if got := userID(t, w.Do(enter("google", "", "access_token", w.Google.Token("8")))); got == eve.ID {
		t.Errorf("the attack succeeded: the account at Google leads to the user who had its address")
	}
}

// TestVerifyWithoutEmail verifies an address with the token of another account. The caller's own account must stay
// unverified.
func TestVerifyWithoutEmail(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SIGNUP_EMAIL", "required"))
	eve, ada := api.SignUp("user"), api.SignUp("user")
	create := request{Method: "POST", Path: "/articles", As: eve.Token, JSON: map[string]string{"title": "T"}}
	ok(t, api.Do(request{Method: "POST", Path: "/users/me/email-verification", As: ada.Token, Form: url.Values{"link": {testkit.LinkOrigin}}}))
	verification := tokenIn(t, api.Email.Next(t))
	withToken := confirm(verification)
	withToken.As = eve.Token
	ok(t, api.Do(withToken)) // verifies the account of the token, not that of the caller
	want(t, 403, api.Do(create), "a change by an unverified account")
	create.As = ada.Token
	ok(t, api.Do(create))
}
