package user

import (
	"cmp"
	"context"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

// Rate limits of new accounts.
var (
	signups       = ratelimit.Rule{Name: "sign-up", Max: 20, Window: time.Hour}      // per network
	signupsOfSite = ratelimit.Rule{Name: "sign-up-site", Max: 40, Window: time.Hour} // per site (IPv6 /48), which has 65,536 networks
)

// Create creates an account. Forbidden: in has a role, but the request does not have the master key. TooManyRequests: the
// client's network has made too many sign-ups. Conflict: the email address is in use, or reserved for another user. Unavailable:
// too many passwords are being hashed. The states of the rate limits are returned even on error.
func (s *Service) Create(ctx context.Context, client access.Client, in CreateInput) (User, ratelimit.States, error) {
	if in.Role != "" && !client.Trusted {
		return User{}, nil, apperr.New(apperr.Forbidden, "Only the master key may choose a role.")
	}
	limits, err := s.countSignup(ctx, client)
	if err != nil {
		return User{}, limits, err
	}
	hash, err := s.hasher.Hash(ctx, in.Password)
	if err != nil {
		return User{}, limits, err
	}
	u, err := s.newUser(Profile{Email: in.Email, Name: in.Name, Picture: in.Picture})
	if err != nil {
		return User{}, limits, err
	}
	u.Role, u.Password, u.Fields = access.Role(cmp.Or(in.Role, string(access.RoleUser))), hash, in.Fields
	return u, limits, s.signUp(ctx, u)
}

// CreateVerified creates an account without a password, with an email address that an identity provider has verified.
// TooManyRequests: see Create. Conflict: the address is in use; a reserved address is accepted.
func (s *Service) CreateVerified(ctx context.Context, client access.Client, in Profile) (User, ratelimit.States, error) {
	limits, err := s.countSignup(ctx, client)
	if err != nil {
		return User{}, limits, err
	}
	u, err := s.newUser(in)
	if err != nil {
		return User{}, limits, err
	}
	u.EmailVerified = true
	return u, limits, s.insert(ctx, u)
}

// CreateUnverified creates an account without a password, with an email address that is not verified. It calls link in the
// store.DB.Together that stores the account. link must store the credential for sign-in. TooManyRequests, Conflict: see Create.
// CreateUnverified also returns the errors of link.
func (s *Service) CreateUnverified(ctx context.Context, client access.Client, in Profile, link func(context.Context, User) error) (User, ratelimit.States, error) {
	limits, err := s.countSignup(ctx, client)
	if err != nil {
		return User{}, limits, err
	}
	u, err := s.newUser(in)
	if err != nil {
		return User{}, limits, err
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		if err := s.signUp(ctx, u); err != nil {
			return err
		}
		err := link(ctx, u)
		if err != nil { // undo, for databases without transactions
			_ = s.users.DeleteByID(context.WithoutCancel(ctx), u.ID, nil)
		}
		return err
	})
	return u, limits, err
}

// insert stores a new user. The log of changes records only new admins: anybody can sign up. Conflict: the address is in use.
func (s *Service) insert(ctx context.Context, u User) error {
	if u.Role != access.RoleAdmin {
		ctx = store.WithoutLog(ctx)
	}
	return s.users.Insert(ctx, u)
}

// signUp stores a new user. If the address is not verified, the module that verifies addresses is called. Conflict: the address is
// in use or reserved.
func (s *Service) signUp(ctx context.Context, u User) error {
	if err := s.CheckAddress(ctx, u.ID, u.Email); err != nil {
		return err
	}
	return s.db.Together(ctx, func(ctx context.Context) error {
		if err := s.insert(ctx, u); err != nil {
			return err
		}
		err := s.checkReserved(ctx, u.ID, u.Email) // check again: see ChangeEmail
		if err != nil {                            // undo, for databases without transactions
			_ = s.users.DeleteByID(context.WithoutCancel(ctx), u.ID, nil)
		}
		if err == nil && s.addresses != nil && !u.EmailVerified {
			s.addresses.SignedUp(ctx, u)
		}
		if err == nil && u.Role == access.RoleAdmin {
			s.notifyNewAdmin(ctx, u, u)
		}
		return err
	})
}

func (s *Service) countSignup(ctx context.Context, client access.Client) (ratelimit.States, error) {
	if client.Trusted {
		return nil, nil
	}
	network, site := ratelimit.Network(client.Address), ratelimit.Site(client.Address)
	keys := []ratelimit.Key{signups.Of(network)}
	if site != network { // IPv6
		keys = append(keys, signupsOfSite.Of(site))
	}
	return s.limiter.Take(ctx, keys...)
}

// newUser returns a new user. ValidationFailed: the address has no normal form.
func (s *Service) newUser(p Profile) (User, error) {
	email, ok := address.Normalize(p.Email)
	if !ok {
		return User{}, invalidEmail()
	}
	id := store.NewID()
	u := User{
		Meta:  store.NewMeta(id, store.At(s.now())),
		Email: email, EmailWords: emailWords(email),
		Name:    cmp.Or(p.Name, defaultName(email)),
		Picture: cmp.Or(p.Picture, s.defaultPicture(id)),
		Role:    access.RoleUser,
	}
	store.SetDefaults(&u.Fields)
	return u, nil
}
