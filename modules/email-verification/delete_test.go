package emailverification_test

import (
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

// TestDeleteDuringUndo deletes an account whose address was changed by an attacker who knows the password. The attacker must not
// delete the account while the change can be undone, because an undo does not restore a deleted account.
func TestDeleteDuringUndo(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, eve, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	remove := func(path, as string) request { return request{Method: "DELETE", Path: path, As: as} }
	at := api.Clock.Now()
	undo := api.changed(ada.Email, testkit.Password, "eve@example.org")
	api.changed(eve.Email, testkit.Password, "eve2@example.org")
	api.Clock.Advance(24 * time.Hour)
	token := api.SignIn("eve@example.org", testkit.Password).Token
	until := at.Add(week).UTC().Format("2006-01-02T15:04:05.") // to the millisecond
	api.Run(t, []testkit.Scenario{
		row("by the attacker", remove("/users/me", token), 409, []string{`"code":"conflict"`, "until " + until}, []string{ada.Email}),
		row("the attacker continues", request{Method: "GET", Path: "/users/me", As: token}, 200, nil, nil),
		row("by an admin", remove("/users/"+eve.ID, api.SignIn(admin.Email, testkit.Password).Token), 204, nil, nil),
		row("undo", confirm(undo), 200, []string{ada.Email}, nil),
	})

	mary := api.SignUp("user")
	api.changed(mary.Email, testkit.Password, "mary@example.org")
	api.Clock.Advance(week)
	api.Do(remove("/users/me", api.SignIn("mary@example.org", testkit.Password).Token)).Want(204)
}
