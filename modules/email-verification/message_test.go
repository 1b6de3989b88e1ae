package emailverification_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
	emailverification "example.com/ginseng/modules/email-verification"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

var placeholder = regexp.MustCompile(`\{\w+\}`)

// TestMessages checks that every email has the link, a lifetime and no placeholder, and no markup from a user.
func TestMessages(t *testing.T) {
	t.Parallel()
	d := testkit.Deps(t, testdb.Open(t), time.Now)
	for _, p := range emailverification.New(d, emailverification.Settings{TTL: week}, user.New(d, user.Settings{})).Parts().EmailPreviews() {
		if text := p.Message.Subject + p.Message.Text + p.Message.HTML; placeholder.MatchString(text) || !strings.Contains(p.Message.Text, "Hello Ada Lovelace,") {
			t.Errorf("%s: %q in %s", p.Name, placeholder.FindString(text), text)
		}
	}
	api := start(t, testkit.Env("VERIFY_TTL", "168h"))
	eve, link := api.SignUp("user"), testkit.LinkOrigin+"/verify?a=1&t={token}"
	check := func(purpose, to string, m email.Message) {
		t.Helper()
		secret := emailtest.Token(t, m)
		if m.To != to || !strings.Contains(m.Text, "\nhttps://app.example.com/verify?a=1&t="+secret+"\n") ||
			!strings.Contains(m.HTML, `href="https://app.example.com/verify?a=1&amp;t=`+secret+`"`) || !strings.Contains(m.Text, "7 days") {
			t.Errorf("%s: %+v", purpose, m)
		}
		if strings.Contains(m.Text+m.HTML, "evil") || strings.Contains(m.HTML, "<b>") {
			t.Errorf("%s: %s", purpose, m.HTML)
		}
	}
	api.Do(request{Method: "PATCH", Path: "/users/me", As: eve.Token, Form: url.Values{"name": {"<b>https://evil.example</b>"}}}).Want(200, "evil")
	api.Do(request{Method: "POST", Path: "/users/me/email-verification", As: eve.Token, Form: url.Values{"link": {link}}}).Want(202)
	check("verify", eve.Email, api.Email.Next(t))
	api.Do(request{Method: "PUT", Path: "/users/me/email", Email: eve.Email, Password: testkit.Password, Form: url.Values{"email": {"eve@example.org"}, "link": {link}}}).Want(202)
	m := api.Email.Next(t)
	check("change", "eve@example.org", m)
	api.Do(confirm(emailtest.Token(t, m))).Want(200)
	check("undo", eve.Email, api.Email.Next(t))
}
