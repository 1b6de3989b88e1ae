package user

import (
	"context"
	"embed"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

//go:embed emails
var emails embed.FS

var (
	noticeEmail   = email.NewTemplate(emails, "notice", EmailLayout)
	newAdminEmail = email.NewTemplate(emails, "new-admin", EmailLayout)
)

// notices limits the security notices per address, and newAdmins the emails about new admins. Further emails are not sent. The
// limits are not per account, because an account can be deleted and created again.
var (
	notices   = ratelimit.Rule{Name: "notices", Max: 10, Window: time.Hour}
	newAdmins = ratelimit.Rule{Name: "new-admins", Max: 10, Window: time.Hour}
)

// The events of this module, for Notify.
const (
	passwordReset   = "The password of your account was reset. All sessions, linked accounts, passkeys and API keys were removed."
	addressClaimed  = "Your email address was verified. The previous password, sessions, linked accounts, passkeys and API keys were removed."
	passwordChanged = "The password of your account was changed. All other sessions have ended."
	addressChanged  = "An administrator changed the email address of your account. All sessions have ended. Emails go to the new address from now on."
)

const (
	noticeKind   = "security-notice"
	newAdminKind = "new-admin"
)

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
	return s.build(ctx, e, notices, newNotice)
}

// build calls message with the fields of an entry, and returns its result. It returns nil if the rule forbids another email to the
// address.
func (s *Service) build(ctx context.Context, e email.Entry, rule ratelimit.Rule, message func(to string, args map[string]string, at time.Time) *email.Message) (*email.Message, error) {
	if e.Attempt == 1 { // count an email once, not once per attempt
		if _, err := s.limiter.Take(ctx, rule.Of(e.Address)); err != nil {
			return nil, apperr.Replace(err, apperr.TooManyRequests, nil) // no message and no error: nothing is sent
		}
	}
	return message(e.Address, e.Args, e.CreatedAt), nil
}

func newNotice(to string, args map[string]string, at time.Time) *email.Message {
	return noticeEmail.Message(to, map[string]string{"name": args["name"], "event": args["event"], "time": inUTC(at)})
}

func inUTC(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// notifyNewAdmin sends an email about the new admin u to the other admins and to u, also to the former addresses of u. before is u
// before the change. It sends nothing about the first admin. The rules of Notify apply.
func (s *Service) notifyNewAdmin(ctx context.Context, before, u User) {
	if !s.settings.SecurityNotices {
		return
	}
	admins, err := s.Admins(ctx)
	admins = slices.DeleteFunc(admins, func(a User) bool { return a.ID == u.ID })
	if err == nil && len(admins) == 0 {
		return
	}
	var addresses []string // of u
	if err == nil && s.addresses != nil {
		addresses, _, err = s.addresses.Former(ctx, before)
	}
	send := func(to User, address, account string) {
		if err == nil {
			err = s.emails.Enqueue(ctx, email.Entry{
				Kind: newAdminKind, UserID: to.ID, Address: address, Args: map[string]string{"name": to.Greeting(), "account": account, "id": u.ID.Hex()},
			})
		}
	}
	for _, a := range admins {
		send(a, a.Email, u.Email)
	}
	addresses = append(addresses, before.Email, u.Email)
	slices.Sort(addresses)
	for _, address := range slices.Compact(addresses) {
		send(u, address, address) // a former address must not learn the new one
	}
	if err != nil {
		s.log.WarnContext(ctx, "emails about a new admin not sent", "user", u.ID.Hex(), "error", err)
	}
}

// buildNewAdmin is an email.Builder.
func (s *Service) buildNewAdmin(ctx context.Context, e email.Entry) (*email.Message, error) {
	return s.build(ctx, e, newAdmins, newNewAdmin)
}

func newNewAdmin(to string, args map[string]string, at time.Time) *email.Message {
	return newAdminEmail.Message(to, map[string]string{"name": args["name"], "account": args["account"], "id": args["id"], "time": inUTC(at)})
}

// emailPreviews returns examples of the emails.
func (s *Service) emailPreviews() []email.Preview {
	const to = "ada@example.com"
	args := map[string]string{"name": " Ada Lovelace", "event": passwordChanged, "account": "grace@example.com", "id": store.ID{}.Hex()}
	return []email.Preview{
		{Name: noticeKind, Message: newNotice(to, args, s.now())},
		{Name: newAdminKind, Message: newNewAdmin(to, args, s.now())},
	}
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
