package auth

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service has the business rules of sign-in and sessions.
type Service struct {
	db           store.DB
	users        *user.Module
	sessions     *store.Collection[Session]
	limiter      *ratelimit.Limiter
	tokens       *access.Tokens
	refreshTTL   time.Duration
	now          func() time.Time
	secret       string       // JWT_SECRET
	secondFactor SecondFactor // can be nil
}

const (
	grace        = 30 * time.Second // during this time, a refresh with a replaced token returns the current token
	maxRotations = 20               // maximum number of replaced refresh tokens that a session stores
	maxSessions  = 50               // maximum number of sessions per user
)

// invalidRefreshes limits invalid refresh tokens per network.
var invalidRefreshes = ratelimit.Rule{Name: "refresh", Max: 100, Window: 15 * time.Minute}

// SignIn opens a session for the user with the email address and the password. Unauthorized: the address or the password is
// wrong. Suspended: both are right, but the user is suspended. TooManyRequests: too many passwords were wrong. Unavailable: too
// many sign-ins are in progress. SignIn also returns the errors of Open. The states of the rate limits are returned even on
// error.
func (s *Service) SignIn(ctx context.Context, client access.Client, email, password string) (user.SignedIn, ratelimit.States, error) {
	u, limits, err := s.users.Authenticate(ctx, client, email, password)
	if err != nil {
		return user.SignedIn{}, limits, err
	}
	result, err := s.Open(ctx, u, client, access.Password)
	return result, limits, err
}

// Open opens a session for a user who has signed in with the methods. If the user then has too many sessions, Open ends the least
// recently used session. Suspended: the user is suspended. Unauthorized: since the authentication, the user has been deleted or
// all sessions have ended. If the user has a second factor, and access.MultiFactor is not one of the methods, Open fails with the
// error of SecondFactor.Challenge.
func (s *Service) Open(ctx context.Context, u user.User, client access.Client, methods ...access.Method) (user.SignedIn, error) {
	if err := u.MaySignIn(); err != nil {
		return user.SignedIn{}, err
	}
	token, now := newRefreshToken(), store.At(s.now())
	session := Session{
		Meta: store.NewMeta(store.NewID(), now), UserID: u.ID, Epoch: u.Epoch, LastUsedAt: now, ExpiresAt: store.At(now.Add(s.refreshTTL)),
		UserAgent: strings.ToValidUTF8(client.UserAgent[:min(len(client.UserAgent), maxUserAgent)], ""), IP: client.Address,
		AMR:    methods,
		Family: digest(token.family[:]), Current: digest(token.secret[:]),
	}
	if err := s.sessions.Insert(ctx, session); err != nil {
		return user.SignedIn{}, err
	}
	if err := s.settle(context.WithoutCancel(ctx), session); err != nil { // even if the client disconnects
		return user.SignedIn{}, err
	}
	return s.signedIn(u, session.ID, token)
}

// settle completes the insertion of a session. If the user was deleted or all sessions ended in the meantime, settle deletes the
// session and returns an error. It does the same if the sign-in lacks the user's second factor. Otherwise, settle records the
// network and ends the user's sessions beyond maxSessions. The sessions are counted after the insertion, so that the last of
// several concurrent sign-ins counts all sessions.
func (s *Service) settle(ctx context.Context, session Session) error {
	u, err := s.users.InEpoch(ctx, session.UserID, session.Epoch)
	err = apperr.Replace(err, apperr.NotFound,
		apperr.New(apperr.Unauthorized, "The account was deleted or its password changed during the sign-in. Sign in again."))
	if err == nil && s.secondFactor != nil && !session.hasTwoFactors() {
		err = s.secondFactor.Challenge(ctx, u, session.AMR)
	}
	if err != nil {
		if _, deleteErr := s.sessions.Delete(ctx, store.Eq("id", session.ID)); deleteErr != nil {
			return deleteErr
		}
		return err
	}
	if err := s.users.RecordNetwork(ctx, session.UserID, session.IP); err != nil {
		return err
	}
	others := store.And(store.Eq("userId", session.UserID), store.Ne("id", session.ID))
	return s.sessions.DeleteList(ctx, store.Query{Filter: others, Sort: []store.Order{{Field: "lastUsedAt", Desc: true}}, Skip: maxSessions - 1})
}

func (s *Service) signedIn(u user.User, session store.ID, refresh refreshToken) (user.SignedIn, error) {
	token, expires, err := s.tokens.Sign(u.ID, session)
	return user.SignedIn{Token: token, User: s.users.View(u), RefreshToken: refresh.String(), ExpiresAt: store.At(expires)}, err
}

