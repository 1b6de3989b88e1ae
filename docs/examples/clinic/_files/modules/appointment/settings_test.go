package appointment_test

import (
	"testing"
	"time"

	"example.com/clinic/modules/appointment"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/testkit"
)

func TestCancelNotice(t *testing.T) {
	t.Parallel()
	c := openClinic(t, testkit.Env("CANCEL_NOTICE", "1h"))
	wantStatus(t, c.post(c.patient.Token, c.book(t, 59*time.Minute, 5)+"/cancel", nil), 409, "too soon")
	wantStatus(t, c.post(c.patient.Token, c.book(t, 2*time.Hour, 5)+"/cancel", nil), 200, "cancelled")
}

func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	valid := appointment.Settings{CancelNotice: time.Hour, InsurerTimeout: time.Second}
	for name, change := range map[string]func(*appointment.Settings){
		"negative":      func(s *appointment.Settings) { s.CancelNotice = -time.Hour },
		"seconds":       func(s *appointment.Settings) { s.CancelNotice = 90 * time.Second },
		"not a URL":     func(s *appointment.Settings) { s.InsurerURL = "insurer" },
		"short timeout": func(s *appointment.Settings) { s.InsurerTimeout = time.Millisecond },
	} {
		s := valid
		change(&s)
		if settings.Validate(&s) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := settings.Validate(&valid); err != nil {
		t.Error(err)
	}
}
