// Package email sends emails by SMTP, by the SendGrid API, or, if neither is configured, to the log. A Queue sends them in
// the background.
package email

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/mail"
	"strings"
	"unicode"

	"example.com/ginseng/kit/settings"
)

// Message is an email to one address.
type Message struct {
	To      string // an email address without a name
	Subject string
	Text    string
	HTML    string // the same content as Text; can be empty
}

// Sender sends emails. An error is Permanent if a retry cannot succeed. Errors never contain the address, the content or
// the response of a server, which can quote them.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Error is the reason that an email was not sent.
type Error struct {
	Permanent bool // a retry would fail too
	Err       error
}

// Error implements error.
func (e *Error) Error() string { return "email: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether a retry cannot succeed.
func Permanent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Permanent
}

func failed(permanent bool, format string, args ...any) error {
	return &Error{permanent, fmt.Errorf(format, args...)}
}

// Options configure a Sender, in addition to Settings.
type Options struct {
	// Print receives complete emails, with links and addresses, if email is not configured. Use it for development only. If
	// it is nil, the log has one line per email.
	Print   io.Writer
	Log     *slog.Logger
	RootCAs *x509.CertPool // trusted by the clients; nil uses those of the system
	// Dial connects to an SMTP server; nil connects directly.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Transport wraps the transport of the SendGrid client, if it is not nil.
	Transport func(http.RoundTripper) http.RoundTripper
}

// New returns the Sender that s configures. The error is *settings.Invalid.
func New(s Settings, o Options) (Sender, error) {
	if err := settings.Validate(&s); err != nil {
		return nil, err
	}
	r, _ := s.route()
	from, _ := mail.ParseAddress(s.From) // nil only for schemeLog
	switch r.scheme {
	case schemeLog:
		return &logSender{print: o.Print, log: o.Log}, nil
	case schemeSendGrid:
		return newSendGrid(s.SendGridURL, r.password, from, o), nil
	}
	return newSMTP(r, from, o), nil
}

// recipient returns the parsed address. It rejects injection of recipients or header lines (CWE-93), independently of the
// library.
func (m Message) recipient() (*mail.Address, error) {
	to, err := mail.ParseAddress(m.To)
	if err != nil || to.Name != "" || strings.ContainsAny(m.Subject, "\r\n") {
		return nil, failed(true, "the address or the subject is invalid")
	}
	return to, nil
}

// logSender prints emails in development, and otherwise logs that one was not sent.
type logSender struct {
	print io.Writer // can be nil
	log   *slog.Logger
}

// Send implements Sender.
func (s *logSender) Send(ctx context.Context, m Message) error {
	if _, err := m.recipient(); err != nil {
		return err
	}
	if s.print == nil {
		s.log.WarnContext(ctx, "an email was not sent because MAIL_URL is not set or log:")
		return nil
	}
	text := strings.Map(printable, fmt.Sprintf("To: %s\nSubject: %s\n\n%s", m.To, m.Subject, strings.TrimSpace(m.Text)))
	_, err := fmt.Fprintf(s.print, "\n----- email, not sent because MAIL_URL is not set or log: -----\n%s\n----- end of email -----\n\n", text)
	if err != nil {
		return failed(true, "cannot print the email: %w", err)
	}
	return nil
}

// printable removes control characters.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