// Refresh exchanges a refresh token for the next refresh token and a new user token. For 30 s after a refresh token is replaced,
// Refresh accepts it and returns the session's current refresh token: two tabs may use the token, or a response may be lost.
// After that, use of the replaced token indicates theft, and ends the session (RFC 9700 section 4.14.2).
//
// Unauthorized: the token is invalid. Suspended: the user is suspended. TooManyRequests: the token is invalid, and the client's
// network has sent too many invalid tokens. The states of the rate limits are returned only for an invalid token.
func (s *Service) Refresh(ctx context.Context, client access.Client, encoded string) (user.SignedIn, ratelimit.States, error) {
	result, err := s.refresh(ctx, encoded)
	if !apperr.Is(err, apperr.Unauthorized) || client.Trusted {
		return result, nil, err
	}
	limits, limitErr := s.limiter.Take(ctx, invalidRefreshes.Of(ratelimit.Network(client.Address)))
	if limitErr != nil {
		err = limitErr
	}
	return result, limits, err
}

func (s *Service) refresh(ctx context.Context, encoded string) (user.SignedIn, error) {
	token, ok := parseRefreshToken(encoded)
	if !ok {
		return user.SignedIn{}, invalidRefreshToken()
	}
	for { // repeats if a concurrent request has just replaced the token or ended the session
		session, u, err := s.find(ctx, store.Eq("family", digest(token.family[:])))
		if err != nil {
			return user.SignedIn{}, apperr.Replace(err, apperr.NotFound, invalidRefreshToken())
		}
		if err := u.MaySignIn(); err != nil { // a suspension has also ended the session: return the error of the suspension
			return user.SignedIn{}, err
		}
		if !s.isOpen(session, u) {
			return user.SignedIn{}, invalidRefreshToken()
		}
		next, err := s.rotate(ctx, session, token)
		if apperr.Is(err, apperr.NotFound) {
			continue
		}
		if err != nil {
			return user.SignedIn{}, err
		}
		return s.signedIn(u, session.ID, next)
	}
}

// rotate replaces token, the session's refresh token, and returns the next token. If token has been replaced within the grace
// period, rotate returns the current token. Unauthorized: token is not the current token, and was not replaced within the grace
// period; rotate has ended the session. NotFound: a concurrent request has just replaced the token or ended the session.
func (s *Service) rotate(ctx context.Context, session Session, token refreshToken) (refreshToken, error) {
	now, old := store.At(s.now()), digest(token.secret[:])
	if old != session.Current {
		if current, ok := session.follow(token, now); ok {
			return current, nil
		}
		ended, err := s.sessions.Delete(ctx, store.And(store.Eq("id", session.ID), store.Eq("current", session.Current)))
		switch {
		case err != nil:
			return refreshToken{}, err
		case ended == 0:
			return refreshToken{}, store.ErrNotFound
		}
		return refreshToken{}, invalidRefreshToken()
	}
	salt := rand.Text()
	next := token.next(salt)
	graceBegan := store.At(now.Add(-grace))
	rotated := slices.DeleteFunc(session.Rotated, func(r rotation) bool { return r.At.Before(graceBegan.Time) })
	rotated = append(rotated, rotation{Digest: old, Salt: salt, At: now})
	_, err := s.sessions.Update(ctx, store.And(store.Eq("id", session.ID), store.Eq("current", old)),
		store.Set("current", digest(next.secret[:])), store.Set("rotated", rotated[max(0, len(rotated)-maxRotations):]),
		store.Set("lastUsedAt", now), store.Set("expiresAt", store.At(now.Add(s.refreshTTL))))
	return next, err
}

func invalidRefreshToken() error {
	return apperr.New(apperr.Unauthorized, "The refresh token is invalid or has expired. Sign in again.")
}

// VerifyToken implements access.TokenVerifier. The session of the token must be open.
func (s *Service) VerifyToken(ctx context.Context, token string) (access.Principal, error) {
	userID, sessionID, err := s.tokens.Verify(token)
	if err != nil {
		return access.Principal{}, err
	}
	session, u, err := s.find(ctx, store.Eq("id", sessionID))
	if err != nil {
		return access.Principal{}, apperr.Replace(err, apperr.NotFound, access.InvalidToken())
	}
	if u.ID != userID || !s.isOpen(session, u) {
		return access.Principal{}, access.InvalidToken()
	}
	p, err := s.users.Principal(ctx, u, session.ID)
	p.AuthTime, p.MultiFactor = session.CreatedAt.Time, session.hasTwoFactors()
	return p, err
}

// find returns the session that f selects, and its user. NotFound: the session or its user does not exist.
func (s *Service) find(ctx context.Context, f store.Filter) (Session, user.User, error) {
	session, err := s.sessions.First(ctx, f)
	if err != nil {
		return Session{}, user.User{}, err
	}
	u, err := s.users.Get(ctx, session.UserID)
	return session, u, err
}

// isOpen reports whether the session of u is in the user's epoch and has not expired.
func (s *Service) isOpen(session Session, u user.User) bool {
	return session.Epoch == u.Epoch && s.now().Before(session.ExpiresAt.Time)
}

