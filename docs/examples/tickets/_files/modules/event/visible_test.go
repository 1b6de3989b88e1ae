package event_test

import (
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
	"example.com/tickets/modules/apitest"
)

// TestVisible checks who sees a draft, and who can refer to it. TestEvent checks the rest with published events.
func TestVisible(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	owner, colleague, other, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	venue, _ := store.ParseID(api.Do(testkit.Request{Method: "POST", Path: "/organizations", As: owner.Token, JSON: map[string]any{"name": "Venue"}}).JSON(201)["id"].(string))
	api.Join(venue, colleague, "member")
	draft := map[string]any{"title": "Concert", "state": "draft"}
	id := api.Do(testkit.Request{Method: "POST", Path: "/events", As: owner.Token, JSON: draft}).JSON(201)["id"].(string)
	for _, test := range []struct {
		name, token     string
		show, rows, pay int // statuses, and the number of rows
	}{
		{"nobody", "", 404, 0, 401},
		{"other", other.Token, 404, 0, 400},
		{"colleague", colleague.Token, 200, 1, 201},
		{"owner", owner.Token, 200, 1, 201},
		{"admin", admin.Token, 200, 1, 201},
	} {
		show := api.Do(testkit.Request{Method: "GET", Path: "/events/" + id, As: test.token}).Status
		rows := strings.Count(string(api.Do(testkit.Request{Method: "GET", Path: "/events", As: test.token}).Body), `"draft"`)
		pay := api.Do(testkit.Request{Method: "POST", Path: "/payments", As: test.token, JSON: map[string]any{"event": id}}).Status
		if show != test.show || rows != test.rows || pay != test.pay {
			t.Errorf("%s: shows %d, lists %d, pays %d", test.name, show, rows, pay)
		}
	}
}
