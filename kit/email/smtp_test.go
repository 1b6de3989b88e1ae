package email_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
)

// Strings that errors and logs must not contain.
const (
	address = "ada@example.com"
	link    = "https://app.example.com/reset/8Jc-4tqV0G1o0oYH8q3c5a"
)

var letter = email.Message{
	To: address, Subject: "Neues Paßwort, please", Text: "Hello Ada,\n\n" + link + "\n\n.\n-- \nGrüße",
	HTML: `<p>Hello Ada</p><a href="` + link + `">Choose</a>`,
}

// sender returns a Sender for the server with the URL. The Sender trusts roots.
func sender(t *testing.T, url string, roots *x509.CertPool, dial func(context.Context, string, string) (net.Conn, error)) email.Sender {
	t.Helper()
	s, err := email.New(email.Settings{URL: url, From: "Ginseng <no-reply@example.org>"}, email.Options{RootCAs: roots, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fails checks the properties that every error must have.
func fails(t *testing.T, err error, permanent bool) {
	t.Helper()
	if err == nil {
		t.Fatal("was sent")
	}
	if email.Permanent(err) != permanent {
		t.Errorf("permanent is %v: %v", !permanent, err)
	}
	for _, secret := range []string{"ada", "reset", "Pa", "hunter2"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error contains %q: %v", secret, err)
		}
	}
}

// recording has the plain text that the client sends on its connections.
type recording struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (r *recording) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

type recordedConn struct {
	net.Conn
	recording *recording
}

func (c recordedConn) Write(p []byte) (int, error) {
	c.recording.mu.Lock()
	c.recording.said.Write(p)
	c.recording.mu.Unlock()
	return c.Conn.Write(p)
}

// dialTo connects to the server for any name, and records the connection.
func dialTo(address string, r *recording) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return recordedConn{conn, r}, err
	}
}

func TestSMTP(t *testing.T) {
	t.Parallel()
	signIn := func(s *emailtest.SMTP) { s.User, s.Password = "ada@example.net", "hunter2/ %@:" }
	for name, set := range map[string]func(*emailtest.SMTP){
		"STARTTLS":                             func(*emailtest.SMTP) {},
		"STARTTLS and password":                signIn,
		"TLS from the start":                   func(s *emailtest.SMTP) { s.Implicit = true },
		"TLS from the start and password":      func(s *emailtest.SMTP) { s.Implicit = true; signIn(s) },
		"no TLS":                               func(s *emailtest.SMTP) { s.NoTLS = true },
		"no TLS on this machine, and password": func(s *emailtest.SMTP) { s.NoTLS = true; signIn(s) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := emailtest.StartSMTP(t, set)
			if err := sender(t, server.URL(), server.RootCAs, nil).Send(t.Context(), letter); err != nil {
				t.Fatal(err)
			}
			got := server.Next(t)
			if got.From != "no-reply@example.org" || got.To != address || got.User != server.User || got.TLS == server.NoTLS {
				t.Errorf("envelope %+v", got)
			}
			read(t, got.Data)
			server.None(t)
		})
	}
}

