// Package email sends emails by SMTP, by the SendGrid API, or, if neither is configured, to the log. A Queue sends them in
// the background.
package email

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/mail"
	"strings"
	"time"
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

func (e *Error) Error() string { return "email: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether err is an *Error that is permanent: a retry would fail too.
func Permanent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Permanent
}

// failed returns an *Error.
func failed(permanent bool, format string, args ...any) error {
	return &Error{permanent, fmt.Errorf(format, args...)}
}

// Options configure a Sender, in addition to Settings.
type Options struct {
	// Print receives complete emails, with links and addresses, if email is not configured. Use it for development only. If it is
	// nil, one line per email is logged.
	Print   io.Writer
	Log     *slog.Logger
	RootCAs *x509.CertPool // CAs that the clients trust; nil means those of the system
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

// recipient returns the parsed address. It fails if the address has a name, or if the address or the subject could add
// recipients or header lines (CWE-93). The libraries are not relied on for that.
func (m Message) recipient() (*mail.Address, error) {
	to, err := mail.ParseAddress(m.To)
	if err != nil || to.Name != "" || strings.ContainsAny(m.Subject, "\r\n") {
		return nil, failed(true, "the address or the subject is invalid")
	}
	return to, nil
}

// logSender prints emails in development, and otherwise logs that an email was not sent.
type logSender struct {
	print io.Writer // can be nil
	log   *slog.Logger
}

func (s *logSender) Send(ctx context.Context, m Message) error {
	if _, err := m.recipient(); err != nil {
		return err
	}
	if s.print == nil {
		s.log.WarnContext(ctx, "an email was not sent because MAIL_URL is log: or not set")
		return nil
	}
	text := strings.Map(withoutControl, fmt.Sprintf("To: %s\nSubject: %s\n\n%s", m.To, m.Subject, strings.TrimSpace(m.Text)))
	_, err := fmt.Fprintf(s.print, "\n----- email, not sent because MAIL_URL is log: or not set -----\n%s\n----- end of email -----\n\n", text)
	if err != nil {
		return failed(true, "cannot print the email: %w", err)
	}
	return nil
}

// withoutControl is a function for strings.Map that removes control characters, except line breaks and tabs.
func withoutControl(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// Template is an email with placeholders, such as {link}, as text and as HTML. html/template is not used because it makes the
// linker keep every exported method, and the binary would grow by a quarter.
type Template struct{ subject, text, html string }

// NewTemplate reads emails/NAME.txt, whose first line is "Subject: …", and emails/NAME.html, which replaces {content} in the
// layout; the subject replaces {subject} in the layout. It panics if a file is missing or has no subject.
func NewTemplate(files fs.FS, name, layout string) *Template {
	read := func(file string) string {
		content, err := fs.ReadFile(files, file)
		if err != nil {
			panic(fmt.Errorf("email template: %w; add the file", err))
		}
		return string(content)
	}
	first, text, _ := strings.Cut(read("emails/"+name+".txt"), "\n")
	subject, found := strings.CutPrefix(first, "Subject:")
	if !found {
		panic(fmt.Errorf(`email template: emails/%s.txt: the first line must be "Subject: …"`, name))
	}
	page := strings.NewReplacer("{content}", read("emails/"+name+".html"), "{subject}", html.EscapeString(strings.TrimSpace(subject)))
	return &Template{subject: strings.TrimSpace(subject), text: strings.TrimSpace(text) + "\n", html: page.Replace(layout)}
}

// Message returns an email in which the values replace the placeholders with their names: values["link"] replaces {link}.
// Values are escaped in the HTML. A placeholder in a value is not replaced.
func (t *Template) Message(to string, values map[string]string) *Message {
	var plain, escaped []string
	for name, value := range values {
		plain = append(plain, "{"+name+"}", value)
		escaped = append(escaped, "{"+name+"}", html.EscapeString(value))
	}
	text := strings.NewReplacer(plain...)
	return &Message{To: to, Subject: text.Replace(t.subject), Text: text.Replace(t.text), HTML: strings.NewReplacer(escaped...).Replace(t.html)}
}

// FormatDuration formats a duration of at least a minute in the largest unit that divides it, such as "90 minutes" or "7
// days". One day is "24 hours". It leaves out seconds.
func FormatDuration(d time.Duration) string {
	n, unit := int(d/time.Minute), "minute"
	switch day := 24 * time.Hour; {
	case d%day == 0 && d > day:
		n, unit = int(d/day), "day"
	case d%time.Hour == 0:
		n, unit = int(d/time.Hour), "hour"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// Preview is an example of an email.
type Preview struct {
	Name    string // unique in the service
	Message *Message
}
