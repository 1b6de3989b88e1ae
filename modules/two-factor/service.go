package twofactor

import (
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"time"

	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service has the business rules of two-factor sign-in.
type Service struct {
	db       store.DB
	users    *user.Module
	sessions Sessions
	factors  *store.Collection[Factor]
	guesses  *ratelimit.Guesses
	keys     seal.Keys
	issuer   string   // the name that authenticator apps show
	required []string // the roles that require a second factor
	now      func() time.Time
}

const (
	secretBytes  = 20 // RFC 4226 section 4, R6
	stepSeconds  = 30 // duration of a time step, which has one code (RFC 6238 section 5.2)
	skew         = 1  // number of accepted time steps before and after the current step (RFC 6238 section 5.2)
	challengeTTL = 5 * time.Minute
)

// Rate limits of wrong codes. guessesAtAccount does not apply to the networks from which the user has passed the second factor,
// so that an attacker who has the password cannot lock the user out. 100 guesses at a code of 6 digits succeed with a
// probability of 0.03 % (NIST SP 800-63B section 5.2.2 allows 100 guesses). Recovery codes have too many bits to be guessed.
// Their separate limit allows sign-in with a recovery code when the other limits are used up.
var (
	guessesOfClient  = ratelimit.Rule{Name: "second-factor", Max: 10, Window: 15 * time.Minute}        // per account and network
	guessesOfNetwork = ratelimit.Rule{Name: "second-factor-network", Max: 100, Window: 24 * time.Hour} // per account and network
	guessesAtAccount = ratelimit.Rule{Name: "second-factor-account", Max: 100, Window: 24 * time.Hour} // per account
	recoveryGuesses  = ratelimit.Rule{Name: "recovery-code", Max: 10, Window: 15 * time.Minute}        // per account and network
)

// isOn is the filter that selects confirmed second factors.
var isOn = store.Ne("confirmedAt", nil)

// Get returns the state of a user's second factor.
func (s *Service) Get(ctx context.Context, userID store.ID) (View, error) {
	f, err := s.confirmed(ctx, userID)
	return View{Enabled: err == nil, RecoveryCodesLeft: len(f.RecoveryCodes)}, apperr.Replace(err, apperr.NotFound, nil)
}

// GetOf is Get, for an admin. NotFound: the user does not exist.
func (s *Service) GetOf(ctx context.Context, userID store.ID) (View, error) {
	if _, err := s.users.Get(ctx, userID); err != nil {
		return View{}, err
	}
	return s.Get(ctx, userID)
}

// confirmed returns a user's second factor. NotFound: the user has no confirmed second factor.
func (s *Service) confirmed(ctx context.Context, userID store.ID) (Factor, error) {
	return s.factors.First(ctx, store.And(store.Eq("id", userID), isOn))
}

// Create creates a second factor, which has no effect until Confirm. It replaces a second factor that is not confirmed. Conflict:
// the user has a confirmed second factor. Unauthorized: the account has been deleted since the authentication.
func (s *Service) Create(ctx context.Context, caller access.Principal) (Enrolment, error) {
	u, err := s.users.Get(ctx, caller.UserID)
	if err != nil {
		return Enrolment{}, apperr.Replace(err, apperr.NotFound, apperr.New(apperr.Unauthorized, "The account was deleted."))
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: s.issuer, AccountName: u.Email, SecretSize: secretBytes})
	if err != nil {
		return Enrolment{}, err
	}
	image, err := qrURL(key.URL())
	if err != nil {
		return Enrolment{}, err
	}
	now := store.At(s.now())
	f := Factor{Meta: store.NewMeta(u.ID, now), Secret: s.keys.Seal(secretUse(u.ID), []byte(key.Secret())), Epoch: caller.Epoch}
	err = s.factors.Insert(ctx, f)
	if apperr.Is(err, apperr.Conflict) {
		_, err = s.factors.Update(ctx, store.And(store.Eq("id", u.ID), store.Eq("confirmedAt", nil)),
			store.Set("secret", f.Secret), store.Set("epoch", f.Epoch), store.Set("lastStep", 0))
		err = apperr.Replace(err, apperr.NotFound, apperr.New(apperr.Conflict, "Two-factor sign-in is on. Turn it off first, with DELETE /users/me/two-factor."))
	}
	return Enrolment{Secret: key.Secret(), OTPAuthURL: key.URL(), QR: image}, err
}

