package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service holds the rules of signing in.
type Service struct {
	users      *user.Service
	sessions   *Sessions
	limits     *ratelimit.Limiter
	tokens     *access.Tokens
	refreshTTL time.Duration
	now        func() time.Time
	newID      func() store.ID
}

const (
	grace        = 30 * time.Second // for which a refresh token that was traded gives the same next one
	maxRotations = 20               // that are remembered of a session: more of them within the grace look like theft
	maxSessions  = 100              // that are listed
)

// badRefreshes counts refresh tokens of a client address that are nobody's.
var badRefreshes = ratelimit.Rule{Name: "refresh", Max: 100, Window: 15 * time.Minute}

// SignIn opens a session for the user with the e-mail and password. Unauthorized: they are nobody's. TooManyRequests: too
// many wrong guesses. Unavailable: too many people sign in.
func (s *Service) SignIn(ctx context.Context, client access.Client, email, password string) (user.SignedIn, error) {
	u, err := s.users.Authenticate(ctx, client, email, password)
	if err != nil {
		return user.SignedIn{}, err
	}
	return s.Open(ctx, u, client)
}

// Open opens a session for a user who has proved who she is.
func (s *Service) Open(ctx context.Context, u user.User, client access.Client) (user.SignedIn, error) {
	token, now := newRefreshToken(), store.At(s.now())
	session := Session{
		Meta: store.NewMeta(s.newID(), now), UserID: u.ID, Epoch: u.Epoch, LastUsedAt: now, ExpiresAt: store.At(now.Add(s.refreshTTL)),
		UserAgent: strings.ToValidUTF8(client.UserAgent[:min(len(client.UserAgent), maxUserAgent)], ""), IP: client.Address,
		Family: digest(token.family[:]), Current: digest(token.secret[:]),
	}
	if err := s.sessions.all.Insert(ctx, session); err != nil {
		return user.SignedIn{}, err
	}
	return s.signedIn(u, session.ID, token)
}

func (s *Service) signedIn(u user.User, session store.ID, refresh refreshToken) (user.SignedIn, error) {
	token, expires, err := s.tokens.Sign(u.ID, session)
	return user.SignedIn{Token: token, User: u.View(), RefreshToken: refresh.String(), ExpiresAt: store.At(expires)}, err
}

// Refresh trades a refresh token for the next one and a fresh user token. One that was traded already gives the same next
// one for a grace of 30 s: two tabs may have traded it, or the answer was lost. After that somebody else has it, and the
// session ends (RFC 9700 section 4.14.2). Unauthorized: it is good for nothing. TooManyRequests: so were too many of
// the client's address. A good one always passes.
func (s *Service) Refresh(ctx context.Context, client access.Client, text string) (user.SignedIn, error) {
	result, err := s.refresh(ctx, text)
	if apperr.Is(err, apperr.Unauthorized) && !client.Trusted {
		err = cmp.Or(s.limits.Take(ctx, badRefreshes.Of(ratelimit.Network(client.Address))), err)
	}
	return result, err
}

func (s *Service) refresh(ctx context.Context, text string) (user.SignedIn, error) {
	token, ok := parseRefreshToken(text)
	if !ok {
		return user.SignedIn{}, badRefreshToken()
	}
	for { // again where another request has just traded the same token
		session, err := s.sessions.all.First(ctx, store.Eq("family", digest(token.family[:])))
		if err != nil {
			return user.SignedIn{}, unknown(err, badRefreshToken())
		}
		u, err := s.users.Get(ctx, session.UserID)
		if err != nil {
			return user.SignedIn{}, unknown(err, badRefreshToken())
		}
		if !s.open(session, u) {
			return user.SignedIn{}, badRefreshToken()
		}
		next, err := s.trade(ctx, session, token)
		if apperr.Is(err, apperr.NotFound) {
			continue
		}
		if err != nil {
			return user.SignedIn{}, err
		}
		return s.signedIn(u, session.ID, next)
	}
}