// Keep implements user.Sessions.
func (s *Service) Keep(ctx context.Context, caller access.Principal, epoch int64) error {
	_, err := s.sessions.Update(ctx, sessionsOf(caller.UserID, caller.Epoch, store.Eq("id", caller.SessionID)), store.Set("epoch", epoch))
	return apperr.Replace(err, apperr.NotFound, nil) // the session has ended in the meantime
}

// List returns a page of the caller's open sessions.
func (s *Service) List(ctx context.Context, caller access.Principal, q listing.Query) (listing.Page[SessionView], error) {
	return s.list(ctx, caller, caller.UserID, caller.Epoch, q)
}

// ListOf returns a page of a user's open sessions, for an admin. NotFound: the user does not exist.
func (s *Service) ListOf(ctx context.Context, caller access.Principal, userID store.ID, q listing.Query) (listing.Page[SessionView], error) {
	u, err := s.users.Get(ctx, userID)
	if err != nil {
		return listing.Page[SessionView]{}, err
	}
	return s.list(ctx, caller, u.ID, u.Epoch, q)
}

func (s *Service) list(ctx context.Context, caller access.Principal, userID store.ID, epoch int64, q listing.Query) (listing.Page[SessionView], error) {
	open := sessionsOf(userID, epoch, store.Gt("expiresAt", store.At(s.now())))
	return listing.Run(ctx, s.sessions, q.Only(open), func(session Session) SessionView { return session.View(caller.SessionID) })
}

// sessionsOf returns the filter that selects a user's sessions in an epoch. The sessions must also match all filters in more.
func sessionsOf(userID store.ID, epoch int64, more ...store.Filter) store.Filter {
	return store.And(append(more, store.Eq("userId", userID), store.Eq("epoch", epoch))...)
}

// SignOut ends the caller's session.
func (s *Service) SignOut(ctx context.Context, caller access.Principal) error {
	_, err := s.sessions.Delete(ctx, store.Eq("id", caller.SessionID))
	return err
}

// End ends one of the caller's sessions. NotFound: the caller has no such session.
func (s *Service) End(ctx context.Context, caller access.Principal, id store.ID) error {
	return s.end(ctx, caller.UserID, caller.Epoch, id)
}

// EndOf ends a session of a user, for an admin, and notifies the user. NotFound: the user has no such session.
func (s *Service) EndOf(ctx context.Context, caller access.Principal, userID, id store.ID) error {
	if caller.Is(userID) {
		return s.End(ctx, caller, id)
	}
	return s.db.Together(ctx, func(ctx context.Context) error {
		u, err := s.users.Get(ctx, userID)
		if err == nil {
			err = s.end(ctx, u.ID, u.Epoch, id)
		}
		if err != nil {
			return err
		}
		s.users.Notify(ctx, u, "An administrator ended a session of your account.")
		return s.users.RecordRemoval(ctx, userID, user.EndedSessions)
	})
}

func (s *Service) end(ctx context.Context, userID store.ID, epoch int64, id store.ID) error {
	ended, err := s.sessions.Delete(ctx, sessionsOf(userID, epoch, store.Eq("id", id)))
	if err == nil && ended == 0 {
		err = store.ErrNotFound
	}
	return err
}

// EndOthers ends all of the caller's sessions except the current session, and notifies the user if other sessions existed.
func (s *Service) EndOthers(ctx context.Context, caller access.Principal) error {
	return s.db.Together(ctx, func(ctx context.Context) error {
		ended, err := s.sessions.Delete(ctx, store.And(store.Eq("userId", caller.UserID), store.Ne("id", caller.SessionID)))
		if err != nil || ended == 0 {
			return err
		}
		if u, err := s.users.Get(ctx, caller.UserID); err == nil {
			s.users.Notify(ctx, u, "All sessions of your account were ended, except the session that ended them.")
		}
		return nil
	})
}

// EndAll ends all sessions of a user, and notifies the user. NotFound: the user does not exist. Forbidden: the caller is
// neither the user nor an admin.
func (s *Service) EndAll(ctx context.Context, caller access.Principal, userID store.ID) error {
	return s.db.Together(ctx, func(ctx context.Context) error {
		u, err := s.users.EndSessions(ctx, caller, userID)
		if err != nil {
			return err
		}
		s.users.Notify(ctx, u, "All sessions of your account were ended.")
		_, err = s.sessions.Delete(ctx, store.And(store.Eq("userId", userID), store.Lt("epoch", u.Epoch)))
		return err
	})
}

func (s *Service) sweep(ctx context.Context) error {
	_, err := s.sessions.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}

// DeleteOf implements user.Dependent.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.sessions.Delete(ctx, store.Eq("userId", userID))
	return err
}
