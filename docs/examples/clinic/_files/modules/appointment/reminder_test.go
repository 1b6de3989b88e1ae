package appointment_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

func TestReminder(t *testing.T) {
	t.Parallel()
	c := openClinic(t)
	c.book(t, 48*time.Hour, 30)
	wantStatus(t, c.post(c.patient.Token, c.book(t, 47*time.Hour, 30)+"/cancel", nil), 200, "")
	c.RunJobs()
	c.Email.None(t) // too early
	c.Clock.Advance(24 * time.Hour)
	var group sync.WaitGroup
	for _, instance := range []*testkit.API{c.API, c.second} {
		group.Go(instance.RunJobs)
	}
	group.Wait()
	m := c.Email.Next(t)
	if m.To != c.patient.Email || !strings.Contains(m.Text, "You have an appointment on ") || strings.ContainsAny(m.Text+m.HTML, "{}") {
		t.Errorf("%+v", m)
	}
	c.Clock.Advance(time.Minute)
	c.RunJobs()
	c.Email.None(t)
}
