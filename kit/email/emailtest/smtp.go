package emailtest

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// SMTP is an SMTP server on the loopback interface.
type SMTP struct {
	User, Password string                       // required credentials; if empty, the server requires no authentication
	Implicit       bool                         // TLS from the first byte, as for smtps://
	NoTLS          bool                         // the server does not offer STARTTLS and accepts passwords without TLS
	Recipient      func(recipient string) error // returns the response to RCPT TO; an *smtp.SMTPError sets the code
	Hold           <-chan struct{}              // if not nil, the server accepts emails only after the channel is closed

	Address string         // host and port
	RootCAs *x509.CertPool // trusts the certificate of the server, which is for Address and example.com

	inbox[Email]
	sessions chan struct{}
}

// Email is an email that the server has received.
type Email struct {
	From, To string // addresses of the envelope
	User     string // the authenticated user
	TLS      bool
	Data     []byte // header and body
}

// String returns the recipient and the data.
func (e Email) String() string { return e.To + ":\n" + string(e.Data) }

// StartSMTP starts a server, which stops at the end of the test.
func StartSMTP(t testing.TB, set ...func(*SMTP)) *SMTP {
	t.Helper()
	s := &SMTP{RootCAs: x509.NewCertPool(), inbox: make(inbox[Email], capacity), sessions: make(chan struct{}, capacity)}
	for _, f := range set {
		f(s)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = listener.Addr().String()
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		s.sessions <- struct{}{}
		return &session{server: s, conn: c}, nil
	}))
	server.Domain = "mail.test"
	server.AllowInsecureAuth = s.NoTLS
	server.ErrorLog = log.New(io.Discard, "", 0)
	certified := httptest.NewTLSServer(nil) // started only to create a certificate
	certified.Close()
	s.RootCAs.AddCert(certified.Certificate())
	config := &tls.Config{Certificates: certified.TLS.Certificates}
	switch {
	case s.Implicit:
		listener = tls.NewListener(listener, config)
	case !s.NoTLS:
		server.TLSConfig = config
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// URL returns the MAIL_URL of the server, with credentials.
func (s *SMTP) URL() string {
	u := url.URL{Scheme: "smtp", Host: s.Address}
	if s.Implicit {
		u.Scheme = "smtps"
	}
	if s.User != "" {
		u.User = url.UserPassword(s.User, s.Password)
	}
	return u.String()
}

// Connected waits until the next client connects.
func (s *SMTP) Connected(t testing.TB) {
	t.Helper()
	next(t, s.sessions)
}

type session struct {
	server *SMTP
	conn   *smtp.Conn
	email  Email
}

func (s *session) AuthMechanisms() []string {
	if s.server.User == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.server.User || password != s.server.Password {
			return smtp.ErrAuthFailed
		}
		s.email.User = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.email.User != s.server.User {
		return smtp.ErrAuthRequired
	}
	s.email.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.email.To = to
	if s.server.Recipient != nil {
		return s.server.Recipient(to)
	}
	return nil
}

func (s *session) Data(r io.Reader) (err error) {
	s.email.Data, err = io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.server.Hold != nil {
		<-s.server.Hold
	}
	_, s.email.TLS = s.conn.TLSConnectionState()
	s.server.inbox <- s.email
	return nil
}

func (s *session) Reset() {}

func (s *session) Logout() error { return nil }
