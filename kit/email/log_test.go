package email_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/testkit/process"
)

// logged records log lines.
type logged struct{ process.Buffer }

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logged) text() string { return l.String() }

// clean fails the test if the log contains a part of an email.
func (l *logged) clean(t *testing.T) {
	t.Helper()
	for _, secret := range []string{"ada", "reset", "Hello", "Pa"} {
		if strings.Contains(l.text(), secret) {
			t.Errorf("the log contains %q: %s", secret, l.text())
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	var shown bytes.Buffer
	log := new(logged)
	development, err := email.New(email.Settings{}, email.Options{Print: &shown, Log: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	m := letter
	m.Text += "\x1b]0;title\x07\r\x9b31m"
	if err := development.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(shown.String(), "\n")
	for _, want := range []string{"To: " + address, "Subject: " + letter.Subject, "Hello Ada,", link} {
		if !strings.Contains("\n"+shown.String(), "\n"+want+"\n") {
			t.Errorf("no line %q in %q", want, lines)
		}
	}
	if strings.ContainsAny(shown.String(), "\x1b\x07\r\u009b") || log.text() != "" {
		t.Errorf("%q, log %q", shown.String(), log.text())
	}

	production, err := email.New(email.Settings{URL: "log:"}, email.Options{Log: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	if err := production.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	if text := log.text(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "an email was not sent because MAIL_URL is log: or not set") {
		t.Error(text)
	}
	log.clean(t)
	if err := production.Send(t.Context(), email.Message{To: "a@example.com\nb"}); !email.Permanent(err) {
		t.Error(err)
	}
}
