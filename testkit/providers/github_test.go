package providers_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/testkit/providers"
)

// check asks for a token as the app user with the password.
func (s site) check(client, user, password, body string) response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+providers.GitHubAPI+"/applications/"+client+"/token", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth(user, password)
	return s.send(r)
}

func TestGitHubExchange(t *testing.T) {
	t.Parallel()
	g, s := start(t, providers.NewGitHub)
	const path = "/login/oauth/access_token"
	code := func(user string) string { return g.Code(user, callback, providers.Challenge(verifier)) }
	a := s.do("POST", path, exchange(code(ada.ID)))
	form, err := url.ParseQuery(a.body)
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "application/x-www-form-urlencoded") || err != nil ||
		len(form.Get("access_token")) != 40 || form.Get("scope") != "read:user,user:email" || form.Get("token_type") != "bearer" {
		t.Errorf("%+v", a)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		t.Error("may be kept")
	}
	if s.token(path, exchange(code(ada.ID), "redirect_uri", "-")) == "" {
		t.Error("redirect_uri is optional")
	}
	for want, form := range map[string]func() url.Values{
		"incorrect_client_credentials": func() url.Values { return exchange(code(ada.ID), "client_secret", "x") },
		"bad_verification_code":        func() url.Values { return exchange("x") },
		"redirect_uri_mismatch":        func() url.Values { return exchange(code(ada.ID), "redirect_uri", "https://x.example") },
		"unverified_user_email":        func() url.Values { return exchange(code(eve.ID)) },
	} {
		s.do("POST", path, form()).holds(t, 200, "error="+want, "&error_description=")
	}
	if s.token(path, exchange(code(bob.ID))) == "" {
		t.Error("no token for a user without an email address")
	}
}

func TestGitHubCheck(t *testing.T) {
	t.Parallel()
	g, s := start(t, providers.NewGitHub)
	body := func(token string) string { return `{"access_token":"` + token + `"}` }
	token, old := g.Token(ada.ID), g.Token(ada.ID)
	g.Expire(old)
	s.check(app.ID, app.ID, app.Secret, body(token)).
		holds(t, 200, `"client_id":"1234567890"`, `"id":1815`, `"login":"ada"`, `"token":"`+token+`"`, `"scopes":["read:user","user:email"]`)
	s.check(app.ID, app.ID, app.Secret, body("x")).holds(t, 404, "Not Found")
	s.check(app.ID, app.ID, app.Secret, body(old)).holds(t, 404)
	s.check(app.ID, app.ID, app.Secret, body(g.ForeignToken(ada.ID))).holds(t, 404)
	s.check(providers.ForeignClientID, app.ID, app.Secret, body(token)).holds(t, 404)
	s.check(app.ID, app.ID, app.Secret, "{}").holds(t, 422, "Validation Failed")
	s.check(app.ID, app.ID, app.Secret, "{").holds(t, 400)
	s.check(app.ID, app.ID, "x", body(token)).holds(t, 401, "Bad credentials")
	s.check(providers.ForeignClientID, providers.ForeignClientID, "", body(g.ForeignToken(ada.ID))).holds(t, 401)
}

func TestGitHubUser(t *testing.T) {
	t.Parallel()
	g, s := start(t, providers.NewGitHub)
	const user, emails = providers.GitHubAPI + "/user", providers.GitHubAPI + "/user/emails"
	token := func(id string, scopes ...string) string { return "Bearer " + g.Token(id, scopes...) }
	a := s.get(user, "Authorization", token(ada.ID))
	a.holds(t, 200, `"id":1815,`, `"login":"ada"`, `"name":"Ada Lovelace"`, `"email":null`, `"avatar_url":"https://example.com/ada.png"`)
	s.get(user, "Authorization", token(eve.ID)).holds(t, 200, `"name":null`)
	s.get(user, "Authorization", "Bearer "+g.ForeignToken(ada.ID)).holds(t, 200)
	s.get(user).holds(t, 401, "Bad credentials")
	s.get(user, "Authorization", "Bearer x").holds(t, 401, "Bad credentials")
	s.get(user, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("a:b"))).holds(t, 401)

	s.get(emails, "Authorization", token(ada.ID)).holds(t, 200, `[{"email":"ada@example.com","primary":true,"verified":true,"visibility":"private"}]`)
	s.get(emails, "Authorization", token(ada.ID, "user")).holds(t, 200)
	s.get(emails, "Authorization", token(eve.ID)).holds(t, 200, `"primary":true,"verified":false`)
	s.get(emails, "Authorization", token(bob.ID)).holds(t, 200, "[]")
	s.get(emails, "Authorization", token(ada.ID, "read:user")).holds(t, 404, "Not Found")
	two := eve
	two.OtherEmails = []providers.Email{{Address: "second@example.com", Verified: true}}
	g.AddUser(two)
	s.get(emails, "Authorization", token(eve.ID)).holds(t, 200, `{"email":"second@example.com","primary":false,"verified":true,`)
}
