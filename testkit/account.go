package testkit

import (
	"net/http"
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

// SignUp creates a user with a role, and signs the user in. The role is "user", "admin" or a role that the project has declared.
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
func (a *API) SignIn(email, password string) Session {
	a.t.Helper()
	return a.Do(SignInRequest(email, password)).Session()
}

// SignInRequest returns the request with which a frontend server, which has the master key, creates a session of a user.
func SignInRequest(email, password string) Request {
	return Request{Method: "POST", Path: "/auth", Email: email, Password: password, Form: url.Values{"access_token": {MasterKey}}}
}

// Session returns the session in the body. It fails the test if the response has another status than 201.
func (r Response) Session() (s Session) {
	r.t.Helper()
	r.decode(http.StatusCreated, &s)
	return s
}

// DeletedUser returns the account of a user who was deleted after signing in.
func (a *API) DeletedUser() Account {
	a.t.Helper()
	acc := a.SignUp("user")
	a.Do(Request{Method: "DELETE", Path: "/users/me", As: acc.Token}).Want(204)
	return acc
}

// DemotedAdmin returns the account of an admin who became a user after signing in.
func (a *API) DemotedAdmin() Account {
	a.t.Helper()
	acc := a.SignUp("admin")
	a.Do(Request{Method: "PATCH", Path: "/users/me", As: acc.Token, Form: url.Values{"role": {"user"}}}).Want(200)
	return acc
}
