package resilience_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
)

// TestEmailOutage makes the SMTP server unavailable. Requests that send an email succeed, the email is sent when the server
// is back, and a server that does not respond does not delay the shutdown.
func TestEmailOutage(t *testing.T) {
	t.Parallel()
	smtp := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.NoTLS = true })
	network := through(t, smtp.Address)
	p := start(t, settings(database(t), "MAIL_URL=smtp://"+network.Addr(), "MAIL_FROM=ginseng@example.com", "RESET_LINK_ORIGINS=https://app.example.com"))
	address, _ := account(t, p.URL)
	ask := func() {
		begun := time.Now()
		do(t, newRequest(t, "POST", p.URL+"/password-resets", masterKey,
			strings.NewReader(`{"email":"`+address+`","link":"https://app.example.com/reset"}`)), http.StatusAccepted)
		if took := time.Since(begun); took > 10*time.Second { // an attempt to send takes 30 s if the server does not respond
			t.Errorf("the response took %v", took)
		}
	}
	for name, breaks := range map[string]func(){"accepts no connection": network.Refuse, "does not respond": network.Silence} {
		breaks()
		ask()
		time.Sleep(200 * time.Millisecond) // it has tried
		smtp.None(t)
		must(t, network.Heal())
		healed := time.Now()
		if m := smtp.Next(t); !bytes.Contains(m.Data, []byte("https://app.example.com/reset/")) {
			t.Errorf("no link: %s", m.Data)
		}
		if took := time.Since(healed); took > email.Backoff[1]+maxRecovery { // two attempts may have failed
			t.Errorf("the email came %v after the server was back", took)
		}
		t.Logf("| %s | the SMTP server %s | 202 | nothing | the email is sent %.1f s after the server is back |", engine(), name, time.Since(healed).Seconds())
	}
	network.Silence()
	ask()
	begun := time.Now()
	stop(t, p)
	if took := time.Since(begun); took > 12*time.Second {
		t.Errorf("an SMTP server that does not respond delayed the shutdown by %v", took)
	}
	if !strings.Contains(p.Log(), "emails are lost") {
		t.Error("the log does not say that an email was lost")
	}
	t.Logf("| %s | SIGTERM while the SMTP server does not respond | — | the email, which is logged | ended within %.1f s |", engine(), time.Since(begun).Seconds())
}
