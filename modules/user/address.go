package user

import (
	"context"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/store"
)

// Addresses is implemented by the module that verifies email addresses.
type Addresses interface {
	// SignedUp is called for a sign-up with an address that is not verified. It is called in the store.DB.Together that stores
	// the user, and must follow the rules of Together.
	SignedUp(ctx context.Context, u User)
	// Reserved reports whether an address in normal form is reserved for a user whose ID is not id.
	Reserved(ctx context.Context, id store.ID, email string) (bool, error)
	// Former returns the former addresses of the user from which a change of the address can be undone, and the time until which
	// this is possible. If no change can be undone, it returns no addresses and the zero Time.
	Former(ctx context.Context, u User) (addresses []string, until store.Time, err error)
}

// VerifyWith registers the module that verifies email addresses. It must be called once, before the server starts.
func (m *Module) VerifyWith(a Addresses) {
	if m.addresses != nil {
		panic("user: VerifyWith was already called; only one module can verify addresses")
	}
	m.addresses = a
}

// CheckAddress fails with Conflict if the address is in use by, or reserved for, a user whose ID is not id. email must be in
// normal form.
func (s *Service) CheckAddress(ctx context.Context, id store.ID, email string) error {
	u, err := s.ByEmail(ctx, email)
	switch {
	case err == nil && u.ID != id:
		return s.taken()
	case err != nil && !apperr.Is(err, apperr.NotFound):
		return err
	}
	return s.checkReserved(ctx, id, email)
}

// taken returns the Conflict for an address that is in use or reserved. The message does not say which, because anyone can
// cause the error.
func (s *Service) taken() error {
	if s.addresses == nil {
		return store.Duplicate("email")
	}
	return apperr.New(apperr.Conflict, "The email address is not available.").WithFields(apperr.Field{
		In: "body", Param: "email", Code: apperr.FieldConflict, Message: "Is in use, or is reserved for up to 7 days after a change of the address.",
	})
}

// checkReserved fails with Conflict if the address is reserved for a user whose ID is not id.
func (s *Service) checkReserved(ctx context.Context, id store.ID, email string) error {
	if s.addresses == nil {
		return nil
	}
	reserved, err := s.addresses.Reserved(ctx, id, email)
	if err == nil && reserved {
		err = s.taken()
	}
	return err
}

// checkEmail checks that the caller may give a user another email address. ValidationFailed: the caller is not an admin, or
// the address is invalid.
func (s *Service) checkEmail(caller access.Principal, email string) error {
	switch {
	case !caller.IsAdmin():
		message := "Only an admin can change the email address. Omit email, or send the current address."
		if s.addresses != nil {
			message = "Only an admin can change the email address here. Change your own with PUT /users/me/email."
		}
		return apperr.Invalid(apperr.Field{In: "body", Param: "email", Code: apperr.ReadOnly, Message: message})
	case !ValidEmail(email):
		return invalidEmail()
	}
	return nil
}

func invalidEmail() error {
	return apperr.Invalid(apperr.Field{In: "body", Param: "email", Code: apperr.Format, Message: "Must be an email address."})
}

// setAddress gives u another address, in normal form, and ends all sessions of u.
func (u *User) setAddress(email string, verified bool) {
	u.Email, u.EmailWords, u.EmailVerified = email, emailWords(email), verified
	u.Epoch++
}

// endUndo invalidates all links that undo changes of the address of u. Call endUndo after a change that increases u.Epoch.
// endUndo does nothing if the caller is u, even if u is an admin: the caller may be an attacker.
func (u *User) endUndo(caller access.Principal) {
	if !caller.Is(u.ID) {
		u.UndoFrom = u.Epoch
	}
}

// emailWords converts the domain of email, an address in normal form, to Unicode. It returns "" if the conversion changes nothing.
func emailWords(email string) string {
	if readable := address.Readable(email); readable != email {
		return readable
	}
	return ""
}

// VerifyEmail marks the address of a user as verified. NotFound: the user does not exist, is in another epoch, or has already
// verified the address.
func (s *Service) VerifyEmail(ctx context.Context, id store.ID, epoch int64) (User, error) {
	unverified := store.And(store.Eq("id", id), store.Eq("epoch", epoch), store.Ne("emailVerified", true))
	return s.users.Update(ctx, unverified, store.Set("emailVerified", true))
}

// ChangeEmail gives a user another address, which must be in normal form. It marks the address as verified, and ends all sessions
// of the user. NotFound: the user has been deleted, or the epoch of the user differs from before.Epoch. Conflict: the address is
// in use or reserved.
//
// After the change, ChangeEmail checks whether the new address is reserved. If so, ChangeEmail changes the address back. A check
// before the change is not sufficient: in the meantime, another user's change can free and reserve the address.
func (s *Service) ChangeEmail(ctx context.Context, before User, email string) (User, error) {
	u, err := s.change(ctx, before.ID, func(u *User) error {
		if u.Epoch != before.Epoch {
			return store.ErrNotFound
		}
		u.setAddress(email, true)
		return nil
	})
	if err != nil {
		return u, err
	}
	err = s.checkReserved(ctx, u.ID, email)
	if err != nil {
		_, _ = s.change(context.WithoutCancel(ctx), u.ID, func(u *User) error {
			if u.Email == email {
				u.setAddress(before.Email, before.EmailVerified)
			}
			return nil
		})
	}
	return u, err
}

// RestoreOf calls RestoreOf of every Dependent that implements Restorer.
func (s *Service) RestoreOf(ctx context.Context, id store.ID, since store.Time) error {
	for _, d := range s.dependents {
		if r, ok := d.(Restorer); ok {
			if err := r.RestoreOf(ctx, id, since); err != nil {
				return err
			}
		}
	}
	return nil
}

// RestoreEmail gives a user a former address again, and marks the address as verified. It also ends all sessions, invalidates the
// linked identities, passkeys and API keys, and removes the password, which may be an attacker's. The user can set a new password
// with a password reset. RestoreEmail makes these changes even if the user already has the address, but a repeated call changes
// nothing. NotFound: the user does not exist, or an admin has changed the address or ended the sessions of the user since epoch.
// Conflict: the address is in use.
func (s *Service) RestoreEmail(ctx context.Context, id store.ID, email string, epoch int64) (User, error) {
	return s.change(ctx, id, func(u *User) error {
		switch {
		case epoch < u.UndoFrom:
			return store.ErrNotFound
		case u.Email == email && !u.HasPassword() && u.LinksFrom == u.Epoch:
			return nil
		}
		u.setAddress(email, true)
		u.Password, u.LinksFrom = "", u.Epoch
		return nil
	})
}
