package appointment_test

import (
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

func TestReception(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	reception, other := c.SignUp("reception"), c.SignUp("user")
	body := c.at(100*time.Hour, 30)
	body["userId"] = c.patient.ID
	created := c.post(reception.Token, "/appointments", body).JSON(201)
	if created["userId"] != c.patient.ID || created["endsAt"] == nil {
		t.Errorf("%v", created)
	}
	path := "/appointments/" + created["id"].(string)
	for token, status := range map[string]int{c.patient.Token: 200, reception.Token: 200, other.Token: 404} {
		wantStatus(t, c.Do(testkit.Request{Method: "GET", Path: path, As: token}), status, "")
	}
	body = c.at(200*time.Hour, 30)
	body["userId"] = c.patient.ID // of another user: ignored
	if view := c.post(other.Token, "/appointments", body).JSON(201); view["userId"] != other.ID {
		t.Errorf("%v", view)
	}
}

// TestEndsAt checks the computed field: in a record, in lists and in filters of fields. Clients cannot set it.
func TestEndsAt(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	body := c.at(100*time.Hour, 45)
	body["endsAt"], body["state"] = "2020-01-01T00:00:00.000Z", "cancelled"
	created := c.post(c.patient.Token, "/appointments", body).JSON(201)
	start, err := time.Parse(time.RFC3339, created["startsAt"].(string))
	end, err2 := time.Parse(time.RFC3339, created["endsAt"].(string))
	if err != nil || err2 != nil || end.Sub(start) != 45*time.Minute || created["state"] != "booked" {
		t.Errorf("%v", created)
	}
	want := `"endsAt":"` + created["endsAt"].(string) + `"`
	wantStatus(t, c.Do(testkit.Request{Method: "GET", Path: "/appointments?fields=endsAt", As: c.patient.Token}), 200, want)
}

// TestFeed reads the changes of appointments: a patient's own, of another instance.
func TestFeed(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	get := func(api *testkit.API, token, after string) map[string]any {
		return api.Do(testkit.Request{Method: "GET", Path: "/appointments/changes" + after, As: token}).JSON(200)
	}
	after := "?after=" + get(c.API, c.patient.Token, "")["next"].(string)
	wantStatus(t, c.post(c.patient.Token, c.book(t, 100*time.Hour, 30)+"/cancel", nil), 200, "")
	rows := get(c.second, c.patient.Token, after)["rows"].([]any)
	if len(rows) == 0 {
		t.Fatal("no changes")
	}
	if last := rows[len(rows)-1].(map[string]any)["data"].(map[string]any); last["state"] != "cancelled" {
		t.Errorf("%v", rows)
	}
	if rows := get(c.second, c.SignUp("user").Token, after)["rows"].([]any); len(rows) != 0 {
		t.Errorf("another user sees %v", rows)
	}
}
