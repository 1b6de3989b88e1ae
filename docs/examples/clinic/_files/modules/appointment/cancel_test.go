package appointment_test

import (
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	soon, later := c.book(t, 23*time.Hour, 30), c.book(t, 25*time.Hour, 30)
	for _, test := range []struct {
		name, path, token string
		status            int
		want              string
	}{
		{"nobody", later, "", 401, ""},
		{"another patient", later, c.SignUp("user").Token, 404, "not_found"},
		{"the patient, too late", soon, c.patient.Token, 409, "Call the reception."},
		{"the reception", soon, c.SignUp("reception").Token, 200, `"state":"cancelled"`},
		{"the patient", later, c.patient.Token, 200, `"state":"cancelled"`},
		{"again", later, c.patient.Token, 409, "cancelled already"},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantStatus(t, c.post(test.token, test.path+"/cancel", nil), test.status, test.want)
		})
	}
	c.book(t, 25*time.Hour, 30) // the time of a cancelled appointment is free
	wantStatus(t, c.post(c.patient.Token, c.book(t, 50*time.Hour, 30)+"/cancel", map[string]any{"reason": "ill"}), 400, `"code":"unknown"`)
}

func TestCancelConcurrently(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	path := c.book(t, 100*time.Hour, 30)
	count := c.concurrently(func(int) testkit.Request {
		return testkit.Request{Method: "POST", Path: path + "/cancel", As: c.patient.Token}
	})
	if count[200] != 1 || count[409] != 19 {
		t.Errorf("%v", count)
	}
}