// read parses an email with the standard library and compares it with message.
func read(t *testing.T, data []byte) {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != letter.Subject {
		t.Errorf("subject %q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"From": `"Ginseng" <no-reply@example.org>`, "To": "<" + address + ">", "Auto-Submitted": "auto-generated", "MIME-Version": "1.0",
		"Cc": "", "Bcc": "", "User-Agent": "", "X-Mailer": "",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if id := m.Header.Get("Message-ID"); !strings.HasSuffix(id, "@example.org>") || len(id) < 30 {
		t.Errorf("Message-ID %q", id)
	}
	if _, err := m.Header.Date(); err != nil {
		t.Error(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("type %q, %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range [][2]string{{"text/plain", letter.Text}, {"text/html", letter.HTML}} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		if part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Errorf("encoding %q", part.Header.Get("Content-Transfer-Encoding"))
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		kind, params, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if text := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil || kind != want[0] || params["charset"] != "UTF-8" || strings.TrimSuffix(text, "\n") != want[1] {
			t.Errorf("%s %v: %q, %v", kind, params, text, err)
		}
	}
	if _, err := parts.NextRawPart(); !errors.Is(err, io.EOF) {
		t.Errorf("a third part, or %v", err)
	}
}

// TestPasswordNeedsTLS: a password is sent to another host only over TLS.
func TestPasswordNeedsTLS(t *testing.T) {
	t.Parallel()
	server := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.User, s.Password, s.NoTLS = "u", "hunter2", true })
	var r recording
	far := strings.Replace(server.URL(), "127.0.0.1", "mail.test", 1)
	err := sender(t, far, server.RootCAs, dialTo(server.Address, &r)).Send(t.Context(), letter)
	fails(t, err, false)
	if !strings.Contains(err.Error(), "STARTTLS") || strings.Contains(err.Error(), "unavailable") {
		t.Errorf("the error does not mention STARTTLS, or the server is unavailable: %v", err)
	}
	if said := r.text(); !strings.Contains(said, "EHLO") || strings.Contains(said, "AUTH") || strings.Contains(said, "MAIL") {
		t.Errorf("the client sent:\n%s", said)
	}
	server.None(t)
}

// TestCertificate: a server with a certificate for another name, or from an unknown CA, receives no email, with or without TLS.
func TestCertificate(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*emailtest.SMTP){
		"STARTTLS":           func(s *emailtest.SMTP) {},
		"TLS from the start": func(s *emailtest.SMTP) { s.Implicit = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := emailtest.StartSMTP(t, set)
			named := func(host string) string { return strings.Replace(server.URL(), "127.0.0.1", host, 1) }
			dial := dialTo(server.Address, new(recording))
			if err := sender(t, named("example.com"), server.RootCAs, dial).Send(t.Context(), letter); err != nil {
				t.Fatalf("the correct name: %v", err)
			}
			server.Next(t)
			for _, s := range []email.Sender{
				sender(t, named("mail.test"), server.RootCAs, dial), sender(t, server.URL(), x509.NewCertPool(), nil), sender(t, server.URL(), nil, nil),
			} {
				err := s.Send(t.Context(), letter)
				fails(t, err, false)
				if !strings.Contains(err.Error(), "certificate") {
					t.Errorf("the error does not mention the certificate: %v", err)
				}
			}
			server.None(t)
		})
	}
}

// TestRejected: an error with a code 5yz is permanent, an error with 4yz is not, and neither contains the server's message.
func TestRejected(t *testing.T) {
	t.Parallel()
	response := func(code int, enhanced smtp.EnhancedCode) func(*emailtest.SMTP) {
		return func(s *emailtest.SMTP) {
			s.Recipient = func(to string) error {
				return &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: to + ": no, because of " + link}
			}
		}
	}
	for _, c := range []struct {
		name      string
		set       func(*emailtest.SMTP)
		url       func(string) string
		permanent bool
		want      string
	}{
		{"unknown recipient", response(550, smtp.EnhancedCode{5, 1, 1}), nil, true, "550 5.1.1 to"},
		{"greylisted", response(451, smtp.EnhancedCode{4, 1, 1}), nil, false, "451 4.1.1 to"},
		{"no enhanced code", response(550, smtp.NoEnhancedCode), nil, true, "550 to"},
		{"no TLS", func(s *emailtest.SMTP) { s.NoTLS = true }, func(u string) string { return strings.Replace(u, "smtp:", "smtps:", 1) }, false, "TLS handshake"},
		{"no passwords", func(s *emailtest.SMTP) { s.NoTLS = true }, func(u string) string { return strings.Replace(u, "//", "//u:hunter2@", 1) }, false, "offers no"},
		{"wrong password", func(s *emailtest.SMTP) { s.User, s.Password = "u", "x" }, func(u string) string { return strings.Replace(u, "u:x@", "u:hunter2@", 1) }, true, "535"},
		{"password missing", func(s *emailtest.SMTP) { s.User, s.Password = "u", "x" }, func(u string) string { return strings.Replace(u, "u:x@", "", 1) }, true, "502"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := emailtest.StartSMTP(t, c.set)
			url := server.URL()
			if c.url != nil {
				url = c.url(url)
			}
			err := sender(t, url, server.RootCAs, nil).Send(t.Context(), letter)
			fails(t, err, c.permanent)
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("no %s in %v", c.want, err)
			}
			server.None(t)
		})
	}
}

