package user

import (
	"cmp"
	"context"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

// Service holds the rules of users.
type Service struct {
	users      *store.Collection[User]
	config     Settings
	hasher     Hasher
	dependents []Dependent
	limits     *ratelimit.Limiter
	guesses    *ratelimit.Guesses
	now        func() time.Time
	newID      func() store.ID
}

func newService(o Options) *Service {
	return &Service{
		users:      store.Open[User](o.DB, storeSpec()),
		config:     o.Config,
		hasher:     o.Hasher,
		dependents: o.Dependents,
		limits:     o.Limits,
		guesses:    ratelimit.NewGuesses(o.Limits),
		now:        o.Now,
		newID:      o.NewID,
	}
}

// SignupRule is what sign-up, sign-in and asking for a password reset ask of their caller: the master key, unless the settings lift it.
func (s *Service) SignupRule() access.Rule {
	if s.config.PublicSignup {
		return access.Public
	}
	return access.Master
}

// The limits of guessing and signing up. The guesses that count are the wrong ones.
var (
	guessesOfClient  = ratelimit.Rule{Name: "sign-in", Max: 10, Window: 15 * time.Minute} // at one account
	guessesAtAccount = ratelimit.Rule{Name: "sign-in-account", Max: 100, Window: 15 * time.Minute}
	guessesOfAddress = ratelimit.Rule{Name: "sign-in-address", Max: 100, Window: 15 * time.Minute}
	signups          = ratelimit.Rule{Name: "sign-up", Max: 20, Window: time.Hour} // of one address
)

// Create makes an account. Forbidden: a role without the master key. TooManyRequests: too many sign-ups of the client's
// address. Conflict: the e-mail is taken.
func (s *Service) Create(ctx context.Context, client access.Client, in CreateInput) (User, error) {
	if in.Role != "" && !client.Trusted {
		return User{}, apperr.New(apperr.Forbidden, "Only the master key may choose a role.")
	}
	if err := s.countSignup(ctx, client); err != nil {
		return User{}, err
	}
	hash, err := s.hasher.Hash(ctx, in.Password)
	if err != nil {
		return User{}, err
	}
	u := s.newUser(Profile{Email: in.Email, Name: in.Name, Picture: in.Picture})
	u.Role, u.Password = access.Role(cmp.Or(in.Role, string(access.RoleUser))), hash
	return u, s.users.Insert(ctx, u)
}

// CreateVerified makes an account without a password, for somebody whose e-mail an identity provider has verified.
// TooManyRequests, Conflict: as Create.
func (s *Service) CreateVerified(ctx context.Context, client access.Client, in Profile) (User, error) {
	if err := s.countSignup(ctx, client); err != nil {
		return User{}, err
	}
	u := s.newUser(in)
	u.EmailVerified = true
	return u, s.users.Insert(ctx, u)
}

func (s *Service) countSignup(ctx context.Context, client access.Client) error {
	if client.Trusted {
		return nil
	}
	return s.limits.Take(ctx, signups.Of(ratelimit.Network(client.Address)))
}

func (s *Service) newUser(p Profile) User {
	email := NormalEmail(p.Email)
	return User{
		Meta:    store.NewMeta(s.newID(), store.At(s.now())),
		Email:   email,
		Name:    cmp.Or(p.Name, defaultName(email)),
		Picture: cmp.Or(p.Picture, defaultPicture(email)),
		Role:    access.RoleUser,
	}
}

// Get returns a user, or NotFound.
func (s *Service) Get(ctx context.Context, id store.ID) (User, error) { return s.users.Get(ctx, id) }

// ByEmail returns the user with the e-mail, or NotFound.
func (s *Service) ByEmail(ctx context.Context, email string) (User, error) {
	return s.users.First(ctx, store.Eq("email", NormalEmail(email)))
}

// List returns a page of users.
func (s *Service) List(ctx context.Context, q listing.Query) (listing.Page[View], error) {
	return listing.Run(ctx, s.users, q, User.View)
}

// Update changes what was given. NotFound; Forbidden: the caller is neither the user nor an admin, or changes a role and
// is none; PreconditionFailed: the user has none of the versions expected.
func (s *Service) Update(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in UpdateInput) (User, error) {
	u, err := s.owned(ctx, caller, id, expected)
	if err != nil {
		return User{}, err
	}
	if in.Role != nil && !caller.IsAdmin() {
		return User{}, apperr.New(apperr.Forbidden, "Only an admin may change a role.")
	}
	var changes []store.Change
	if in.Name != nil {
		changes = append(changes, store.Set("name", cmp.Or(*in.Name, defaultName(u.Email))))
	}
	if in.Picture != nil {
		changes = append(changes, store.Set("picture", cmp.Or(*in.Picture, defaultPicture(u.Email))))
	}
	if in.Role != nil {
		changes = append(changes, store.Set("role", *in.Role))
	}
	if changes == nil {
		return u, nil
	}
	return s.change(ctx, id, expected, changes...)
}

// ChangePassword sets a new password; every session of the user ends with the same write. Forbidden: the caller is
// another user, be it an admin. Unauthorized: the password that the caller proved has been changed since.
// PreconditionFailed: the user has none of the versions expected.
func (s *Service) ChangePassword(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in PasswordInput) (User, error) {
	u, err := s.users.Get(ctx, id)
	if err != nil {
		return User{}, err
	}
	if !caller.Is(id) {
		return User{}, apperr.New(apperr.Forbidden, "E-mail and password are those of another user.")
	}
	if err := expected.Check(u.Version); err != nil {
		return User{}, err
	}
	hash, err := s.hasher.Hash(ctx, in.Password)
	if err != nil {
		return User{}, err
	}
	proved := store.And(store.Eq("id", id), store.Eq("epoch", caller.Epoch))
	u, err = s.users.Update(ctx, proved, store.Set("password", hash), store.Inc("epoch", 1), store.Set("updatedAt", store.At(s.now())))
	if apperr.Is(err, apperr.NotFound) {
		err = wrongPassword()
	}
	return u, err
}

// ResetPassword sets the password of a user who forgot it and proved that she reads her mail: with the same write all of
// her sessions and resets end, and the e-mail counts as verified. Identities linked so far are good for nothing any more:
// whoever made the account, or had a token of hers, may have linked his own. One with the same verified e-mail is linked
// again by itself. NotFound: she is gone, or in another epoch.
func (s *Service) ResetPassword(ctx context.Context, id store.ID, epoch int64, password string) (User, error) {
	current := store.And(store.Eq("id", id), store.Eq("epoch", epoch))
	if _, err := s.users.First(ctx, current); err != nil { // before the work of hashing
		return User{}, err
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	return s.users.Update(ctx, current, store.Set("password", hash), store.Inc("epoch", 1), store.Set("emailVerified", true),
		store.Set("linksFrom", epoch+1), store.Set("updatedAt", store.At(s.now())))
}

// Delete removes a user and what depends on her. NotFound, Forbidden, PreconditionFailed: as Update.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) error {
	if _, err := s.owned(ctx, caller, id, expected); err != nil {
		return err
	}
	if _, err := s.users.UpdateByID(ctx, id, expected, store.Inc("epoch", 1)); err != nil { // signs out, if it is still the version
		return err
	}
	if err := s.deleteDependents(ctx, id); err != nil { // before the user: if this is cut short, an admin can make the call again
		return err
	}
	if err := s.users.DeleteByID(ctx, id, nil); err != nil {
		return err
	}
	return s.deleteDependents(ctx, id) // what came in between is good for nothing, and goes too
}

func (s *Service) deleteDependents(ctx context.Context, id store.ID) error {
	for _, d := range s.dependents {
		if err := d.DeleteOf(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Authenticate returns the user with the e-mail and password, or Unauthorized, in the same time whether the address is
// known or not. TooManyRequests: too many wrong guesses, at this address or by this client. Unavailable: too many people
// sign in. A hash that is not of today's kind is replaced.
func (s *Service) Authenticate(ctx context.Context, client access.Client, email, pass string) (User, error) {
	email = NormalEmail(email)
	var others []ratelimit.Key
	network := ratelimit.Network(client.Address)
	if !client.Trusted {
		others = []ratelimit.Key{guessesOfAddress.Of(network)}
	}
	var u User
	right, err := s.guesses.Guess(ctx, guessesAtAccount.Of(email), guessesOfClient.Of(email, network), others, func() (right bool, err error) {
		u, right, err = s.verify(ctx, email, pass)
		return right, err
	})
	if err != nil {
		return User{}, err
	}
	if !right {
		return User{}, wrongPassword()
	}
	return u, nil
}

func (s *Service) verify(ctx context.Context, email, pass string) (u User, right bool, err error) {
	u, err = s.ByEmail(ctx, email)
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return u, false, err
	}
	right, outdated, err := s.hasher.Verify(ctx, pass, u.Password) // of nobody: an empty hash, at the same cost
	if right && outdated {
		s.rehash(ctx, u, pass)
	}
	return u, right, err
}

// rehash replaces a hash that is not of today's kind. Where that fails, the next sign-in does it.
func (s *Service) rehash(ctx context.Context, u User, pass string) {
	if hash, err := s.hasher.Hash(ctx, pass); err == nil {
		_, _ = s.users.Update(ctx, store.And(store.Eq("id", u.ID), store.Eq("password", u.Password)), store.Set("password", hash))
	}
}

func wrongPassword() error { return apperr.New(apperr.Unauthorized, "E-mail or password is wrong.") }

// VerifyPassword is Authenticate for the guard.
func (s *Service) VerifyPassword(ctx context.Context, client access.Client, email, pass string) (access.Principal, error) {
	u, err := s.Authenticate(ctx, client, email, pass)
	return access.Principal{UserID: u.ID, Role: u.Role, Epoch: u.Epoch}, err
}

// owned returns the user that the caller wants to change, in one of the versions expected.
func (s *Service) owned(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) (User, error) {
	u, err := s.users.Get(ctx, id)
	if err != nil {
		return User{}, err
	}
	return u, cmp.Or(caller.MayChange(id), expected.Check(u.Version))
}

func (s *Service) change(ctx context.Context, id store.ID, expected store.Versions, changes ...store.Change) (User, error) {
	return s.users.UpdateByID(ctx, id, expected, append(changes, store.Set("updatedAt", store.At(s.now())))...)
}