// trade replaces the session's refresh token by the next one. NotFound: somebody else has just done it.
func (s *Service) trade(ctx context.Context, session Session, token refreshToken) (refreshToken, error) {
	now, old := store.At(s.now()), digest(token.secret[:])
	graceBegan := store.At(now.Add(-grace))
	if old != session.Current {
		if current, ok := session.follow(token, now); ok {
			return current, nil
		}
		ended, err := s.sessions.all.Delete(ctx, store.And(store.Eq("id", session.ID), store.Eq("current", session.Current)))
		if err == nil && ended == 0 {
			err = store.ErrNotFound
		}
		return token, cmp.Or(err, badRefreshToken())
	}
	salt := rand.Text()
	next := token.next(salt)
	rotated := slices.DeleteFunc(session.Rotated, func(r rotation) bool { return r.At.Before(graceBegan.Time) })
	rotated = append(rotated, rotation{Digest: old, Salt: salt, At: now})
	_, err := s.sessions.all.Update(ctx, store.And(store.Eq("id", session.ID), store.Eq("current", old)),
		store.Set("current", digest(next.secret[:])), store.Set("rotated", rotated[max(0, len(rotated)-maxRotations):]),
		store.Set("lastUsedAt", now), store.Set("updatedAt", now), store.Set("expiresAt", store.At(now.Add(s.refreshTTL))))
	return next, err
}

func badRefreshToken() error {
	return apperr.New(apperr.Unauthorized, "The refresh token is not valid, or no longer. Sign in again.")
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
		return access.Principal{}, unknown(err, access.BadToken())
	}
	u, err := s.users.Get(ctx, userID)
	if err != nil {
		return access.Principal{}, unknown(err, access.BadToken())
	}
	if session.UserID != userID || !s.open(session, u) {
		return access.Principal{}, access.BadToken()
	}
	return access.Principal{UserID: u.ID, SessionID: session.ID, Epoch: u.Epoch, Role: u.Role}, nil
}

// open reports whether a user's session has not ended.
func (s *Service) open(session Session, u user.User) bool {
	return session.Epoch == u.Epoch && s.now().Before(session.ExpiresAt.Time)
}

// unknown makes of a record that is not there what the caller is to be told, and leaves a database that is away what it is.
func unknown(err, told error) error {
	if apperr.Is(err, apperr.NotFound) {
		return told
	}
	return err
}

// List returns the caller's open sessions, newest first.
func (s *Service) List(ctx context.Context, caller access.Principal) (SessionList, error) {
	open := s.ofCaller(caller, store.Gt("expiresAt", store.At(s.now())))
	sessions, err := s.sessions.all.List(ctx, store.Query{Filter: open, Sort: []store.Order{{Field: "createdAt", Desc: true}}, Limit: maxSessions})
	if err != nil {
		return SessionList{}, err
	}
	list := SessionList{Rows: make([]SessionView, len(sessions)), Count: int64(len(sessions))}
	for i, session := range sessions {
		list.Rows[i] = session.View(caller.SessionID)
	}
	if len(sessions) == maxSessions {
		list.Count, err = s.sessions.all.Count(ctx, open)
	}
	return list, err
}

// ofCaller selects the caller's sessions that a change of her password has not ended.
func (s *Service) ofCaller(caller access.Principal, more ...store.Filter) store.Filter {
	return store.And(append(more, store.Eq("userId", caller.UserID), store.Eq("epoch", caller.Epoch))...)
}

// SignOut ends the caller's session.
func (s *Service) SignOut(ctx context.Context, caller access.Principal) error {
	_, err := s.sessions.all.Delete(ctx, store.Eq("id", caller.SessionID))
	return err
}

// End ends one of the caller's sessions. NotFound: it is not hers, or has ended.
func (s *Service) End(ctx context.Context, caller access.Principal, id store.ID) error {
	ended, err := s.sessions.all.Delete(ctx, s.ofCaller(caller, store.Eq("id", id)))
	if err == nil && ended == 0 {
		err = store.ErrNotFound
	}
	return err
}

// EndOthers ends all of the caller's sessions but the one that asks.
func (s *Service) EndOthers(ctx context.Context, caller access.Principal) error {
	_, err := s.sessions.all.Delete(ctx, store.And(store.Eq("userId", caller.UserID), store.Ne("id", caller.SessionID)))
	return err
}

// Sweep deletes the sessions that have expired.
func (s *Service) Sweep(ctx context.Context) error {
	_, err := s.sessions.all.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}