// TestUnexpectedResponse sends responses that the library quotes in its errors.
func TestUnexpectedResponse(t *testing.T) {
	t.Parallel()
	for name, responses := range map[string][]string{
		"none":     nil,
		"greeting": {"Hello ada"},
		"EHLO":     {"220 x", "ada", "ada"},
		"AUTH":     {"220 x", "250-x\r\n250 AUTH LOGIN", "334 eA==", "334 eA==", "334 YWRh", "501 x"}, // YWRh is ada
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer func() { _ = conn.Close() }()
				lines := bufio.NewScanner(conn)
				for _, response := range responses {
					if _, err := io.WriteString(conn, response+"\r\n"); err != nil || !lines.Scan() {
						return
					}
				}
			}()
			err = sender(t, "smtp://u:hunter2@"+listener.Addr().String(), nil, nil).Send(t.Context(), letter)
			fails(t, err, false)
			if !strings.Contains(err.Error(), map[bool]string{true: "unavailable: unexpected EOF", false: "unexpected response"}[responses == nil]) {
				t.Error(err)
			}
		})
	}
}

// TestInjection: strings that could add a recipient or a header line are not sent.
func TestInjection(t *testing.T) {
	t.Parallel()
	server := emailtest.StartSMTP(t)
	s := sender(t, server.URL(), server.RootCAs, nil)
	for _, m := range []email.Message{
		{To: "ada@example.com\r\nBcc: eve@example.com"},
		{To: "ada@example.com\n"},
		{To: "ada@example.com, eve@example.com"},
		{To: "ada@example.com> SIZE=1\r\nRCPT TO:<eve@example.com"},
		{To: "Eve <ada@example.com>"},
		{To: ""},
		{To: "ada"},
		{To: address, Subject: "Hello\r\nBcc: eve@example.com"},
		{To: address, Subject: "Hello\r\n\r\n<script>"},
		{To: address, Subject: "Hello\rX: y"},
		{To: address, Subject: "Hello\nX: y"},
	} {
		m.Text = "x"
		if err := s.Send(t.Context(), m); !email.Permanent(err) {
			t.Errorf("%q %q: %v", m.To, m.Subject, err)
		}
	}
	server.None(t)
}

// TestSlowServer: Send ends with its context if the server never responds.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	slow := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.Hold = hold })
	defer close(hold)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { failed <- sender(t, slow.URL(), slow.RootCAs, nil).Send(ctx, letter) }()
	slow.Connected(t)
	cancel()
	fails(t, <-failed, false)

	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts the connection and sends nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	fails(t, sender(t, "smtp://"+silent.Addr().String(), nil, nil).Send(ctx, letter), false)
}

// TestDisconnectAfterDelivery: an email is not sent again if the server disconnects after accepting it.
func TestDisconnectAfterDelivery(t *testing.T) {
	t.Parallel()
	server := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.NoTLS = true })
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &cutAt{Conn: conn, word: "RSET"}, err
	}
	if err := sender(t, server.URL(), nil, dial).Send(t.Context(), letter); err != nil {
		t.Error(err)
	}
	server.Next(t)
}

// cutAt is a connection that breaks when the client sends the command.
type cutAt struct {
	net.Conn
	word string
}

func (c *cutAt) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(c.word)) {
		_ = c.Close()
	}
	return c.Conn.Write(p)
}

// TestDeadServer: if the server is unreachable, the queue tries again.
func TestDeadServer(t *testing.T) {
	t.Parallel()
	server := emailtest.StartSMTP(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	dials := make(chan string, 3)
	dials <- closed.Addr().String()
	dials <- closed.Addr().String()
	dials <- server.Address
	s := sender(t, server.URL(), server.RootCAs, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, <-dials)
	})
	b := newBench(t)
	q := b.queue(s)
	b.add(q, "always")
	for range 2 {
		b.wait(q)
		b.clock.Advance(time.Minute)
		q.Send()
	}
	read(t, server.Next(t).Data)
	b.wait(q)
	log := &b.log
	if text := log.text(); strings.Count(text, "not sent yet") != 2 || !strings.Contains(text, "connection refused") {
		t.Error(text)
	}
	log.clean(t)
}

// TestDrained: Close waits for emails that a slow server has not accepted yet.
func TestDrained(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	server := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.Hold = hold })
	b := newBench(t)
	q := b.queue(sender(t, server.URL(), server.RootCAs, nil))
	for range 10 {
		b.add(q, "always")
	}
	server.Connected(t)
	closed := make(chan struct{})
	go func() { q.Close(t.Context()); close(closed) }()
	close(hold)
	<-closed
	for range 10 {
		server.Next(t)
	}
	server.None(t)
	if text := b.log.text(); text != "" {
		t.Error(text)
	}
}
