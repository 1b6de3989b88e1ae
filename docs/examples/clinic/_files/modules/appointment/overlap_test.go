package appointment_test

import (
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

func TestOverlap(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	c.book(t, 100*time.Hour, 60)
	for _, test := range []struct {
		name    string
		after   time.Duration
		minutes int
		status  int
	}{
		{"the same time", 100 * time.Hour, 60, 409},
		{"begins in it", 100*time.Hour + 59*time.Minute, 5, 409},
		{"ends in it", 100*time.Hour - 4*time.Minute, 5, 409},
		{"around it", 99 * time.Hour, 180, 409},
		{"before it", 99 * time.Hour, 60, 201},
		{"after it", 101 * time.Hour, 60, 201},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantStatus(t, c.post(c.patient.Token, "/appointments", c.at(test.after, test.minutes)), test.status, "")
		})
	}
}

// TestOverlapConcurrently sends 20 overlapping appointments to two instances: one is stored, with one invoice.
func TestOverlapConcurrently(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	count := c.concurrently(func(n int) testkit.Request {
		body := c.at(100*time.Hour+time.Duration(n)*time.Minute, 60)
		return testkit.Request{Method: "POST", Path: "/appointments", As: c.patient.Token, JSON: body}
	})
	if count[201] != 1 || count[409] != 19 {
		t.Errorf("%v", count)
	}
	page := c.Do(testkit.Request{Method: "GET", Path: "/appointments", As: c.patient.Token}).JSON(200)
	if invoices := c.stored(t, "invoices"); page["count"] != 1.0 || invoices != 1 {
		t.Errorf("%v appointments, %d invoices", page["count"], invoices)
	}
}

func TestFirstInvoice(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	path := c.book(t, 100*time.Hour, 45)
	wantStatus(t, c.Do(testkit.Request{Method: "GET", Path: path + "/invoices", As: c.patient.Token}), 200, `"amount":"60.75"`)
}
