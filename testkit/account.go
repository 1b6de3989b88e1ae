package testkit

import (
	"net/url"

	"example.com/ginseng/kit/store"
)

// Session is the response to a sign-in.
type Session struct{ Token, RefreshToken string }

// Account is a signed-in user.
type Account struct {
	ID, Email string
	Session
}

// SignUp creates a user with a role, "user" or "admin", and signs the user in.
func (a *API) SignUp(role string) Account {
	a.t.Helper()
	acc := Account{Email: store.NewID().Hex() + "@example.com"}
	var u struct{ ID string }
	a.Do(Request{
		Method: "POST", Path: "/users", As: MasterKey,
		Form: url.Values{"email": {acc.Email}, "password": {Password}, "role": {role}},
	}).decode(201, &u)
	acc.ID, acc.Session = u.ID, a.SignIn(acc.Email, Password)
	return acc
}

// SignIn creates a session of a user.
func (a *API) SignIn(email, password string) (s Session) {
	a.t.Helper()
	a.Do(Request{
		Method: "POST", Path: "/auth", Email: email, Password: password, Form: url.Values{"access_token": {MasterKey}},
	}).decode(201, &s)
	return s
}

// DeletedUser returns the account of a user who was deleted after signing in.
func (a *API) DeletedUser() Account {
	a.t.Helper()
	acc := a.SignUp("user")
	a.expect(204, Request{Method: "DELETE", Path: "/users/me", As: acc.Token})
	return acc
}

// DemotedAdmin returns the account of an admin who became a user after signing in.
func (a *API) DemotedAdmin() Account {
	a.t.Helper()
	acc := a.SignUp("admin")
	a.expect(200, Request{Method: "PATCH", Path: "/users/me", As: acc.Token, Form: url.Values{"role": {"user"}}})
	return acc
}

func (a *API) expect(status int, r Request) {
	a.t.Helper()
	if response := a.Do(r); response.Status != status {
		a.t.Fatalf("%s %s: status %d, want %d: %s", r.Method, r.Path, response.Status, status, response.Body)
	}
}
