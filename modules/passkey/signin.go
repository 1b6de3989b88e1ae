package passkey

import (
	"context"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// SignInOptions begins a sign-in. NotSupported: passkeys are off. TooManyRequests: the client's network has begun too many
// sign-ins. The states of the rate limits are returned even on error.
func (s *Service) SignInOptions(ctx context.Context, client access.Client) (out SignInOptions, limits ratelimit.States, err error) {
	if err := s.configured(); err != nil {
		return out, nil, err
	}
	if !client.Trusted {
		limits, err = s.limiter.Take(ctx, challengesOfNetwork.Of(ratelimit.Network(client.Address)))
		if err != nil {
			return out, limits, err
		}
	}
	options, ceremony, err := s.party.BeginDiscoverableLogin()
	if err != nil {
		return out, limits, err
	}
	issued, err := s.save(ctx, access.Principal{}, ceremony)
	return SignInOptions{Challenge: issued, PublicKey: options.Response}, limits, err
}

// SignIn opens a session for the user of a passkey. No other factor is needed: the user has the authenticator, and the
// authenticator has verified the user. Unauthorized: the challenge or the credential is not accepted. Suspended: the user is
// suspended. NotSupported: passkeys are off. TooManyRequests: too many sign-ins from the client's network were rejected. The
// states of the rate limits are returned only for a rejected sign-in.
func (s *Service) SignIn(ctx context.Context, client access.Client, in SignInInput) (user.SignedIn, ratelimit.States, error) {
	if err := s.configured(); err != nil {
		return user.SignedIn{}, nil, err
	}
	u, err := s.authenticate(ctx, in)
	if apperr.Is(err, apperr.Unauthorized) && !client.Trusted {
		limits, limitErr := s.limiter.Take(ctx, rejections.Of(ratelimit.Network(client.Address)))
		if limitErr != nil {
			err = limitErr
		}
		return user.SignedIn{}, limits, err
	}
	if err != nil {
		return user.SignedIn{}, nil, err
	}
	result, err := s.sessions.Open(ctx, u, client, access.Passkey, access.MultiFactor)
	return result, nil, err
}

// authenticate returns the user of a passkey. Unauthorized: the passkey is not accepted; the log has the reason.
func (s *Service) authenticate(ctx context.Context, in SignInInput) (user.User, error) {
	ceremony, err := s.take(ctx, access.Principal{}, in.Challenge)
	if err != nil {
		return user.User{}, s.rejectNotFound(ctx, err, "the challenge is unknown, has expired or was used")
	}
	a := in.Credential.ParsedCredentialAssertionData
	p, u, err := s.find(ctx, a.RawID)
	if err != nil {
		return user.User{}, s.rejectNotFound(ctx, err, "the passkey is unknown")
	}
	credential, err := s.validate(u, p, ceremony, a)
	if err != nil {
		return user.User{}, s.reject(ctx, reason(err), "passkey", p.ID.Hex())
	}
	if credential.Authenticator.CloneWarning {
		s.users.Notify(ctx, u, "A sign-in with a passkey was rejected, because somebody may have copied the passkey. If this happens again, remove the passkey from your account.")
		return user.User{}, s.reject(ctx, "the signature counter did not increase", "passkey", p.ID.Hex())
	}
	if p.BackupEligible != credential.Flags.BackupEligible {
		s.log.WarnContext(ctx, "the backup eligibility of a passkey has changed", "passkey", p.ID.Hex(), "eligible", credential.Flags.BackupEligible)
	}
	return u, s.used(ctx, p, credential)
}

// find returns the passkey with the credential ID, and its user. NotFound: there is no such passkey, or the passkey is invalid.
func (s *Service) find(ctx context.Context, credentialID []byte) (Passkey, user.User, error) {
	p, err := s.passkeys.First(ctx, store.Eq("credentialId", encoding.EncodeToString(credentialID)))
	if err != nil {
		return Passkey{}, user.User{}, err
	}
	u, err := s.users.Get(ctx, p.UserID)
	if err == nil && p.Epoch < u.LinksFrom {
		err = store.ErrNotFound
	}
	return p, u, err
}

// validate verifies an assertion, and returns the credential with its new state.
//
// The library rejects an assertion if its flag "backup eligible" differs from the flag at the registration, as Web Authentication
// section 7.2 requires. But some password managers change the flag after an update, and their users would be locked out. So
// validate passes the flag of the assertion to the library as the stored flag.
func (s *Service) validate(u user.User, p Passkey, ceremony webauthn.SessionData, a *protocol.ParsedCredentialAssertionData) (*webauthn.Credential, error) {
	stored := p.credential()
	stored.Flags.BackupEligible = a.Response.AuthenticatorData.Flags.HasBackupEligible()
	owner := func(_, _ []byte) (webauthn.User, error) { // the library compares the user handle with the ID of the owner
		return account{u, webauthn.Credentials{stored}}, nil
	}
	_, credential, err := s.party.ValidatePasskeyLogin(owner, s.party.withOrigin(ceremony, a.Response.CollectedClientData), a)
	return credential, err
}

// used stores the new state of a passkey. Unauthorized: after find read the passkey, the passkey was deleted, or was used with
// the same or a higher counter.
func (s *Service) used(ctx context.Context, p Passkey, c *webauthn.Credential) error {
	now, count := store.At(s.now()), int64(c.Authenticator.SignCount)
	unchanged := store.Lt("signCount", count)
	if count == 0 { // the authenticator has no counter
		unchanged = store.Eq("signCount", 0)
	}
	_, err := s.passkeys.Update(ctx, store.And(store.Eq("id", p.ID), unchanged), store.Set("signCount", count), store.Set("lastUsedAt", now),
		store.Set("backupEligible", c.Flags.BackupEligible), store.Set("backupState", c.Flags.BackupState))
	if err != nil {
		return s.rejectNotFound(ctx, err, "the passkey was removed or used in the meantime")
	}
	return nil
}

// reject logs why a sign-in is rejected, and returns the error for the client, which does not contain the reason.
func (s *Service) reject(ctx context.Context, reason string, details ...any) error {
	s.log.InfoContext(ctx, "a sign-in with a passkey was rejected", append([]any{"reason", reason}, details...)...)
	return apperr.New(apperr.Unauthorized, "The passkey was not accepted. Get new options and try again, or use another way to sign in.")
}

// rejectNotFound calls reject if err is NotFound. It returns other errors unchanged.
func (s *Service) rejectNotFound(ctx context.Context, err error, reason string) error {
	if apperr.Is(err, apperr.NotFound) {
		err = s.reject(ctx, reason)
	}
	return err
}

// reason returns the library's explanation of an error.
func reason(err error) string {
	if e := (*protocol.Error)(nil); errors.As(err, &e) && e.DevInfo != "" {
		return e.Details + ": " + e.DevInfo
	}
	return err.Error()
}
