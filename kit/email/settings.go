package email

import (
	"net/mail"
	"net/url"
	"strconv"
	"strings"
)

// Settings is the section of the settings that says how mails leave. MAIL_URL and SENDGRID_KEY are secrets, but bear no tag
// "secret": that is for what the service cannot start without and may make up itself.
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

// The ports where MAIL_URL names none: RFC 6409 (submission) and RFC 8314 section 3.3 (submission over TLS).
const (
	submissionPort    = "587"
	submissionTLSPort = "465"
)

const urlExample = ", for example MAIL_URL=smtp://USER:PASSWORD@smtp.example.com:587"

// route is what MAIL_URL says.
type route struct {
	scheme         string
	host, port     string
	user, password string // password is SendGrid's key where that sends
}

// Sends reports whether mails leave the service. Where they do not, they are shown in the log, or lost: in production
// that is worth a warning at start.
func (c Settings) Sends() bool {
	r, _ := c.route()
	return r.scheme != schemeLog
}

// Check implements settings.Checker.
func (c *Settings) Check(report func(name, reason string)) {
	r, wrong := c.route()
	switch {
	case wrong != "":
		report("MAIL_URL", wrong)
	case r.scheme == schemeSendGrid && !validKey(r.password):
		report("SENDGRID_KEY", "is no key: it holds blanks or letters beyond ASCII, for example SENDGRID_KEY=SG.xxxxxxxx")
	case r.scheme == schemeSendGrid && !validBase(c.SendGridURL):
		report("SENDGRID_URL", "must be the address of the API, https:// without a path, for example SENDGRID_URL=https://api.eu.sendgrid.com")
	}
	_, err := mail.ParseAddress(c.From)
	switch {
	case c.From == "" && wrong == "" && r.scheme != schemeLog:
		report("MAIL_FROM", "is missing; MAIL_URL needs it, for example MAIL_FROM=Ginseng <no-reply@example.com>")
	case c.From != "" && err != nil:
		report("MAIL_FROM", "must be the address that mails come from, with or without a name, for example MAIL_FROM=Ginseng <no-reply@example.com>")
	}
}

// route reads MAIL_URL, and says what is wrong with it, never its value: it holds a password.
func (c Settings) route() (r route, wrong string) {
	scheme, rest, _ := strings.Cut(c.URL, ":")
	key := strings.TrimPrefix(rest, "//")
	switch {
	case c.URL == "" && c.SendGridKey == "", scheme == schemeLog && rest == "":
		return route{scheme: schemeLog}, ""
	case c.URL == "", scheme == schemeSendGrid && key == "" && c.SendGridKey != "":
		return route{scheme: schemeSendGrid, password: c.SendGridKey}, ""
	case scheme == schemeSendGrid && validKey(key):
		return route{scheme: schemeSendGrid, password: key}, ""
	case scheme == schemeSendGrid:
		return r, "names no key, for example MAIL_URL=sendgrid://SG.xxxxxxxx"
	case scheme == schemeSMTP, scheme == schemeSMTPS:
		return smtpRoute(c.URL)
	}
	return r, "must begin with smtp://, smtps:// or sendgrid://, or be log:" + urlExample
}

func smtpRoute(address string) (r route, wrong string) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" {
		return r, "cannot be read; percent-encode what is special in user and password (/ is %2F, @ is %40, # is %23)" + urlExample
	}
	r = route{scheme: u.Scheme, host: u.Hostname(), port: u.Port()}
	switch {
	case r.port != "":
	case r.scheme == schemeSMTPS:
		r.port = submissionTLSPort
	default:
		r.port = submissionPort
	}
	if u.User != nil {
		r.user = u.User.Username()
		r.password, _ = u.User.Password()
	}
	port, err := strconv.ParseUint(r.port, 10, 16)
	switch {
	case r.host == "" || err != nil || port == 0:
		return r, "names no host, or a port that is not from 1 to 65535" + urlExample
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return r, "holds more than user, password, host and port; percent-encode what is special in the password (/ is %2F, ? is %3F, # is %23)" + urlExample
	case (r.user == "") != (r.password == ""):
		return r, "has a user without a password, or a password without a user" + urlExample
	}
	return r, ""
}

// validKey reports whether a key of SendGrid's can stand in a header: visible ASCII.
func validKey(key string) bool {
	return key != "" && strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// validBase reports whether the key may be sent there: over TLS, or to this machine.
func validBase(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && strings.TrimRight(address, "/") == u.Scheme+"://"+u.Host &&
		(u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()))
}

// loopback reports whether the host is this machine, by a name or address that nobody else can have.
func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }
