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

// SignIn opens a session.
func (a *API) SignIn(email, password string) (s Session) {
	a.t.Helper()
	a.Do(Request{
		Method: "POST", Path: "/auth", Email: email, Password: password, Form: url.Values{"access_token": {MasterKey}},
	}).decode(201, &s)
	return s
}
