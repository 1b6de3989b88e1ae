package passkey

import (
	"cmp"
	"context"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// RegistrationOptions begins the registration of a passkey of the caller. Conflict: the caller has too many passkeys.
// NotSupported: passkeys are off. TooManyRequests: the caller has begun too many registrations. The states of the rate limits are
// returned even on error.
func (s *Service) RegistrationOptions(ctx context.Context, caller access.Principal) (RegistrationOptions, ratelimit.States, error) {
	if err := s.configured(); err != nil {
		return RegistrationOptions{}, nil, err
	}
	limits, err := s.limiter.Take(ctx, challengesOfUser.Of(caller.UserID.Hex()))
	if err != nil {
		return RegistrationOptions{}, limits, err
	}
	u, err := s.current(ctx, caller)
	if err != nil {
		return RegistrationOptions{}, limits, err
	}
	passkeys, err := s.list(ctx, u)
	if err != nil {
		return RegistrationOptions{}, limits, err
	}
	if len(passkeys) >= maxPasskeys {
		return RegistrationOptions{}, limits, tooMany()
	}
	a := account{User: u}
	for _, p := range passkeys {
		a.credentials = append(a.credentials, p.credential())
	}
	options, ceremony, err := s.party.BeginRegistration(a,
		webauthn.WithExclusions(a.credentials.CredentialDescriptors()), webauthn.WithExtensions(webauthn.WithExtensionCredProps()))
	if err != nil {
		return RegistrationOptions{}, limits, err
	}
	issued, err := s.save(ctx, caller, ceremony)
	return RegistrationOptions{Challenge: issued, PublicKey: options.Response}, limits, err
}

// Create stores the passkey of a registration. ValidationFailed: the challenge or the credential is not accepted. Conflict: the
// caller has too many passkeys, or the credential is registered already. NotSupported: passkeys are off.
func (s *Service) Create(ctx context.Context, caller access.Principal, in CreateInput) (Passkey, error) {
	if err := s.configured(); err != nil {
		return Passkey{}, err
	}
	u, err := s.current(ctx, caller)
	if err != nil {
		return Passkey{}, err
	}
	ceremony, err := s.take(ctx, caller, in.Challenge)
	if err != nil {
		return Passkey{}, apperr.Replace(err, apperr.NotFound, invalid("challenge", "Is unknown, has expired or was used. Get new options."))
	}
	credential, err := s.verify(u, ceremony, in.Credential.ParsedCredentialCreationData)
	if err != nil {
		return Passkey{}, err
	}
	p := newPasskey(store.NewMeta(store.NewID(), store.At(s.now())), u, in.Name, credential)
	if err := s.add(ctx, u, p); err != nil {
		return Passkey{}, err
	}
	s.users.Notify(ctx, u, "A passkey was added to your account. It can be used to sign in.")
	return p, nil
}

// verify returns the credential of a registration. ValidationFailed: the credential is not accepted.
func (s *Service) verify(u user.User, ceremony webauthn.SessionData, r *protocol.ParsedCredentialCreationData) (*webauthn.Credential, error) {
	client, flags := r.Response.CollectedClientData, r.Response.AttestationObject.AuthData.Flags
	ceremony = s.party.withOrigin(ceremony, client)
	credential, err := s.party.CreateCredential(account{User: u}, ceremony, r)
	switch {
	case err != nil && !protocol.IsOriginInHaystack(client.Origin, ceremony.GetOrigins(s.party.Config.RPOrigins)):
		err = invalid("credential", "Comes from a page or an app whose origin is not in PASSKEY_ORIGINS.").WithCause(err)
	case err != nil && !flags.HasUserVerified():
		err = invalid("credential", "Lacks user verification. Use an authenticator with a PIN, a fingerprint or a face.").WithCause(err)
	case err != nil:
		err = invalid("credential", "Is not the response to these options. Get new options and try again.").WithCause(err)
	case credential.Extensions.RK != nil && !*credential.Extensions.RK:
		err = invalid("credential", "Is not discoverable, so it cannot be used to sign in. Use another authenticator.")
	}
	return credential, err
}

// invalid returns ValidationFailed for a parameter whose value was not accepted.
func invalid(param, message string) *apperr.Error {
	return apperr.Invalid(apperr.Field{In: "body", Param: param, Code: apperr.Wrong, Message: message})
}

// tooMany returns the Conflict for a user with the maximum number of passkeys.
func tooMany() error {
	return apperr.New(apperr.Conflict, "This account has %d passkeys, the maximum. Remove one first.", maxPasskeys)
}

// add stores a passkey, and deletes the invalid passkeys of the user. Conflict: the passkey is registered already, or the user
// has too many passkeys. The passkeys are counted after the insertion, so that the last of several concurrent requests counts all
// passkeys.
func (s *Service) add(ctx context.Context, u user.User, p Passkey) error {
	if _, err := s.passkeys.Delete(ctx, store.And(store.Eq("userId", u.ID), store.Lt("epoch", u.LinksFrom))); err != nil {
		return err
	}
	err := s.passkeys.Insert(ctx, p)
	if err != nil {
		return apperr.Replace(err, apperr.Conflict, apperr.New(apperr.Conflict, "This passkey is registered already."))
	}
	ctx = context.WithoutCancel(ctx) // even if the client disconnects
	n, err := s.passkeys.Count(ctx, ownedBy(u))
	if err == nil && n > maxPasskeys {
		err = tooMany()
	}
	if err != nil {
		_, deleteErr := s.passkeys.Delete(ctx, store.Eq("id", p.ID))
		return cmp.Or(deleteErr, err)
	}
	_, err = s.users.Get(ctx, u.ID)
	if apperr.Is(err, apperr.NotFound) { // the user was deleted in the meantime
		return cmp.Or(s.DeleteOf(ctx, u.ID), error(access.InvalidToken()))
	}
	return err
}