// Confirm turns a second factor on, and ends the user's other sessions, which were opened without the second factor. Conflict:
// the second factor is on, or the user has no second factor to confirm. ValidationFailed: the code is wrong. TooManyRequests:
// too many codes were wrong. The states of the rate limits are returned even on error.
func (s *Service) Confirm(ctx context.Context, caller access.Principal, client access.Client, code string) (RecoveryCodes, ratelimit.States, error) {
	pending := func(f Factor, err error) error {
		if err == nil && f.ConfirmedAt != nil {
			return apperr.New(apperr.Conflict, "Two-factor sign-in is on.")
		}
		if apperr.Is(err, apperr.NotFound) || err == nil && f.Epoch != caller.Epoch {
			return apperr.New(apperr.Conflict, "There is no second factor to confirm. Create one with POST /users/me/two-factor.")
		}
		return err
	}
	codes, digests := newRecoveryCodes(caller.UserID)
	limits, err := s.use(ctx, client, caller.UserID, access.Proof{Code: code}, pending,
		func(f *Factor) { f.ConfirmedAt, f.RecoveryCodes = new(store.At(s.now())), digests })
	if err != nil {
		return RecoveryCodes{}, limits, err
	}
	ctx = context.WithoutCancel(ctx) // even if the client disconnects
	s.notify(ctx, caller.UserID, "Two-factor sign-in was turned on for your account.")
	if err := s.sessions.EndOthers(ctx, caller); err != nil {
		return RecoveryCodes{}, limits, err
	}
	if err := s.users.ForgetNetworks(ctx, caller.UserID); err != nil { // some networks may be known from sign-ins with only the password
		return RecoveryCodes{}, limits, err
	}
	return RecoveryCodes{codes}, limits, s.users.RecordNetwork(ctx, caller.UserID, client.Address)
}

// Disable turns the caller's second factor off. If the caller sent a user token, Disable also ends the caller's other sessions.
// NotFound: the second factor is off.
func (s *Service) Disable(ctx context.Context, caller access.Principal) error {
	ctx = context.WithoutCancel(ctx) // even if the client disconnects
	err := s.remove(ctx, caller.UserID, "Two-factor sign-in was turned off for your account.", isOn)
	if apperr.Is(err, apperr.NotFound) {
		return off()
	}
	if err == nil && !caller.SessionID.IsZero() {
		err = s.sessions.EndOthers(ctx, caller)
	}
	return err
}

// VerifySecondFactor implements access.SecondFactorVerifier.
func (s *Service) VerifySecondFactor(ctx context.Context, userID store.ID, client access.Client, p access.Proof) (ratelimit.States, error) {
	has, err := s.HasSecondFactor(ctx, userID)
	switch {
	case err != nil || !has:
		return nil, err
	case p == access.Proof{}:
		return nil, apperr.New(apperr.SecondFactorRequired, "Two-factor sign-in is on. Also send either code (from the authenticator app) or recovery_code.")
	}
	return s.use(ctx, client, userID, p, checkConfirmed, nil)
}

// HasSecondFactor reports whether the user has a second factor that is on.
func (s *Service) HasSecondFactor(ctx context.Context, userID store.ID) (bool, error) {
	_, err := s.confirmed(ctx, userID)
	return err == nil, apperr.Replace(err, apperr.NotFound, nil)
}

// Remove turns a user's second factor off, for an admin. It also deletes a second factor that is not confirmed. NotFound: no
// second factor was on. Forbidden: the user is the caller, who must use Disable.
func (s *Service) Remove(ctx context.Context, caller access.Principal, userID store.ID) error {
	if caller.Is(userID) {
		return apperr.New(apperr.Forbidden, "Turn your own second factor off with a code: DELETE /users/me/two-factor.")
	}
	if _, err := s.factors.Delete(ctx, store.And(store.Eq("id", userID), store.Eq("confirmedAt", nil))); err != nil {
		return err
	}
	return s.db.Together(ctx, func(ctx context.Context) error {
		if err := s.remove(ctx, userID, "An administrator turned off two-factor sign-in for your account.", isOn); err != nil {
			return err
		}
		return s.users.RecordRemoval(ctx, userID, user.TwoFactor)
	})
}

// restoreReach extends RestoreOf to second factors that were confirmed before the change of the address, because an attacker
// can enrol before the change.
const restoreReach = 7 * 24 * time.Hour

