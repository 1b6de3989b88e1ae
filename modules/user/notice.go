package user

import (
	"context"
	"embed"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/ratelimit"
)

//go:embed emails
var emails embed.FS

var noticeEmail = email.NewTemplate(emails, "notice", EmailLayout)

// notices limits the security notices to an address; further ones are not sent. It is not per account, because an account
// can be deleted and created again.
var notices = ratelimit.Rule{Name: "notices", Max: 10, Window: time.Hour}

// The events of this module, for Notify.
const (
	passwordChanged = "The password of your account was changed. All other sessions have ended."
	addressChanged  = "An administrator changed the email address of your account. All sessions have ended. Emails go to the new address from now on."
)

// Notify sends a user an email about an event that somebody else may have caused. The event is a sentence. The email is sent
// after the request, at most 10 an hour to an address, and none with SECURITY_NOTICES=false. If the email cannot be queued,
// Notify only logs that: the event has happened.
func (s *Service) Notify(ctx context.Context, u User, event string) {
	if !s.settings.SecurityNotices {
		return
	}
	at := s.now()
	err := s.emails.Enqueue(ctx, func(ctx context.Context) (*email.Message, error) {
		if _, err := s.limits.Take(ctx, notices.Of(u.Email)); err != nil {
			return nil, apperr.Replace(err, apperr.TooManyRequests, nil) // no message and no error: nothing is sent
		}
		return newNotice(u, event, at), nil
	})
	if err != nil {
		s.log.WarnContext(ctx, "security notice not sent", "user", u.ID.Hex(), "error", err)
	}
}

func newNotice(u User, event string, at time.Time) *email.Message {
	return noticeEmail.Message(u.Email, map[string]string{
		"name": u.Greeting(), "event": event, "time": at.UTC().Format("2 January 2006, 15:04 UTC"),
	})
}

// EmailPreviews implements kit.EmailPreviewer.
func (s *Service) EmailPreviews() []email.Preview {
	ada := User{Email: "ada@example.com", Name: "Ada Lovelace"}
	return []email.Preview{{Name: "security-notice", Message: newNotice(ada, passwordChanged, s.now())}}
}

// EmailLayout is the layout of every email; see email.NewTemplate.
//
//go:embed emails/layout.html
var EmailLayout string

// The limits of a name in an email.
const (
	maxGreeting      = 40 // characters
	maxGreetingWords = 4
)

// Greeting returns a space and the user's name, or "" if the name is not safe in our email. Anyone can sign up with
// somebody's address and a message as the name, and email programs turn URLs into links. So the name must be short and may
// only have letters, spaces and the punctuation of names.
func (u User) Greeting() string {
	if u.Name == "" || utf8.RuneCountInString(u.Name) > maxGreeting || len(strings.Fields(u.Name)) > maxGreetingWords || !greetable.MatchString(u.Name) {
		return ""
	}
	return " " + u.Name
}

// greetable matches the characters that Greeting allows. A point must end a word: within one, it can be part of a URL.
var greetable = regexp.MustCompile(`^([\pL\pM '’-]|\.( |$))+$`)
