package absence_test

import (
	"strings"
	"testing"

	"example.com/clinic/modules/apitest"
	"example.com/ginseng/testkit"
)

const (
	nine   = "2027-01-01T09:00:00.000Z"
	ten    = "2027-01-01T10:00:00.000Z"
	eleven = "2027-01-01T11:00:00.000Z"
)

// openAbsences starts the service with a practitioner. The function sends a request of an admin below their absences.
func openAbsences(t *testing.T) func(method, path string, body map[string]any) testkit.Response {
	t.Helper()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	do := func(method, path string, body map[string]any) testkit.Response {
		return api.Do(testkit.Request{Method: method, Path: path, As: admin.Token, JSON: body})
	}
	id := do("POST", "/practitioners", map[string]any{"name": "Grace"}).JSON(201)["id"].(string)
	return func(method, path string, body map[string]any) testkit.Response {
		return do(method, "/practitioners/"+id+"/absences"+path, body)
	}
}

func TestEndsAfterStart(t *testing.T) {
	t.Parallel()
	do := openAbsences(t)
	path := "/" + do("POST", "", map[string]any{"startsAt": nine, "endsAt": ten}).JSON(201)["id"].(string)
	for _, test := range []struct {
		name, method, path string
		body               map[string]any
		status             int
	}{
		{"create, ends before", "POST", "", map[string]any{"startsAt": ten, "endsAt": nine}, 400},
		{"create, ends at the start", "POST", "", map[string]any{"startsAt": ten, "endsAt": ten}, 400},
		{"create, ends after", "POST", "", map[string]any{"startsAt": nine, "endsAt": ten}, 201},
		{"the end alone, before the stored start", "PATCH", path, map[string]any{"endsAt": nine}, 400},
		{"the start alone, after the stored end", "PATCH", path, map[string]any{"startsAt": eleven}, 400},
		{"the start alone, with PUT", "PUT", path, map[string]any{"startsAt": eleven}, 400},
		{"both", "PATCH", path, map[string]any{"startsAt": ten, "endsAt": eleven}, 200},
		{"nothing", "PATCH", path, map[string]any{}, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := do(test.method, test.path, test.body)
			if got.Status != test.status || test.status == 400 && !strings.Contains(string(got.Body), `"param":"endsAt","code":"conflict"`) {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
	if stored := do("GET", path, nil).JSON(200); stored["startsAt"] != ten || stored["endsAt"] != eleven {
		t.Errorf("%v", stored)
	}
}
