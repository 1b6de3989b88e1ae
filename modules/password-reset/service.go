package passwordreset

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service holds the rules of password resets.
type Service struct {
	users  *user.Service
	resets *Resets
	limits *ratelimit.Limiter
	mails  Mailer
	ttl    time.Duration
	links  links
	now    func() time.Time
	newID  func() store.ID
}

// The limits of asking for resets.
var (
	resetsOfAccount   = ratelimit.Rule{Name: "resets", Max: 5, Window: time.Hour}
	requestsOfAddress = ratelimit.Rule{Name: "reset-requests", Max: 100, Window: time.Hour}
)

// tokenBytes is how much of a token is random: 256 bits, which nobody guesses (OWASP Forgot Password Cheat Sheet).
const tokenBytes = 32

// Create mails a link to the user with the e-mail, if there is one and she did not get too many. It does the same for an
// address that nobody has: all that depends on the account is done after the answer. ValidationFailed: the link.
// TooManyRequests: too many requests of the client's address. Unavailable: too many mails wait.
func (s *Service) Create(ctx context.Context, client access.Client, in CreateInput) error {
	if err := s.links.check(in.Link); err != nil {
		return err
	}
	if !client.Trusted {
		if err := s.limits.Take(ctx, requestsOfAddress.Of(ratelimit.Network(client.Address))); err != nil {
			return err
		}
	}
	if err := s.limits.Take(ctx, resetsOfAccount.Of(user.NormalEmail(in.Email))); err != nil {
		return unless(apperr.TooManyRequests, err)
	}
	return s.mails.Enqueue(ctx, s.job(in))
}

// job makes the reset and its mail.
func (s *Service) job(in CreateInput) email.Job {
	return func(ctx context.Context) (*email.Message, error) {
		u, err := s.users.ByEmail(ctx, in.Email)
		if err != nil {
			return nil, unless(apperr.NotFound, err)
		}
		token, err := s.insert(ctx, u)
		if err != nil {
			return nil, err
		}
		return newLetter(u, withToken(in.Link, token), s.ttl), nil
	}
}

// unless is err, or nil if it bears the code.
func unless(code apperr.Code, err error) error {
	if apperr.Is(err, code) {
		return nil
	}
	return err
}

// insert makes a reset and returns its token, which then nobody but the mail's reader knows.
func (s *Service) insert(ctx context.Context, u user.User) (token string, err error) {
	raw := make([]byte, tokenBytes)
	rand.Read(raw) // never fails: crypto/rand
	token = base64.RawURLEncoding.EncodeToString(raw)
	now := s.now()
	return token, s.resets.all.Insert(ctx, Reset{
		Meta: store.NewMeta(s.newID(), store.At(now)), UserID: u.ID, Epoch: u.Epoch,
		TokenHash: digest(token), ExpiresAt: store.At(now.Add(s.ttl)),
	})
}

// Get shows the reset of a token. NotFound: it is unknown, used or expired.
func (s *Service) Get(ctx context.Context, token string) (View, error) {
	r, err := s.find(ctx, token)
	if err != nil {
		return View{}, err
	}
	u, err := s.users.Get(ctx, r.UserID)
	if err == nil && u.Epoch != r.Epoch || apperr.Is(err, apperr.NotFound) {
		err = noReset()
	}
	return View{Token: token, User: u.Public(), ExpiresAt: r.ExpiresAt}, err
}

// Complete sets the password of the user whose reset it is. Of many callers with her tokens one succeeds: the others, and
// her other resets, are of an epoch that is over. NotFound: the reset is unknown, used or expired.
func (s *Service) Complete(ctx context.Context, token, password string) (user.User, error) {
	r, err := s.find(ctx, token)
	if err != nil {
		return user.User{}, err
	}
	u, err := s.users.ResetPassword(ctx, r.UserID, r.Epoch, password)
	if apperr.Is(err, apperr.NotFound) {
		return user.User{}, noReset()
	}
	if err == nil {
		_ = s.resets.DeleteOf(ctx, u.ID) // good for nothing any more; what stays goes with Sweep
	}
	return u, err
}

// find returns the reset of a token that has not expired.
func (s *Service) find(ctx context.Context, token string) (Reset, error) {
	r, err := s.resets.all.First(ctx, store.Eq("tokenHash", digest(token)))
	if err == nil && !s.now().Before(r.ExpiresAt.Time) || apperr.Is(err, apperr.NotFound) {
		err = noReset()
	}
	return r, err
}

// Sweep deletes the resets that have expired.
func (s *Service) Sweep(ctx context.Context) error {
	_, err := s.resets.all.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}
