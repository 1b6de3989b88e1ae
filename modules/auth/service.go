package auth

import (
	"context"
	"strings"
	"time"

	"example.com/ginseng/internal/access"
	"example.com/ginseng/internal/apperr"
	"example.com/ginseng/internal/store"
	"example.com/ginseng/modules/user"
)

// Service holds the rules of signing in.
type Service struct {
	users    *user.Service
	sessions *Sessions
	tokens   *access.Tokens
	now      func() time.Time
	newID    func() store.ID
}

// SignIn opens a session for the user with the e-mail and password. Unauthorized: they are nobody's. Unavailable: too
// many people sign in.
func (s *Service) SignIn(ctx context.Context, email, password string, client Client) (Result, error) {
	u, err := s.users.Authenticate(ctx, email, password)
	if err != nil {
		return Result{}, err
	}
	id := s.newID()
	token, expires, err := s.tokens.Sign(u.ID, id)
	if err != nil {
		return Result{}, err
	}
	agent := strings.ToValidUTF8(client.UserAgent[:min(len(client.UserAgent), maxUserAgent)], "")
	err = s.sessions.all.Insert(ctx, Session{
		Meta: store.NewMeta(id, store.At(s.now())), UserID: u.ID, Epoch: u.Epoch,
		ExpiresAt: store.At(expires), UserAgent: agent, IP: client.IP,
	})
	return Result{Token: token, User: u.View(), ExpiresAt: store.At(expires)}, err
}

// VerifyToken tells whose a token is, as of now: the session must be open, and the user there and in the epoch in which
// the session began.
func (s *Service) VerifyToken(ctx context.Context, token string) (access.Principal, error) {
	userID, sessionID, err := s.tokens.Verify(token)
	if err != nil {
		return access.Principal{}, err
	}
	session, err := s.sessions.all.Get(ctx, sessionID)
	if err != nil {
		return access.Principal{}, unknown(err)
	}
	u, err := s.users.Get(ctx, userID)
	if err != nil {
		return access.Principal{}, unknown(err)
	}
	if session.UserID != userID || session.Epoch != u.Epoch || !s.now().Before(session.ExpiresAt.Time) {
		return access.Principal{}, access.BadToken()
	}
	return access.Principal{UserID: u.ID, SessionID: session.ID, Role: u.Role}, nil
}

// unknown makes a record that is not there a bad token, and leaves a database that is away what it is.
func unknown(err error) error {
	if apperr.Is(err, apperr.NotFound) {
		return access.BadToken()
	}
	return err
}

// SignOut ends the caller's session.
func (s *Service) SignOut(ctx context.Context, caller access.Principal) error {
	_, err := s.sessions.all.Delete(ctx, store.Eq("id", caller.SessionID))
	return err
}

// Sweep deletes the sessions that have expired.
func (s *Service) Sweep(ctx context.Context) error {
	_, err := s.sessions.all.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}