// RestoreOf implements user.Restorer. It turns off a second factor that was confirmed after the change of the address, or at
// most restoreReach before the change.
func (s *Service) RestoreOf(ctx context.Context, userID store.ID, changed store.Time) error {
	const event = "Two-factor sign-in was turned off for your account, because it was turned on after, or less than 7 days before, your email address was changed."
	return apperr.Replace(s.remove(ctx, userID, event, store.Gte("confirmedAt", store.At(changed.Add(-restoreReach)))), apperr.NotFound, nil)
}

// remove deletes a user's second factor if filter selects it, and notifies the user of the event. NotFound: filter does not
// select the second factor.
func (s *Service) remove(ctx context.Context, userID store.ID, event string, filter store.Filter) error {
	return s.db.Together(ctx, func(ctx context.Context) error {
		removed, err := s.factors.Delete(ctx, store.And(store.Eq("id", userID), filter))
		if err == nil && removed == 0 {
			err = store.ErrNotFound
		}
		if err == nil {
			s.notify(ctx, userID, event)
		}
		return err
	})
}

func (s *Service) notify(ctx context.Context, userID store.ID, event string) {
	if u, err := s.users.Get(ctx, userID); err == nil {
		s.users.Notify(ctx, u, event)
	}
}

// Challenge implements auth.SecondFactor. *access.ChallengeError: the user has a second factor.
func (s *Service) Challenge(ctx context.Context, u user.User, methods []access.Method) error {
	if _, err := s.confirmed(ctx, u.ID); err != nil {
		return apperr.Replace(err, apperr.NotFound, nil)
	}
	required := apperr.New(apperr.Unauthorized, "Within 5 minutes, call POST /auth/second-factor with challenge and either a code from the authenticator app or a recovery code.").
		WithCode(apperr.SecondFactorRequired)
	return &access.ChallengeError{Err: required, Challenge: challenge{challengeHead{u.ID, u.Epoch, s.now().Add(challengeTTL).UnixMilli()}, methods}.seal(s.keys)}
}

// SignIn opens a session for the user of a challenge. Unauthorized: the challenge is invalid or has expired, or all sessions of
// the user have ended since the first step of the sign-in. ValidationFailed, TooManyRequests: see Confirm.
func (s *Service) SignIn(ctx context.Context, client access.Client, in SignInInput) (user.SignedIn, ratelimit.States, error) {
	invalid := apperr.New(apperr.Unauthorized, "The challenge is invalid or has expired. Sign in again.")
	c, ok := openChallenge(s.keys, in.Challenge, s.now())
	if !ok {
		return user.SignedIn{}, nil, invalid
	}
	u, err := s.users.InEpoch(ctx, c.UserID, c.Epoch)
	if err != nil {
		return user.SignedIn{}, nil, apperr.Replace(err, apperr.NotFound, invalid)
	}
	limits, err := s.use(ctx, client, u.ID, in.Proof, func(f Factor, err error) error {
		return apperr.Replace(checkConfirmed(f, err), apperr.NotFound, invalid) // the second factor was turned off in the meantime
	}, nil)
	if err != nil {
		return user.SignedIn{}, limits, err
	}
	result, err := s.sessions.Open(ctx, u, client, append(c.methods, access.OneTimeCode, access.MultiFactor)...)
	return result, limits, err
}

// checkConfirmed fails with NotFound unless a second factor was found and is on. f and err are the results of reading the
// second factor.
func checkConfirmed(f Factor, err error) error {
	if apperr.Is(err, apperr.NotFound) || err == nil && f.ConfirmedAt == nil {
		return off()
	}
	return err
}

func off() error { return apperr.New(apperr.NotFound, "Two-factor sign-in is off.") }

