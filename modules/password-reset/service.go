package passwordreset

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/emaillink"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service has the business rules of password resets.
type Service struct {
	users  *user.Module
	resets *store.Collection[Reset]
	limits *ratelimit.Limiter
	emails Queue
	ttl    time.Duration
	links  emaillink.Links
	now    func() time.Time
}

// Rate limits.
var (
	resetsOfAccount   = ratelimit.Rule{Name: "resets", Max: 5, Window: time.Hour}
	requestsOfAddress = ratelimit.Rule{Name: "reset-requests", Max: 100, Window: time.Hour}
)

// tokenBytes is the entropy of a token: 256 bits (OWASP Forgot Password Cheat Sheet).
const tokenBytes = 32

// Create sends a link to the user with the email address, unless there is no such user or the user got too many emails. It
// responds the same for an unknown address: everything that depends on the account happens after the response.
// ValidationFailed: the link is missing or not allowed. TooManyRequests: too many requests from the client's network.
// Unavailable: too many emails are queued. The states of the rate limits are also returned with an error.
func (s *Service) Create(ctx context.Context, client access.Client, in CreateInput) (limits ratelimit.States, err error) {
	if in.Link, err = s.links.Choose(in.Link); err != nil { // before anything is counted
		return nil, err
	}
	if !client.Trusted {
		if limits, err = s.limits.Take(ctx, requestsOfAddress.Of(ratelimit.Network(client.Address))); err != nil {
			return limits, err
		}
	}
	taken, err := s.limits.Take(ctx, resetsOfAccount.Of(user.NormalEmail(in.Email)))
	limits = limits.With(taken)
	if err != nil {
		return limits, ignore(apperr.TooManyRequests, err)
	}
	return limits, s.emails.Enqueue(ctx, s.job(in))
}

// job returns the job that creates the reset and its email.
func (s *Service) job(in CreateInput) email.Job {
	return func(ctx context.Context) (*email.Message, error) {
		u, err := s.users.ByEmail(ctx, in.Email)
		if err != nil {
			return nil, ignore(apperr.NotFound, err)
		}
		token, err := s.insert(ctx, u)
		if err != nil {
			return nil, err
		}
		return newMessage(u, emaillink.WithToken(in.Link, token), s.ttl), nil
	}
}

// ignore returns err, or nil if it has the code.
func ignore(code apperr.Code, err error) error {
	if apperr.Is(err, code) {
		return nil
	}
	return err
}

// insert stores a reset and returns its token, of which only a digest is stored.
func (s *Service) insert(ctx context.Context, u user.User) (token string, err error) {
	raw := make([]byte, tokenBytes)
	rand.Read(raw) // never fails: crypto/rand
	token = base64.RawURLEncoding.EncodeToString(raw)
	now := s.now()
	return token, s.resets.Insert(ctx, Reset{
		Meta: store.NewMeta(store.NewID(), store.At(now)), UserID: u.ID, Epoch: u.Epoch,
		TokenHash: digest(token), ExpiresAt: store.At(now.Add(s.ttl)),
	})
}

// Get returns the reset of a token. NotFound: it is unknown, used or expired.
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

// Complete sets the password of the user of the reset. Only one of several concurrent calls succeeds: it begins a new epoch
// of the user, which invalidates all resets. The user can sign in again, whatever wrong passwords were sent before.
// NotFound: the reset is unknown, used or expired.
func (s *Service) Complete(ctx context.Context, client access.Client, token, password string) (user.User, error) {
	r, err := s.find(ctx, token)
	if err != nil {
		return user.User{}, err
	}
	u, err := s.users.ResetPassword(ctx, r.UserID, r.Epoch, password)
	if apperr.Is(err, apperr.NotFound) {
		return user.User{}, noReset()
	}
	if err == nil {
		_ = s.DeleteOf(ctx, u.ID)                 // they are invalid already; Sweep deletes the rest
		_ = s.users.ClearAttempts(ctx, client, u) // the counters expire after their window
	}
	return u, err
}

// find returns the reset of a token, unless it has expired.
func (s *Service) find(ctx context.Context, token string) (Reset, error) {
	r, err := s.resets.First(ctx, store.Eq("tokenHash", digest(token)))
	if err == nil && !s.now().Before(r.ExpiresAt.Time) || apperr.Is(err, apperr.NotFound) {
		err = noReset()
	}
	return r, err
}

// Sweep implements kit.Sweeper. It deletes expired resets.
func (s *Service) Sweep(ctx context.Context) error {
	_, err := s.resets.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}

// DeleteOf implements user.Dependent.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.resets.Delete(ctx, store.Eq("userId", userID))
	return err
}
