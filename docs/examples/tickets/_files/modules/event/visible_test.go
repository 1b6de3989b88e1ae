package event_test

import (
	"strings"
	"testing"

	"example.com/ginseng/testkit"
	"example.com/tickets/modules/apitest"
)

// TestVisible checks who sees and changes a draft, and who can refer to it.
func TestVisible(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	owner, colleague, other, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	draft := map[string]any{"title": "Concert", "state": "draft", "colleagues": []string{colleague.ID}}
	id := api.Do(testkit.Request{Method: "POST", Path: "/events", As: owner.Token, JSON: draft}).JSON(201)["id"].(string)
	for _, test := range []struct {
		name, token             string
		show, rows, pay, update int // statuses, and the number of rows
	}{
		{"nobody", "", 404, 0, 401, 401},
		{"other", other.Token, 404, 0, 400, 404},
		{"colleague", colleague.Token, 200, 1, 201, 200},
		{"owner", owner.Token, 200, 1, 201, 200},
		{"admin", admin.Token, 200, 1, 201, 200},
	} {
		api.Do(testkit.Request{Method: "PATCH", Path: "/events/" + id, As: owner.Token, JSON: map[string]any{"state": "draft"}}).Want(200)
		show := testkit.Request{Method: "GET", Path: "/events/" + id, As: test.token}
		if got := api.Do(show).Status; got != test.show {
			t.Errorf("%s shows: %d", test.name, got)
		}
		list := api.Do(testkit.Request{Method: "GET", Path: "/events", As: test.token})
		if got := strings.Count(string(list.Body), `"draft"`); got != test.rows {
			t.Errorf("%s lists: %s", test.name, list.Body)
		}
		pay := testkit.Request{Method: "POST", Path: "/payments", As: test.token, JSON: map[string]any{"event": id}}
		if got := api.Do(pay).Status; got != test.pay {
			t.Errorf("%s pays: %d", test.name, got)
		}
		update := testkit.Request{Method: "PATCH", Path: "/events/" + id, As: test.token, JSON: map[string]any{"state": "published"}}
		if got := api.Do(update).Status; got != test.update {
			t.Errorf("%s publishes: %d", test.name, got)
		}
		update.As = owner.Token
		api.Do(update).Want(200)
		if got := api.Do(show).Status; got != 200 {
			t.Errorf("%s shows the published event: %d", test.name, got)
		}
	}
}
