package modules_test

import (
	"net/url"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestExpandUser checks that expand shows what GET /users/:id shows: the email address only to admins and the user.
func TestExpandUser(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, admin, bob := api.SignUp("user"), api.SignUp("admin"), api.SignUp("user")
	created := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, Form: url.Values{"title": {"T"}}}).JSON(201)
	for as, want := range map[string]any{ada.Token: ada.Email, admin.Token: ada.Email, bob.Token: nil, "": nil} {
		for _, path := range []string{"/articles/" + created["id"].(string), "/articles"} {
			view := api.Do(testkit.Request{Method: "GET", Path: path + "?expand=userId", As: as}).JSON(200)
			if rows, ok := view["rows"].([]any); ok {
				view = rows[0].(map[string]any)
			}
			owner := view["expand"].(map[string]any)["userId"].(map[string]any)
			if owner["id"] != ada.ID || owner["email"] != want {
				t.Errorf("GET %s: %v, want the email address %v", path, owner, want)
			}
		}
	}
}
