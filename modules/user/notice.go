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

// notices limits the security notices per address. Further notices are not sent. The limit is not per account, because an account
// can be deleted and created again.
var notices = ratelimit.Rule{Name: "notices", Max: 10, Window: time.Hour}

// The events of this module, for Notify.
const (
	passwordReset   = "The password of your account was reset. All sessions, linked accounts, passkeys and API keys were removed."
	addressClaimed  = "Your email address was verified. The previous password, sessions, linked accounts, passkeys and API keys were removed."
	passwordChanged = "The password of your account was changed. All other sessions have ended."
	addressChanged  = "An administrator changed the email address of your account. All sessions have ended. Emails go to the new address from now on."
)

const noticeKind = "security-notice"

// Notify sends a user an email about an event that somebody else may have caused. event is one or more complete sentences. If the
// event is a change in a store.DB.Together, use the context of the Together: the email is then stored with the change. An address
// gets at most 10 notices an hour, and none with SECURITY_NOTICES=false. If the email cannot be queued, Notify logs the error.
func (s *Service) Notify(ctx context.Context, u User, event string) {
	if !s.settings.SecurityNotices {
		return
	}
	err := s.emails.Enqueue(ctx, email.Entry{
		Kind: noticeKind, UserID: u.ID, Address: u.Email, Args: map[string]string{"name": u.Greeting(), "event": event},
	})
	if err != nil {
		s.log.WarnContext(ctx, "security notice not sent", "user", u.ID.Hex(), "error", err)
	}
}

// buildNotice is an email.Builder.
func (s *Service) buildNotice(ctx context.Context, e email.Entry) (*email.Message, error) {
	if e.Attempt == 1 { // count an email once, not once per attempt
		if _, err := s.limiter.Take(ctx, notices.Of(e.Address)); err != nil {
			return nil, apperr.Replace(err, apperr.TooManyRequests, nil) // no message and no error: nothing is sent
		}
	}
	return newNotice(e.Address, e.Args["name"], e.Args["event"], e.CreatedAt), nil
}

func newNotice(to, name, event string, at time.Time) *email.Message {
	return noticeEmail.Message(to, map[string]string{
		"name": name, "event": event, "time": at.UTC().Format("2 January 2006, 15:04 UTC"),
	})
}

// EmailPreviews implements kit.EmailPreviewer.
func (s *Service) EmailPreviews() []email.Preview {
	return []email.Preview{{Name: noticeKind, Message: newNotice("ada@example.com", " Ada Lovelace", passwordChanged, s.now())}}
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

// Greeting returns a space and the user's name, or "" if the name is not safe to use in an email. Anyone can sign up with
// another person's address and put a message in the name. Email programs turn URLs into links. So the name must be short and
// may only have letters, spaces and the punctuation of names.
func (u User) Greeting() string {
	if u.Name == "" || utf8.RuneCountInString(u.Name) > maxGreeting || len(strings.Fields(u.Name)) > maxGreetingWords || !greetable.MatchString(u.Name) {
		return ""
	}
	return " " + u.Name
}

// greetable matches the characters that Greeting allows. A period must end a word, because a period within a word can be part of
// a URL.
var greetable = regexp.MustCompile(`^([\pL\pM '’-]|\.( |$))+$`)
