package email

import (
	"cmp"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
)

// Settings configure how emails are sent. MAIL_URL and SENDGRID_KEY are secrets, but do not have the rule secret, which is only
// for settings that are required and can be generated.
type Settings struct {
	URL         string `mapstructure:"MAIL_URL" example:"smtp://USER:PASSWORD@smtp.example.com:587"`
	SendGridKey string `mapstructure:"SENDGRID_KEY" example:"SG.xxxxxxxx"`
	SendGridURL string `mapstructure:"SENDGRID_URL" default:"https://api.sendgrid.com" example:"https://api.eu.sendgrid.com"`
	From        string `mapstructure:"MAIL_FROM" example:"Ginseng <no-reply@example.com>"`
}

// The schemes of MAIL_URL.
const (
	schemeSMTP     = "smtp"
	schemeSMTPS    = "smtps"
	schemeSendGrid = "sendgrid"
	schemeLog      = "log"
)

// defaultPorts has the ports for submission (RFC 6409) and for submission over TLS (RFC 8314 section 3.3).
var defaultPorts = map[string]string{schemeSMTP: "587", schemeSMTPS: "465"}

const urlExample = ", for example MAIL_URL=smtp://USER:PASSWORD@smtp.example.com:587"

// route is a parsed MAIL_URL.
type route struct {
	scheme         string
	host           string
	port           int
	user, password string // credentials for SMTP; for SendGrid, password is the key
}

// Sends reports whether emails are sent. If Sends returns false, emails are only printed or logged.
func (s Settings) Sends() bool {
	r, _ := s.route()
	return r.scheme != schemeLog
}

// Check implements settings.Checker.
func (s *Settings) Check(report func(name, reason string)) {
	r, reason := s.route()
	switch {
	case reason != "":
		report("MAIL_URL", reason)
	case r.scheme == schemeSendGrid && !validKey(r.password):
		report("SENDGRID_KEY", "must have only visible ASCII characters, for example SENDGRID_KEY=SG.xxxxxxxx")
	case r.scheme == schemeSendGrid && !validBase(s.SendGridURL):
		report("SENDGRID_URL", "must be https:// and a host, without a path, for example SENDGRID_URL=https://api.eu.sendgrid.com")
	}
	_, err := mail.ParseAddress(s.From)
	switch {
	case s.From == "" && reason == "" && r.scheme != schemeLog:
		report("MAIL_FROM", "is missing; MAIL_URL and SENDGRID_KEY require a sender, for example MAIL_FROM=Ginseng <no-reply@example.com>")
	case s.From != "" && err != nil:
		report("MAIL_FROM", "must be an email address, with or without a name, for example MAIL_FROM=Ginseng <no-reply@example.com>")
	}
}

// route parses MAIL_URL and SENDGRID_KEY. reason is "" if both settings are valid. reason never contains a value, which can be
// a password.
func (s Settings) route() (r route, reason string) {
	scheme, rest, _ := strings.Cut(s.URL, ":")
	key := strings.TrimPrefix(rest, "//")
	switch {
	case s.URL == "" && s.SendGridKey == "", scheme == schemeLog && rest == "":
		return route{scheme: schemeLog}, ""
	case s.URL == "", scheme == schemeSendGrid && key == "" && s.SendGridKey != "":
		return route{scheme: schemeSendGrid, password: s.SendGridKey}, ""
	case scheme == schemeSendGrid && validKey(key):
		return route{scheme: schemeSendGrid, password: key}, ""
	case scheme == schemeSendGrid:
		return r, "must have a key of visible ASCII characters, for example MAIL_URL=sendgrid://SG.xxxxxxxx"
	case scheme == schemeSMTP, scheme == schemeSMTPS:
		return smtpRoute(s.URL)
	}
	return r, "must begin with smtp://, smtps:// or sendgrid://, or be log:" + urlExample
}

func smtpRoute(address string) (r route, reason string) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" {
		return r, "is not a URL; percent-encode special characters in user and password (/ is %2F, @ is %40, # is %23)" + urlExample
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), defaultPorts[u.Scheme]), 10, 16)
	r = route{scheme: u.Scheme, host: u.Hostname(), port: int(port)}
	if u.User != nil {
		r.user = u.User.Username()
		r.password, _ = u.User.Password()
	}
	switch {
	case r.host == "" || err != nil || port == 0:
		return r, "must have a host, and a port from 1 to 65535" + urlExample
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return r, "must have only user, password, host and port; percent-encode special characters in the password (/ is %2F, ? is %3F, # is %23)" + urlExample
	case (r.user == "") != (r.password == ""):
		return r, "has a user without a password, or a password without a user" + urlExample
	}
	return r, ""
}

// validKey reports whether a key is not empty and has only visible ASCII characters, as the header Authorization requires.
func validKey(key string) bool {
	return key != "" && strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// validBase reports whether a base URL is valid and protects the key: the URL uses TLS, or its host is this machine.
func validBase(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && strings.TrimRight(address, "/") == u.Scheme+"://"+u.Host &&
		(u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()))
}

// isLoopback reports whether the host is this machine.
func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }
