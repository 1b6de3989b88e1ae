package user

import (
	"context"

	"golang.org/x/text/unicode/norm"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// ResetWith registers a function that returns a single-use link with which a user sets a new password. It must be called at most
// once, before the server starts. Without it, the command admin asks for passwords.
func (m *Module) ResetWith(link func(context.Context, User) (string, error)) {
	if m.resetLink != nil {
		panic("user: ResetWith was already called; only one module can reset passwords")
	}
	m.resetLink = link
}

// HasAdmin implements kit.Admins.
func (s *Service) HasAdmin(ctx context.Context) (bool, error) {
	return s.users.Exists(ctx, activeAdmins())
}

// MakeAdmin implements kit.Admins. An address that is not verified is verified as by Claim: somebody else may have signed up
// with it. The sessions of a verified user continue. Other admins are notified, as after Update. ValidationFailed: the address or
// the password is invalid. Conflict: the address is reserved for another user, or another request has changed the user in the
// meantime. Forbidden: the user is suspended. MakeAdmin also returns the errors of password.
func (s *Service) MakeAdmin(ctx context.Context, email string, password func() (string, error)) (made kit.MadeAdmin, err error) {
	if !ValidEmail(email) {
		return made, apperr.New(apperr.ValidationFailed, "%q is not an email address.", email)
	}
	before, err := s.ByEmail(ctx, email)
	switch {
	case apperr.Is(err, apperr.NotFound):
		made.Created = true
		before, err = s.newUser(Profile{Email: email})
	case err == nil && before.Suspended:
		err = apperr.New(apperr.Forbidden, "The account is suspended. An admin or the master key ends that with PATCH /users/%s (suspended=false).", before.ID.Hex())
	}
	if err != nil {
		return made, err
	}
	hash := ""
	if s.resetLink == nil && !before.EmailVerified {
		if hash, err = s.askPassword(ctx, password); err != nil {
			return made, err
		}
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		u, err := s.storeAdmin(ctx, before, made.Created, hash)
		if err == nil && s.resetLink != nil {
			made.Link, err = s.resetLink(ctx, u)
		}
		return err
	})
	return made, apperr.Replace(err, apperr.NotFound, apperr.New(apperr.Conflict, "The account was changed in the meantime. Run the command again."))
}

// askPassword returns the hash of the password that ask returns.
func (s *Service) askPassword(ctx context.Context, ask func() (string, error)) (string, error) {
	text, err := ask()
	in := PasswordInput{Password: norm.NFC.String(text)}
	if err == nil {
		err = rest.Validate(in)
	}
	if err != nil {
		return "", err
	}
	return s.hasher.Hash(ctx, in.Password)
}

// storeAdmin stores u, which is new or was read before, as an admin with a verified address. hash is the password of a user whose
// address was not verified. NotFound: the user was deleted or began another epoch.
func (s *Service) storeAdmin(ctx context.Context, u User, isNew bool, hash string) (User, error) {
	if isNew {
		u.Role, u.Password, u.EmailVerified = access.RoleAdmin, hash, true
		return u, s.signUp(ctx, u)
	}
	before := u
	if !u.EmailVerified {
		var err error
		if u, err = s.claim(ctx, u.ID, u.Epoch, hash, addressClaimed); err != nil {
			return u, err
		}
	}
	if u.Role == access.RoleAdmin {
		return u, nil
	}
	u, err := s.users.Update(ctx, store.And(store.Eq("id", u.ID), store.Eq("epoch", u.Epoch)), store.Set("role", access.RoleAdmin))
	if err == nil {
		s.notifyNewAdmin(ctx, before, u)
	}
	return u, err
}
