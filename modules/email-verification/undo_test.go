package emailverification_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

// TestReservation checks that a former address is reserved only if it was verified, and not for admins.
func TestReservation(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, eve, bob, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	api.Do(confirm(api.verification(ada))).Want(200)
	adas := api.changed(ada.Email, testkit.Password, "ada@example.org")
	eves := api.changed(eve.Email, testkit.Password, "eve@example.org")
	give := func(email string) request {
		return request{Method: "PATCH", Path: "/users/" + bob.ID, As: admin.Token, Form: url.Values{"email": {email}}}
	}
	api.Run(t, []testkit.Scenario{
		row("not verified", signUp(eve.Email), 201, nil, nil), // Eve had signed up with an address of somebody else
		row("undo", confirm(eves), 409, []string{`"param":"email","code":"conflict"`}, nil),
		row("verified", signUp(ada.Email), 409, []string{"7 days"}, nil),
		row("in use, by an admin", give("ada@example.org"), 409, []string{`"param":"email","code":"conflict"`}, nil),
		row("reserved, by an admin", give(ada.Email), 200, []string{ada.Email, `"emailVerified":false`}, nil),
		row("undo while it is in use", confirm(adas), 409, []string{`"param":"email","code":"conflict"`}, nil),
		row("another one, by an admin", give("bob@example.org"), 200, nil, nil),
		row("reserved again", signUp(ada.Email), 409, nil, nil),
		row("undo again", confirm(adas), 200, []string{ada.Email}, nil),
	})
}

// TestChangeBack checks that a former address is reserved for its user only.
func TestChangeBack(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada := api.SignUp("user")
	const to = "ada@example.org"
	undo := api.changed(ada.Email, testkit.Password, to)
	api.changed(to, testkit.Password, ada.Email)
	api.Do(signUp(to)).Want(409)
	session := api.SignIn(ada.Email, testkit.Password)
	api.Do(confirm(undo)).Want(200) // somebody who knows the password may have changed the address back
	api.Do(request{Method: "GET", Path: "/users/me", As: session.Token}).Want(401)
}

// TestUndoAfterAdmin has an admin restore an account whose address was changed twice. Both links that undo a change become
// invalid, because the second link is an attacker's. A change that admins make to their own account invalidates no link.
func TestUndoAfterAdmin(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	api.Do(confirm(api.verification(ada))).Want(200)
	const second, third = "eve@example.org", "eve@example.net"
	first := api.changed(ada.Email, testkit.Password, second)
	later := api.changed(second, testkit.Password, third)
	patch := func(u testkit.Account, email string) request {
		return request{Method: "PATCH", Path: "/users/" + u.ID, As: admin.Token, Form: url.Values{"email": {email}}}
	}
	api.Run(t, []testkit.Scenario{
		row("by an admin", patch(ada, ada.Email), 200, []string{ada.Email, `"emailVerified":false`}, nil),
		row("the first link", confirm(first), 404, nil, nil),
		row("what it did", show(first), 404, nil, nil),
		row("the later link", confirm(later), 404, nil, nil),
		row("an address that was reserved", signUp(second), 201, nil, nil),
	})
	next := api.changed(ada.Email, testkit.Password, third)
	api.Do(confirm(next)).Want(200) // the link of a change after the change of the admin

	own := api.changed(admin.Email, testkit.Password, "root@example.org")
	admin.Session = api.SignIn("root@example.org", testkit.Password)
	api.Do(patch(admin, "root@example.net")).Want(200)
	api.Do(confirm(own)).Want(200)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada := api.SignUp("user")
	const second, third = "eve@example.org", "eve@example.net"
	first := api.changed(ada.Email, testkit.Password, second)
	api.Do(request{Method: "PUT", Path: "/users/me/password", Email: second, Password: testkit.Password, Form: url.Values{"password": {newPassword}}}).Want(200)
	api.Clock.Advance(-time.Minute) // the order of the changes does not depend on the clock
	later := api.changed(second, newPassword, third)
	api.Clock.Advance(week - time.Hour)
	api.Run(t, []testkit.Scenario{
		row("show", show(first), 200, []string{`"purpose":"undo"`, `"email":"` + ada.Email, `"user":{"id":"` + ada.ID}, []string{"eve@"}),
		row("undo", confirm(first), 200, []string{`"email":"` + ada.Email, `"emailVerified":true`, `"hasPassword":false`}, nil),
		row("the later undo", confirm(later), 404, nil, nil),
		row("the attacker's addresses are free", signUp(third), 201, nil, nil),
	})
}

// TestUndoInTurn undoes the later of two changes first. The earlier change can still be undone.
func TestUndoInTurn(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada := api.SignUp("user")
	const second, third = "eve@example.org", "eve@example.net"
	first := api.changed(ada.Email, testkit.Password, second)
	api.Clock.Advance(time.Second)
	later := api.changed(second, testkit.Password, third)
	api.Run(t, []testkit.Scenario{
		row("the later", confirm(later), 200, []string{`"email":"` + second}, nil),
		row("the earlier", confirm(first), 200, []string{`"email":"` + ada.Email}, nil),
	})
	expired := start(t)
	ada = expired.SignUp("user")
	first = expired.changed(ada.Email, testkit.Password, second)
	expired.Clock.Advance(week)
	expired.Do(confirm(first)).Want(404)
}

// TestNewAdminAtFormerAddress makes a user an admin whose address was changed. The email about it goes to the former address, too.
func TestNewAdminAtFormerAddress(t *testing.T) {
	t.Parallel()
	api := start(t, func(c *testkit.Config) { delete(c.Env, "SECURITY_NOTICES") })
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	const current = "ada@example.org"
	api.changed(ada.Email, testkit.Password, current)
	api.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: url.Values{"role": {"admin"}}}).Want(200)
	about := map[string]string{ada.Email: ada.Email, current: current, admin.Email: current} // by recipient
	for range len(about) {
		m := api.Email.Next(t)
		if account, ok := about[m.To]; !ok || !strings.HasPrefix(m.Subject, "A new admin") || !strings.Contains(m.Text, account) {
			t.Errorf("%+v", m)
		}
		delete(about, m.To)
	}
}
