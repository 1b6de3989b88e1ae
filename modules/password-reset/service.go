package passwordreset

import (
	"context"
	"embed"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/modules/user"
)

//go:embed emails
var emails embed.FS

var resetEmail = email.NewTemplate(emails, "reset", user.EmailLayout)

// Service has the business rules of password resets.
type Service struct {
	*link.Tokens
	users   *user.Module
	limiter *ratelimit.Limiter
	emails  Queue
	ttl     time.Duration
	links   link.Links
}

// Rate limits.
var (
	resetsOfAccount   = ratelimit.Rule{Name: "resets", Max: 5, Window: time.Hour}           // per email address
	requestsOfNetwork = ratelimit.Rule{Name: "reset-requests", Max: 100, Window: time.Hour} // per network
)

// Create sends a link to the user with the email address, unless there is no such user or the address has received too many
// emails. The result and the response time do not reveal whether there is such a user. ValidationFailed: the link is missing or
// not allowed. TooManyRequests: the client's network has sent too many requests. Unavailable: too many emails are queued. The
// states of the rate limits are returned even on error.
func (s *Service) Create(ctx context.Context, client access.Client, in CreateInput) (limits ratelimit.States, err error) {
	in.Link, err = s.links.Choose(in.Link) // before the rate limits, because a request with an invalid link does not count
	if err != nil {
		return nil, err
	}
	if !client.Trusted {
		limits, err = s.limiter.Take(ctx, requestsOfNetwork.Of(ratelimit.Network(client.Address)))
		if err != nil {
			return limits, err
		}
	}
	to, _ := address.Normalize(in.Email) // validated by the rule "normalizable"
	taken, err := s.limiter.Take(ctx, resetsOfAccount.Of(to))
	limits = limits.With(taken)
	if err != nil {
		return limits, apperr.Replace(err, apperr.TooManyRequests, nil)
	}
	return limits, s.emails.Enqueue(ctx, email.Entry{Kind: emailKind, Address: to, Args: map[string]string{"link": in.Link}})
}

const emailKind = "password-reset"

// build is an email.Builder. It issues the token. It returns no email if the address is unknown.
func (s *Service) build(ctx context.Context, e email.Entry) (*email.Message, error) {
	u, err := s.users.ByEmail(ctx, e.Address)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	to, err := s.issueLink(ctx, u, e.Args["link"])
	if err != nil {
		return nil, err
	}
	return newMessage(u, to, s.ttl), nil
}

// issueLink returns a link to the page with a new token.
func (s *Service) issueLink(ctx context.Context, u user.User, page string) (string, error) {
	token, _, err := s.Issue(ctx, link.Token{UserID: u.ID, Epoch: u.Epoch}, s.ttl)
	return link.WithToken(page, token), err
}

func newMessage(u user.User, link string, lifetime time.Duration) *email.Message {
	return resetEmail.Message(u.Email, map[string]string{"name": u.Greeting(), "link": link, "lifetime": email.FormatDuration(lifetime)})
}

// emailPreviews returns examples of the emails.
func (s *Service) emailPreviews() []email.Preview {
	ada := user.User{Email: "ada@example.com", Name: "Ada Lovelace"}
	link := "https://app.example.com/reset/" + "Zk3n0cXGk2-_0AqLrT7vBw5yHd8uJf1sPz4mNe6oGiQ"
	return []email.Preview{{Name: emailKind, Message: newMessage(ada, link, s.ttl)}}
}

// Get returns the reset of a token. NotFound: the token is unknown, used or expired.
func (s *Service) Get(ctx context.Context, token string) (View, error) {
	var u user.User
	r, err := s.Find(ctx, token)
	if err == nil {
		u, err = s.users.InEpoch(ctx, r.UserID, r.Epoch)
	}
	return View{Token: token, User: s.users.Public(u), ExpiresAt: r.ExpiresAt}, apperr.Replace(err, apperr.NotFound, noReset())
}

// Complete sets the password of the reset's user. It begins a new epoch of the user, which invalidates all resets of the user.
// Only one of several concurrent calls succeeds. Complete also clears the counts of wrong passwords, so that the user can sign
// in. NotFound: the reset is unknown, used or expired.
func (s *Service) Complete(ctx context.Context, client access.Client, token, password string) (user.User, error) {
	r, err := s.Find(ctx, token)
	if err != nil {
		return user.User{}, apperr.Replace(err, apperr.NotFound, noReset())
	}
	u, err := s.users.ResetPassword(ctx, r.UserID, r.Epoch, password)
	if err != nil {
		return u, apperr.Replace(err, apperr.NotFound, noReset())
	}
	_ = s.DeleteOf(ctx, u.ID)                 // an error is ignored: the resets are invalid already, and Sweep deletes them
	_ = s.users.ClearAttempts(ctx, client, u) // an error is ignored: the counters expire after their window
	return u, nil
}