// use accepts a code of a user's second factor once, within the rate limits. usable receives the stored second factor or the
// error of reading it, and returns nil if a code may be used now. If the code is right and change is not nil, use calls change.
// The use of the code and the change are stored in one write. ValidationFailed: the code is wrong. TooManyRequests: too many
// codes were wrong.
func (s *Service) use(ctx context.Context, client access.Client, userID store.ID, p access.Proof, usable func(f Factor, err error) error, change func(*Factor)) (ratelimit.States, error) {
	if err := checkProof(&p); err != nil {
		return nil, err
	}
	f, err := s.factors.Get(ctx, userID)
	if err := usable(f, err); err != nil {
		return nil, err
	}
	own, shared := attempts(f, client, p)
	right, limits, _, err := s.guesses.Try(ctx, ratelimit.Guess{
		Own: own, Shared: shared,
		Exempt: func(ctx context.Context) (bool, error) { return s.users.KnowsNetwork(ctx, userID, client.Address) },
		Check: func() (right bool, err error) {
			_, err = s.factors.Modify(ctx, userID, func(f *Factor) (err error) {
				if err := usable(*f, nil); err != nil { // a concurrent request may have changed f
					return err
				}
				if right, err = s.accept(f, p); right && change != nil {
					change(f)
				}
				return err
			})
			if apperr.Is(err, apperr.NotFound) {
				err = usable(Factor{}, err)
			}
			return right && err == nil, err
		},
	})
	if err == nil && !right {
		field := apperr.Field{In: "body", Param: "code", Code: apperr.Wrong, Message: "Is wrong, has expired or was used. Wait for the next code."}
		if p.RecoveryCode != "" {
			field.Param, field.Message = "recovery_code", "Is wrong or was used."
		}
		err = apperr.Invalid(field)
	}
	return limits, err
}

// attempts returns the keys of the counters of wrong codes: own for the client's network, shared for all networks together. Each
// second factor that a user creates has new counters.
func attempts(f Factor, client access.Client, p access.Proof) (own, shared []ratelimit.Key) {
	factor, network := f.ID.Hex()+f.CreatedAt.String(), ratelimit.Network(client.Address)
	if p.RecoveryCode != "" {
		return []ratelimit.Key{recoveryGuesses.Of(factor, network)}, nil
	}
	return []ratelimit.Key{guessesOfClient.Of(factor, network), guessesOfNetwork.Of(factor, network)}, []ratelimit.Key{guessesAtAccount.Of(factor)}
}

// accept marks a code of f as used; the caller must store f. It returns false if the code is wrong or was already used.
func (s *Service) accept(f *Factor, p access.Proof) (bool, error) {
	if p.RecoveryCode != "" {
		i := slices.Index(f.RecoveryCodes, recoveryDigest(f.ID, p.RecoveryCode))
		if i < 0 {
			return false, nil
		}
		f.RecoveryCodes = slices.Delete(f.RecoveryCodes, i, i+1)
		return true, nil
	}
	secret, current, ok := s.keys.Open(secretUse(f.ID), f.Secret)
	if !ok {
		return false, errors.New("two-factor: a secret cannot be decrypted: neither TWO_FACTOR_KEY nor JWT_SECRET has its key")
	}
	step, err := s.match(string(secret), p.Code, f.LastStep)
	if step == 0 || err != nil {
		return false, err
	}
	f.LastStep = step
	if !current {
		f.Secret = s.keys.Seal(secretUse(f.ID), secret)
	}
	return true, nil
}

// match returns the time step of a code. It returns 0 if the code is wrong, or if its step is not after last, the last accepted
// step.
func (s *Service) match(secret, code string, last int64) (int64, error) {
	now := s.now().Unix() / stepSeconds
	for step := max(now-skew, last+1); step <= now+skew; step++ {
		expected, err := hotp.GenerateCode(secret, uint64(step))
		if err != nil {
			return 0, err
		}
		if subtle.ConstantTimeCompare([]byte(expected), []byte(code)) == 1 {
			return step, nil
		}
	}
	return 0, nil
}

// secretUse returns the use that binds an encrypted secret to its user (see seal.Keys).
func secretUse(userID store.ID) string { return "secret of " + userID.Hex() }

// restrict returns a restriction if the user's role requires a second factor and the user has none. Otherwise, it returns nil.
func (s *Service) restrict(ctx context.Context, u user.User) (*access.Restriction, error) {
	if !slices.Contains(s.required, string(u.Role)) {
		return nil, nil
	}
	_, err := s.confirmed(ctx, u.ID)
	if apperr.Is(err, apperr.NotFound) {
		return &notEnrolled, nil
	}
	return nil, err
}

var notEnrolled = access.Restriction{
	Err: apperr.New(apperr.Forbidden, "Users with your role must use two-factor sign-in. Enrol with POST and PUT /users/me/two-factor.").WithCode(TwoFactorRequired),
}

// DeleteOf implements user.Dependent.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.factors.Delete(ctx, store.Eq("id", userID))
	return err
}
