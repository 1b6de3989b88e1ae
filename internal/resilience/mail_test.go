package resilience_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/email/emailtest"
)

// TestMailOutage takes the mail server away: who asks for a mail is answered as ever, the mail comes when the server is
// back, and one that is silent does not hold up the end.
func TestMailOutage(t *testing.T) {
	heavy(t)
	mails := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.NoTLS = true })
	network := through(t, mails.Address)
	p := start(t, settings(database(t), "MAIL_URL=smtp://"+network.Addr(), "MAIL_FROM=ginseng@example.com", "RESET_LINK_ORIGINS=https://app.example.com"))
	email, _ := account(t, p.URL)
	ask := func() {
		begun := time.Now()
		do(t, asked(t, "POST", p.URL+"/password-resets", masterKey,
			strings.NewReader(`{"email":"`+email+`","link":"https://app.example.com/reset"}`)), http.StatusAccepted)
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("the answer took %v", took)
		}
	}
	for name, breaks := range map[string]func(){"refuses connections": network.Refuse, "is silent": network.Silence} {
		breaks()
		ask()
		time.Sleep(200 * time.Millisecond) // it has tried
		mails.None(t)
		must(t, network.Heal())
		healed := time.Now()
		if m := mails.Next(t); !bytes.Contains(m.Data, []byte("https://app.example.com/reset/")) {
			t.Errorf("no link: %s", m.Data)
		}
		if took := time.Since(healed); took > promised {
			t.Errorf("the mail came %v after the server was back", took)
		}
		t.Logf("| %s | the mail server %s | 202 | nothing | the mail comes %.1f s after the server is back |", engine(), name, time.Since(healed).Seconds())
	}
	network.Silence()
	ask()
	begun := time.Now()
	ended(t, p)
	if took := time.Since(begun); took > 12*time.Second {
		t.Errorf("a silent mail server held up the end for %v", took)
	}
	if !strings.Contains(p.Log(), "emails are lost") {
		t.Error("the log does not say that a mail was lost")
	}
	t.Logf("| %s | SIGTERM while the mail server is silent | — | the mail, which the log says | ended within %.1f s |", engine(), time.Since(begun).Seconds())
}
