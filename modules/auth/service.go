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
	users        *user.Module
	sessions     *store.Collection[Session]
	limits       *ratelimit.Limiter
	tokens       *access.Tokens
	refreshTTL   time.Duration
	now          func() time.Time
	secret       string       // JWT_SECRET
	secondFactor SecondFactor // can be nil
}

const (
	grace        = 30 * time.Second // in which a replaced refresh token returns the same next one
	maxRotations = 20               // stored per session: more within the grace period indicate theft
	maxSessions  = 50               // of a user
)

// invalidRefreshes limits invalid refresh tokens per network.
var invalidRefreshes = ratelimit.Rule{Name: "refresh", Max: 100, Window: 15 * time.Minute}

// SignIn opens a session for the user with the email address and the password. Unauthorized: they are wrong. Suspended:
// they are right. TooManyRequests: too many wrong passwords. Unavailable: too many concurrent sign-ins. The states of the
// rate limits are also returned with an error.
func (s *Service) SignIn(ctx context.Context, client access.Client, email, password string) (user.SignedIn, ratelimit.States, error) {
	u, limits, err := s.users.Authenticate(ctx, client, email, password)
	if err != nil {
		return user.SignedIn{}, limits, err
	}
	result, err := s.Open(ctx, u, client)
	return result, limits, err
}

// Open opens a session for an authenticated user. If the user has too many, it ends the one whose last sign-in or refresh is
// the oldest. Suspended: the user is. Unauthorized: the user has been deleted, or all sessions have ended, since the
// authentication. If the user has a second factor, Open fails with its challenge.
func (s *Service) Open(ctx context.Context, u user.User, client access.Client) (user.SignedIn, error) {
	return s.insert(ctx, u, client, s.secondFactor)
}

// OpenVerified is Open after the user has proved to have the second factor.
func (s *Service) OpenVerified(ctx context.Context, u user.User, client access.Client) (user.SignedIn, error) {
	return s.insert(ctx, u, client, nil)
}

func (s *Service) insert(ctx context.Context, u user.User, client access.Client, factor SecondFactor) (user.SignedIn, error) {
	if err := u.MaySignIn(); err != nil {
		return user.SignedIn{}, err
	}
	token, now := newRefreshToken(), store.At(s.now())
	session := Session{
		Meta: store.NewMeta(store.NewID(), now), UserID: u.ID, Epoch: u.Epoch, LastUsedAt: now, ExpiresAt: store.At(now.Add(s.refreshTTL)),
		UserAgent: strings.ToValidUTF8(client.UserAgent[:min(len(client.UserAgent), maxUserAgent)], ""), IP: client.Address,
		Family: digest(token.family[:]), Current: digest(token.secret[:]),
	}
	if err := s.sessions.Insert(ctx, session); err != nil {
		return user.SignedIn{}, err
	}
	if err := s.settle(context.WithoutCancel(ctx), session, factor); err != nil { // also if the client disconnects
		return user.SignedIn{}, err
	}
	return s.signedIn(u, session.ID, token)
}

// settle ends a new session if its user was deleted before the session was stored, or has a second factor. Otherwise it
// ends the user's sessions beyond maxSessions. It does so after the insertion: whichever of several concurrent sign-ins
// comes last sees all of them, and a second factor that it does not see yet ends the session when it is confirmed.
func (s *Service) settle(ctx context.Context, session Session, factor SecondFactor) error {
	u, err := s.users.InEpoch(ctx, session.UserID, session.Epoch)
	err = apperr.Replace(err, apperr.NotFound,
		apperr.New(apperr.Unauthorized, "The account was deleted or its password changed during the sign-in. Sign in again."))
	if err == nil && factor != nil {
		err = factor.Challenge(ctx, u)
	}
	if err != nil {
		if _, deleteErr := s.sessions.Delete(ctx, store.Eq("id", session.ID)); deleteErr != nil {
			return deleteErr
		}
		return err
	}
	others := store.And(store.Eq("userId", session.UserID), store.Ne("id", session.ID))
	return s.sessions.DeleteList(ctx, store.Query{Filter: others, Sort: []store.Order{{Field: "lastUsedAt", Desc: true}}, Skip: maxSessions - 1})
}

func (s *Service) signedIn(u user.User, session store.ID, refresh refreshToken) (user.SignedIn, error) {
	token, expires, err := s.tokens.Sign(u.ID, session)
	return user.SignedIn{Token: token, User: u.View(), RefreshToken: refresh.String(), ExpiresAt: store.At(expires)}, err
}

// Refresh replaces a refresh token by the next one and a new user token. For a grace period of 30 s a replaced token
// returns the same next token: two tabs may have used it, or the response was lost. After that its use indicates theft, and
// ends the session (RFC 9700 section 4.14.2). Unauthorized: the token is invalid. Suspended: the user is. TooManyRequests:
// the token is invalid, as were too many from the client's network. The states of the rate limits are also returned with an
// error.
func (s *Service) Refresh(ctx context.Context, client access.Client, text string) (user.SignedIn, ratelimit.States, error) {
	result, err := s.refresh(ctx, text)
	if !apperr.Is(err, apperr.Unauthorized) || client.Trusted {
		return result, nil, err
	}
	limits, limitErr := s.limits.Take(ctx, invalidRefreshes.Of(ratelimit.Network(client.Address)))
	if limitErr != nil {
		err = limitErr
	}
	return result, limits, err
}

