package emailverification

import (
	"regexp"
	"strings"
	"testing"

	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/modules/user"
)

var placeholder = regexp.MustCompile(`\{\w+\}`)

// TestMessages checks that every email has the link, a lifetime and no placeholder, and no markup from a user.
func TestMessages(t *testing.T) {
	t.Parallel()
	s := &Service{ttl: undoTTL}
	for _, p := range s.emailPreviews() {
		if text := p.Message.Subject + p.Message.Text + p.Message.HTML; placeholder.MatchString(text) || !strings.Contains(p.Message.Text, "Hello Ada Lovelace,") {
			t.Errorf("%s: %q in %s", p.Name, placeholder.FindString(text), text)
		}
	}
	const page = "https://app.example.com/verify?a=1&t={token}"
	for purpose := range templates {
		m := newMessage(user.User{Name: "<b>https://evil.example</b>"}, link.Token{Purpose: purpose, Email: "ada@example.com", Link: page}, "SECRET", undoTTL)
		if m.To != "ada@example.com" || !strings.Contains(m.Text, "\nhttps://app.example.com/verify?a=1&t=SECRET\n") ||
			!strings.Contains(m.HTML, `href="https://app.example.com/verify?a=1&amp;t=SECRET"`) || !strings.Contains(m.Text, "7 days") {
			t.Errorf("%s: %+v", purpose, m)
		}
		if strings.Contains(m.Text+m.HTML, "evil") || strings.Contains(m.HTML, "<b>") {
			t.Errorf("%s: %s", purpose, m.HTML)
		}
	}
}
