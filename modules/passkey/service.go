package passkey

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service has the business rules of passkeys.
type Service struct {
	db         store.DB
	users      *user.Module
	sessions   Sessions
	limiter    *ratelimit.Limiter
	log        *slog.Logger
	now        func() time.Time
	passkeys   *store.Collection[Passkey]
	challenges *store.Collection[challenge]
	party      relyingParty
}

const (
	challengeTTL = 5 * time.Minute
	maxPasskeys  = 20 // maximum number of passkeys per user
)

// Rate limits. They limit the number of stored challenges and of signature checks, not guesses: a passkey cannot be guessed.
var (
	challengesOfUser    = ratelimit.Rule{Name: "passkey-registrations", Max: 50, Window: 15 * time.Minute} // per account
	challengesOfNetwork = ratelimit.Rule{Name: "passkey-challenges", Max: 300, Window: 15 * time.Minute}   // per network
	rejections          = ratelimit.Rule{Name: "passkey", Max: 100, Window: 15 * time.Minute}              // per network
)

// configured fails with NotSupported if passkeys are off.
func (s *Service) configured() error {
	if s.party.WebAuthn == nil {
		return apperr.New(apperr.NotSupported, "Passkeys are off: the operator must set PASSKEY_RP_ID and PASSKEY_ORIGINS.")
	}
	return nil
}

// save stores the state of a ceremony, and returns the challenge for take. A ceremony is a registration or a sign-in.
func (s *Service) save(ctx context.Context, caller access.Principal, session *webauthn.SessionData) (string, error) {
	encoded, err := json.Marshal(session)
	if err != nil {
		return "", err
	}
	now := s.now()
	return session.Challenge, s.challenges.Insert(ctx, challenge{
		Meta: store.NewMeta(challengeID(session.Challenge), store.At(now)), UserID: caller.UserID, Epoch: caller.Epoch,
		Session: string(encoded), ExpiresAt: store.At(now.Add(challengeTTL)),
	})
}

// challengeID returns the ID under which a challenge is stored: 96 bits of its digest. A challenge has 256 random bits.
func challengeID(c string) (id store.ID) {
	sum := sha256.Sum256([]byte(c))
	copy(id[:], sum[:])
	return id
}

// take deletes a challenge, so that the challenge can be used only once, and returns the state of its ceremony. caller is zero
// for a sign-in. NotFound: the challenge is unknown, was used, has expired or was issued to another caller, or the user has begun
// another epoch.
func (s *Service) take(ctx context.Context, caller access.Principal, text string) (session webauthn.SessionData, err error) {
	c, err := s.challenges.First(ctx, store.And(store.Eq("id", challengeID(text)), store.Eq("userId", caller.UserID), store.Eq("epoch", caller.Epoch)))
	if err != nil {
		return session, err
	}
	deleted, err := s.challenges.Delete(ctx, store.Eq("id", c.ID))
	switch {
	case err != nil:
		return session, err
	case deleted == 0 || !s.now().Before(c.ExpiresAt.Time): // used by a concurrent request, or expired
		return session, store.ErrNotFound
	}
	return session, json.Unmarshal([]byte(c.Session), &session)
}

// current returns the user who is the caller. Unauthorized: the caller's sessions have ended since the request began.
func (s *Service) current(ctx context.Context, caller access.Principal) (user.User, error) {
	u, err := s.users.InEpoch(ctx, caller.UserID, caller.Epoch)
	return u, apperr.Replace(err, apperr.NotFound, access.InvalidToken())
}

// ownedBy returns the filter that selects the valid passkeys of a user.
func ownedBy(u user.User) store.Filter {
	return store.And(store.Eq("userId", u.ID), store.Gte("epoch", u.LinksFrom))
}

// list returns the valid passkeys of a user, oldest first.
func (s *Service) list(ctx context.Context, u user.User) ([]Passkey, error) {
	return s.passkeys.List(ctx, store.Query{Filter: ownedBy(u), Sort: []store.Order{{Field: "createdAt"}}})
}

// List returns the passkeys of a user. NotFound: there is no such user.
func (s *Service) List(ctx context.Context, userID store.ID) (List, error) {
	u, err := s.users.Get(ctx, userID)
	if err != nil {
		return List{}, err
	}
	passkeys, err := s.list(ctx, u)
	rows := make([]View, len(passkeys))
	for i, p := range passkeys {
		rows[i] = p.View()
	}
	return List{Rows: rows, Count: len(rows)}, err
}

// Get returns a passkey of the caller, or NotFound. Unauthorized: the caller's sessions have ended.
func (s *Service) Get(ctx context.Context, caller access.Principal, id store.ID) (Passkey, error) {
	u, err := s.current(ctx, caller)
	if err != nil {
		return Passkey{}, err
	}
	return s.passkeys.First(ctx, store.And(ownedBy(u), store.Eq("id", id)))
}

// Update changes the name of a passkey of the caller. NotFound: the caller has no such passkey. PreconditionFailed: the passkey
// has none of the expected versions.
func (s *Service) Update(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in store.Patch[UpdateInput]) (Passkey, error) {
	if _, err := s.Get(ctx, caller, id); err != nil {
		return Passkey{}, err
	}
	var changes []store.Change
	if in.Has("name") {
		changes = []store.Change{store.Set("name", in.Fields.Name)}
	}
	return s.passkeys.UpdateByID(ctx, id, expected, changes...)
}

// Delete deletes a passkey of the caller, and ends the caller's other sessions, which may have been opened with the passkey.
// NotFound, PreconditionFailed: see Update.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) error {
	if _, err := s.Get(ctx, caller, id); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // completes even if the client disconnects
	return s.db.Together(ctx, func(ctx context.Context) error {
		if err := s.passkeys.DeleteByID(ctx, id, expected); err != nil {
			return err
		}
		s.notify(ctx, caller.UserID, "A passkey was removed from your account.")
		return s.sessions.EndOthers(ctx, caller)
	})
}

// Remove deletes a passkey of a user, for an admin. NotFound: the user has no such passkey.
func (s *Service) Remove(ctx context.Context, userID, id store.ID) error {
	return s.db.Together(ctx, func(ctx context.Context) error {
		deleted, err := s.passkeys.Delete(ctx, store.And(store.Eq("id", id), store.Eq("userId", userID)))
		switch {
		case err != nil:
			return err
		case deleted == 0:
			return store.ErrNotFound
		}
		s.notify(ctx, userID, "An administrator removed a passkey from your account.")
		return s.users.RecordRemoval(ctx, userID, user.Passkeys)
	})
}

func (s *Service) notify(ctx context.Context, userID store.ID, event string) {
	if u, err := s.users.Get(ctx, userID); err == nil {
		s.users.Notify(ctx, u, event)
	}
}

func (s *Service) sweep(ctx context.Context) error {
	_, err := s.challenges.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}

// DeleteOf implements user.Dependent. It does not delete the user's challenges, because challenges expire.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.passkeys.Delete(ctx, store.Eq("userId", userID))
	return err
}
