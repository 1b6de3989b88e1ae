package emailverification

import (
	"embed"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/emaillink"
	"example.com/ginseng/modules/user"
)

//go:embed emails
var emails embed.FS

// templates has the template of each purpose.
var templates = map[string]*email.Template{
	verify: email.NewTemplate(emails, "verify", user.EmailLayout),
	change: email.NewTemplate(emails, "change", user.EmailLayout),
	undo:   email.NewTemplate(emails, "undo", user.EmailLayout),
}

// newMessage returns the email with a token, to the address that the token is about.
func newMessage(u user.User, t emaillink.Token, secret string, lifetime time.Duration) *email.Message {
	return templates[t.Purpose].Message(t.Email, map[string]string{
		"name": u.Greeting(), "link": emaillink.WithToken(t.Link, secret), "lifetime": email.FormatDuration(lifetime),
	})
}

// EmailPreviews implements kit.EmailPreviewer.
func (s *Service) EmailPreviews() []email.Preview {
	preview := func(name, purpose, to string, lifetime time.Duration) email.Preview {
		t := emaillink.Token{Purpose: purpose, Email: to, Link: "https://app.example.com/verify"}
		return email.Preview{Name: name, Message: newMessage(user.User{Name: "Ada Lovelace"}, t, "Zk3n0cXGk2-_0AqLrT7vBw5yHd8uJf1sPz4mNe6oGiQ", lifetime)}
	}
	return []email.Preview{
		preview("email-verification", verify, "ada@example.com", s.ttl),
		preview("email-change", change, "ada@example.org", s.ttl),
		preview("email-changed", undo, "ada@example.com", undoTTL),
	}
}