func (s *Service) refresh(ctx context.Context, text string) (user.SignedIn, error) {
	token, ok := parseRefreshToken(text)
	if !ok {
		return user.SignedIn{}, invalidRefreshToken()
	}
	for { // again if a concurrent request has just replaced the token
		session, u, err := s.find(ctx, store.Eq("family", digest(token.family[:])))
		if err != nil {
			return user.SignedIn{}, apperr.Replace(err, apperr.NotFound, invalidRefreshToken())
		}
		if err := u.MaySignIn(); err != nil { // the sessions have ended: say why
			return user.SignedIn{}, err
		}
		if !s.open(session, u) {
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

// rotate replaces the session's refresh token by the next one. NotFound: a concurrent request has just done so.
func (s *Service) rotate(ctx context.Context, session Session, token refreshToken) (refreshToken, error) {
	now, old := store.At(s.now()), digest(token.secret[:])
	graceBegan := store.At(now.Add(-grace))
	if old != session.Current {
		if current, ok := session.follow(token, now); ok {
			return current, nil
		}
		ended, err := s.sessions.Delete(ctx, store.And(store.Eq("id", session.ID), store.Eq("current", session.Current)))
		switch {
		case err != nil:
			return token, err
		case ended == 0:
			return token, store.ErrNotFound
		}
		return token, invalidRefreshToken()
	}
	salt := rand.Text()
	next := token.next(salt)
	rotated := slices.DeleteFunc(session.Rotated, func(r rotation) bool { return r.At.Before(graceBegan.Time) })
	rotated = append(rotated, rotation{Digest: old, Salt: salt, At: now})
	_, err := s.sessions.Update(ctx, store.And(store.Eq("id", session.ID), store.Eq("current", old)),
		store.Set("current", digest(next.secret[:])), store.Set("rotated", rotated[max(0, len(rotated)-maxRotations):]),
		store.Set("lastUsedAt", now), store.Set("updatedAt", now), store.Set("expiresAt", store.At(now.Add(s.refreshTTL))))
	return next, err
}

func invalidRefreshToken() error {
	return apperr.New(apperr.Unauthorized, "The refresh token is invalid or has expired. Sign in again.")
}

// VerifyToken implements access.TokenVerifier. The session must be open, and the user must be in the epoch in which the
// session began.
func (s *Service) VerifyToken(ctx context.Context, token string) (access.Principal, error) {
	userID, sessionID, err := s.tokens.Verify(token)
	if err != nil {
		return access.Principal{}, err
	}
	session, u, err := s.find(ctx, store.Eq("id", sessionID))
	if err != nil {
		return access.Principal{}, apperr.Replace(err, apperr.NotFound, access.InvalidToken())
	}
	if u.ID != userID || !s.open(session, u) {
		return access.Principal{}, access.InvalidToken()
	}
	return s.users.Principal(ctx, u, session.ID)
}

// find returns the session that f selects, and its user. NotFound: there is none.
func (s *Service) find(ctx context.Context, f store.Filter) (Session, user.User, error) {
	session, err := s.sessions.First(ctx, f)
	if err != nil {
		return Session{}, user.User{}, err
	}
	u, err := s.users.Get(ctx, session.UserID)
	return session, u, err
}

// open reports whether a session of a user has not ended.
func (s *Service) open(session Session, u user.User) bool {
	return session.Epoch == u.Epoch && s.now().Before(session.ExpiresAt.Time)
}

// List returns a page of the caller's open sessions.
func (s *Service) List(ctx context.Context, caller access.Principal, q listing.Query) (listing.Page[SessionView], error) {
	open := s.ofCaller(caller, store.Gt("expiresAt", store.At(s.now())))
	return listing.Run(ctx, s.sessions, q.Only(open), func(session Session) SessionView { return session.View(caller.SessionID) })
}

// ofCaller selects the caller's sessions of the current epoch.
func (s *Service) ofCaller(caller access.Principal, more ...store.Filter) store.Filter {
	return store.And(append(more, store.Eq("userId", caller.UserID), store.Eq("epoch", caller.Epoch))...)
}

// SignOut ends the caller's session.
func (s *Service) SignOut(ctx context.Context, caller access.Principal) error {
	_, err := s.sessions.Delete(ctx, store.Eq("id", caller.SessionID))
	return err
}

// End ends one of the caller's sessions. NotFound: the caller has no such session.
func (s *Service) End(ctx context.Context, caller access.Principal, id store.ID) error {
	ended, err := s.sessions.Delete(ctx, s.ofCaller(caller, store.Eq("id", id)))
	if err == nil && ended == 0 {
		err = store.ErrNotFound
	}
	return err
}

// EndOthers ends all of the caller's sessions except the current one.
func (s *Service) EndOthers(ctx context.Context, caller access.Principal) error {
	ended, err := s.sessions.Delete(ctx, store.And(store.Eq("userId", caller.UserID), store.Ne("id", caller.SessionID)))
	if err != nil || ended == 0 {
		return err
	}
	if u, err := s.users.Get(ctx, caller.UserID); err == nil {
		s.users.Notify(ctx, u, "All sessions of your account were ended, except the one that ended them.")
	}
	return nil
}

// EndAll ends all sessions of a user. NotFound; Forbidden: the caller is neither the user nor an admin.
func (s *Service) EndAll(ctx context.Context, caller access.Principal, userID store.ID) error {
	u, err := s.users.EndSessions(ctx, caller, userID)
	if err == nil {
		s.users.Notify(ctx, u, "All sessions of your account were ended.")
		_, err = s.sessions.Delete(ctx, store.And(store.Eq("userId", userID), store.Lt("epoch", u.Epoch)))
	}
	return err
}

// Sweep implements kit.Sweeper. It deletes expired sessions.
func (s *Service) Sweep(ctx context.Context) error {
	_, err := s.sessions.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}

// DeleteOf implements user.Dependent.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.sessions.Delete(ctx, store.Eq("userId", userID))
	return err
}
