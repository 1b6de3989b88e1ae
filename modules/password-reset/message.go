package passwordreset

import (
	"embed"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/modules/user"
)

//go:embed emails
var emails embed.FS

var resetEmail = email.NewTemplate(emails, "reset", user.EmailLayout)

// newMessage returns the email for a user.
func newMessage(u user.User, link string, lifetime time.Duration) *email.Message {
	return resetEmail.Message(u.Email, map[string]string{"name": u.Greeting(), "link": link, "lifetime": email.FormatDuration(lifetime)})
}

// EmailPreviews implements kit.EmailPreviewer.
func (s *Service) EmailPreviews() []email.Preview {
	ada := user.User{Email: "ada@example.com", Name: "Ada Lovelace"}
	link := "https://app.example.com/reset/" + "Zk3n0cXGk2-_0AqLrT7vBw5yHd8uJf1sPz4mNe6oGiQ"
	return []email.Preview{{Name: "password-reset", Message: newMessage(ada, link, s.ttl)}}
}
