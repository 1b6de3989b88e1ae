// Package email sends emails by SMTP or through the SendGrid API. If neither is configured, it does not send emails: it prints
// each email, or only logs that an email was not sent (see Options.Print). A Queue sends emails in the background.
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
	To      string // an email address without a display name
	Subject string
	Text    string
	HTML    string // the same content as Text; can be empty
}

// Sender sends emails. The function Permanent classifies the errors. An error never contains the address or the content of an
// email, or the message of a server, which can quote them.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Error is the reason that an email was not sent.
type Error struct {
	Permanent bool // a retry would also fail
	Err       error
}

func (e *Error) Error() string { return "email: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether err is an *Error with Permanent set, which means that a retry would also fail.
func Permanent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Permanent
}

func failed(permanent bool, format string, args ...any) error {
	return &Error{permanent, fmt.Errorf(format, args...)}
}

// Options configure a Sender, in addition to Settings.
type Options struct {
	// Print receives complete emails, with links and addresses, if email is not configured. Use Print for development only. If
	// Print is nil, one line per email is logged instead.
	Print   io.Writer
	Log     *slog.Logger
	RootCAs *x509.CertPool // certificate authorities that the clients trust; nil means the system's authorities
	// Dial connects to an SMTP server. If Dial is nil, a net.Dialer connects.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Transport, if not nil, wraps the transport of the SendGrid client.
	Transport func(http.RoundTripper) http.RoundTripper
}

// New returns the Sender that s configures. If s is invalid, the error is a *settings.Invalid.
func New(s Settings, o Options) (Sender, error) {
	if err := settings.Validate(&s); err != nil {
		return nil, err
	}
	r, _ := s.route()
	from, _ := mail.ParseAddress(s.From) // from is nil only for schemeLog
	switch r.scheme {
	case schemeLog:
		return &logSender{print: o.Print, log: o.Log}, nil
	case schemeSendGrid:
		return newSendGrid(s.SendGridURL, r.password, from, o), nil
	}
	return newSMTP(r, from, o), nil
}

// recipient returns the parsed address in To. It fails if the address has a display name, or if the address or the subject
// could add recipients or header lines (CWE-93).
func (m Message) recipient() (*mail.Address, error) {
	to, err := mail.ParseAddress(m.To)
	if err != nil || to.Name != "" || strings.ContainsAny(m.Subject, "\r\n") {
		return nil, failed(true, "the address or the subject is invalid")
	}
	return to, nil
}

// logSender prints emails if print is not nil. Otherwise, it logs that an email was not sent.
type logSender struct {
	print io.Writer // can be nil; see Options.Print
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

// Template is an email, as text and as HTML, with placeholders such as {link}. It does not use html/template, because the
// linker would then keep every exported method, and the binary would be a quarter larger.
type Template struct{ subject, text, html string }

// NewTemplate reads emails/NAME.txt and emails/NAME.html. The first line of the text file must be "Subject: …". The HTML file
// replaces {content} in layout, the HTML of all emails (user.EmailLayout in a service), and the subject replaces {subject}. NewTemplate panics if a file is missing or the text
// file has no subject.
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

// Message returns an email whose recipient is to. Each value replaces the placeholder of the same name: values["link"] replaces
// {link}. Message escapes values in the HTML. It does not replace placeholders inside values.
func (t *Template) Message(to string, values map[string]string) *Message {
	var plain, escaped []string
	for name, value := range values {
		plain = append(plain, "{"+name+"}", value)
		escaped = append(escaped, "{"+name+"}", html.EscapeString(value))
	}
	text := strings.NewReplacer(plain...)
	return &Message{To: to, Subject: text.Replace(t.subject), Text: text.Replace(t.text), HTML: strings.NewReplacer(escaped...).Replace(t.html)}
}

// FormatDuration formats a duration of at least a minute in the largest unit in which the number is whole, such as "90 minutes"
// or "7 days". One day is "24 hours". FormatDuration omits seconds.
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

// Preview is an example of an email that a module sends.
type Preview struct {
	Name    string // unique in the service; usually the Kind of the Entry
	Message *Message
}
