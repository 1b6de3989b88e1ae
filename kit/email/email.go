// Package email sends mails that the service writes itself: by SMTP, by SendGrid's API, or, where neither is set, to the
// log. Mails leave through a Queue, after the request that asked for them has been answered.
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
)

// Message is one mail to one address.
type Message struct {
	To      string // an e-mail address, without a name
	Subject string
	Text    string
	HTML    string // the same as Text, for programs that show HTML; may be empty
}

// Sender hands a mail to whoever delivers it. An error is Permanent where it is not worth trying again. No error's text
// holds the address, the text of the mail, or what a server said of them.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Error is why a mail was not sent.
type Error struct {
	Permanent bool // the same mail would be refused again
	Err       error
}

// Error is the text for the log.
func (e *Error) Error() string { return "mail: " + e.Err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether sending the same mail again is of no use.
func Permanent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Permanent
}

func failed(permanent bool, format string, args ...any) error {
	return &Error{permanent, fmt.Errorf(format, args...)}
}

// Options are what a Sender takes besides its settings.
type Options struct {
	// Print is where the log's sender writes each mail whole, link and address included, for a person to read. nil, as
	// production must have it, writes none: the log then says in one line that a mail was not sent.
	Print   io.Writer
	Log     *slog.Logger
	RootCAs *x509.CertPool // who may sign a server's certificate; nil: the system's, or those of SSL_CERT_FILE
	// Dial connects to an SMTP server; nil connects directly.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Transport wraps what calls SendGrid; nil leaves it as it is.
	Transport func(http.RoundTripper) http.RoundTripper
}

// New makes the Sender that the settings ask for. The error is what Settings.Check finds in them.
func New(c Settings, o Options) (Sender, error) {
	var wrong []error
	c.Check(func(name, what string) { wrong = append(wrong, errors.New(name+": "+what)) })
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	r, _ := c.route()
	from, _ := mail.ParseAddress(c.From) // nil only where nothing is sent
	switch r.scheme {
	case schemeLog:
		return &logSender{print: o.Print, log: o.Log}, nil
	case schemeSendGrid:
		return newSendGrid(c.SendGridURL, r.password, from, o), nil
	}
	return newSMTP(r, from, o), nil
}

// recipient is the mail's one address. It refuses what could smuggle in a further recipient or header line (CWE-93),
// whatever the library behind it does.
func (m Message) recipient() (*mail.Address, error) {
	to, err := mail.ParseAddress(m.To)
	if err != nil || to.Name != "" || strings.ContainsAny(m.Subject, "\r\n") {
		return nil, failed(true, "the address or the subject is not well formed")
	}
	return to, nil
}
