package resilience_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/testkit/testdb"
)

// TestEmailOutage makes the SMTP server unavailable. Requests that send an email succeed, the email is sent when the server
// is back, and a server that does not respond does not delay the shutdown: the email is sent after the next start.
func TestEmailOutage(t *testing.T) {
	testdb.SQLiteOnly(t)
	long(t)
	smtp := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.NoTLS = true })
	network := through(t, smtp.Address)
	env := settings(database(t), "MAIL_URL=smtp://"+network.Addr(), "MAIL_FROM=ginseng@example.com", "RESET_LINK_ORIGINS=https://app.example.com")
	p := start(t, env)
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
	if !strings.Contains(p.Log(), "not all emails were sent before shutdown") {
		t.Error("the log does not say that an email was not sent")
	}
	t.Logf("| %s | SIGTERM while the SMTP server does not respond | — | nothing: the email is sent after the next start | ended within %.1f s |", engine(), time.Since(begun).Seconds())
	must(t, network.Heal())
	p = start(t, env)
	smtp.Next(t) // there can be another, if the response to an earlier one has not arrived
	stop(t, p)
}

// TestEmailAfterKill kills the service with SIGKILL after it has accepted an email that it cannot send yet. The email is sent
// once after the next start.
func TestEmailAfterKill(t *testing.T) {
	t.Parallel()
	smtp := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.NoTLS = true })
	network := through(t, smtp.Address)
	env := settings(database(t), "MAIL_URL=smtp://"+network.Addr(), "MAIL_FROM=ginseng@example.com", "RESET_LINK_ORIGINS=https://app.example.com")
	p := start(t, env)
	address, _ := account(t, p.URL)
	network.Refuse()
	do(t, newRequest(t, "POST", p.URL+"/password-resets", masterKey,
		strings.NewReader(`{"email":"`+address+`","link":"https://app.example.com/reset"}`)), http.StatusAccepted)
	within(t, func(ctx context.Context) error { // otherwise, the first attempt is repeated a minute after its begin
		return until(ctx, func() bool { return strings.Contains(p.Log(), "email not sent yet") })
	}, "no attempt failed")
	_ = p.Signal(os.Kill)
	p.Wait()
	smtp.None(t)
	must(t, network.Heal())
	begun := time.Now()
	p = start(t, env)
	m := smtp.Next(t)
	t.Logf("| %s | kill -9 after the 202 for an email, before it is sent | 202 | nothing | the email is sent %.1f s after the new start |", engine(), time.Since(begun).Seconds())
	_, token, found := strings.Cut(strings.ReplaceAll(string(m.Data), "=\r\n", ""), "https://app.example.com/reset/")
	if !found {
		t.Fatalf("no link: %s", m.Data)
	}
	do(t, newRequest(t, "GET", p.URL+"/password-resets/"+token[:43], "", http.NoBody), http.StatusOK)
	stop(t, p)
	smtp.None(t)
}
