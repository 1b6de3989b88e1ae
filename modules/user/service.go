package user

import (
	"cmp"
	"context"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/reference"
	"example.com/ginseng/kit/store"
)

// Service has the business rules of users.
type Service struct {
	users      *reference.Collection[User]
	settings   Settings
	hasher     kit.Hasher
	dependents []Dependent
	limits     *ratelimit.Limiter
	guesses    *ratelimit.Guesses
	now        func() time.Time
}

func newService(d kit.Deps, s Settings) *Service {
	return &Service{
		users:    reference.Open(d, storeSpec(), User.Public, reference.Public, reference.Admins),
		settings: s,
		hasher:   d.Hasher,
		limits:   d.Limits,
		guesses:  ratelimit.NewGuesses(d.Limits),
		now:      d.Now,
	}
}

// Rate limits. Those of sign-in count wrong passwords.
var (
	guessesOfClient  = ratelimit.Rule{Name: "sign-in", Max: 10, Window: 15 * time.Minute} // per account and network
	guessesAtAccount = ratelimit.Rule{Name: "sign-in-account", Max: 100, Window: 15 * time.Minute}
	guessesOfAddress = ratelimit.Rule{Name: "sign-in-address", Max: 100, Window: 15 * time.Minute}
	signups          = ratelimit.Rule{Name: "sign-up", Max: 20, Window: time.Hour} // per network
)

// Create creates an account. Forbidden: a role without the master key. TooManyRequests: too many sign-ups from the
// client's network. Conflict: the email address is in use. The states of the rate limits are also returned with an error.
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
	u := s.newUser(Profile{Email: in.Email, Name: in.Name, Picture: in.Picture})
	u.Role, u.Password, u.Fields = access.Role(cmp.Or(in.Role, string(access.RoleUser))), hash, in.Fields
	return u, limits, s.users.Insert(ctx, u)
}

// CreateVerified creates an account without a password, with an email address that an identity provider has verified.
// TooManyRequests, Conflict: as Create.
func (s *Service) CreateVerified(ctx context.Context, client access.Client, in Profile) (User, ratelimit.States, error) {
	limits, err := s.countSignup(ctx, client)
	if err != nil {
		return User{}, limits, err
	}
	u := s.newUser(in)
	u.EmailVerified = true
	return u, limits, s.users.Insert(ctx, u)
}

func (s *Service) countSignup(ctx context.Context, client access.Client) (ratelimit.States, error) {
	if client.Trusted {
		return nil, nil
	}
	return s.limits.Take(ctx, signups.Of(ratelimit.Network(client.Address)))
}

func (s *Service) newUser(p Profile) User {
	email := NormalEmail(p.Email)
	u := User{
		Meta:    store.NewMeta(store.NewID(), store.At(s.now())),
		Email:   email,
		Name:    cmp.Or(p.Name, defaultName(email)),
		Picture: cmp.Or(p.Picture, defaultPicture(email)),
		Role:    access.RoleUser,
	}
	store.SetDefaults(&u.Fields)
	return u
}

// Get returns a user, or NotFound.
func (s *Service) Get(ctx context.Context, id store.ID) (User, error) { return s.users.Get(ctx, id) }

// ByEmail returns the user with the email address, or NotFound.
func (s *Service) ByEmail(ctx context.Context, email string) (User, error) {
	return s.users.First(ctx, store.Eq("email", NormalEmail(email)))
}

// List returns a page of users.
func (s *Service) List(ctx context.Context, q listing.Query) (listing.Page[View], error) {
	return listing.Run(ctx, s.users, q, User.View)
}

// Update changes the given fields. NotFound; Forbidden: the caller is neither the user nor an admin, or changes a role
// without being an admin; PreconditionFailed: the user has none of the expected versions.
func (s *Service) Update(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in store.Patch[UpdateInput]) (User, error) {
	u, err := s.editable(ctx, caller, id, expected)
	if err != nil {
		return User{}, err
	}
	if in.Has("role") && !caller.IsAdmin() {
		return User{}, apperr.New(apperr.Forbidden, "Only an admin may change a role.")
	}
	in.Fields.Name = cmp.Or(in.Fields.Name, defaultName(u.Email))
	in.Fields.Picture = cmp.Or(in.Fields.Picture, defaultPicture(u.Email))
	return s.users.UpdateByID(ctx, id, expected, in.Changes(s.now())...)
}

// ChangePassword sets a new password and, in the same write, ends all sessions of the user. Forbidden: the caller is
// another user, also if an admin. Unauthorized: the caller's password has been changed since it was verified.
// PreconditionFailed: the user has none of the expected versions.
func (s *Service) ChangePassword(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in PasswordInput) (User, error) {
	u, err := s.users.Get(ctx, id)
	if err != nil {
		return User{}, err
	}
	if !caller.Is(id) {
		return User{}, apperr.New(apperr.Forbidden, "Email and password belong to another user.")
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

// ResetPassword sets the password of a user who received a reset email. The same write ends all sessions and resets of
// the user and marks the email address as verified. It also invalidates the linked identities: somebody else may have
// created the account, or had a token, and linked their own. An identity with the same verified address is linked again at
// its next sign-in. NotFound: the user does not exist, or is in another epoch.
func (s *Service) ResetPassword(ctx context.Context, id store.ID, epoch int64, password string) (User, error) {
	current := store.And(store.Eq("id", id), store.Eq("epoch", epoch))
	if _, err := s.users.First(ctx, current); err != nil { // before the expensive hash
		return User{}, err
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	return s.users.Update(ctx, current, store.Set("password", hash), store.Inc("epoch", 1), store.Set("emailVerified", true),
		store.Set("linksFrom", epoch+1), store.Set("updatedAt", store.At(s.now())))
}

// Delete deletes a user and the data of the dependents, and applies the rules of the references to the user. NotFound,
// Forbidden, PreconditionFailed: as Update. Conflict: a reference restricts the deletion.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) error {
	if _, err := s.editable(ctx, caller, id, expected); err != nil {
		return err
	}
	if _, err := s.users.PlanDeletion(ctx, id); err != nil { // before anything changes
		return err
	}
	if _, err := s.users.UpdateByID(ctx, id, expected, store.Inc("epoch", 1)); err != nil { // ends all sessions, if the version is still expected
		return err
	}
	if err := s.deleteDependents(ctx, id); err != nil { // before the user: after a failure an admin can repeat the request
		return err
	}
	if err := s.users.DeleteByID(ctx, id, nil); err != nil {
		return err
	}
	return s.deleteDependents(ctx, id) // created in the meantime
}

func (s *Service) deleteDependents(ctx context.Context, id store.ID) error {
	for _, d := range s.dependents {
		if err := d.DeleteOf(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Authenticate returns the user with the email address and the password, or Unauthorized, in the same time for known and
// unknown addresses. TooManyRequests: too many wrong passwords for the account or from the client. Unavailable: too many
// concurrent sign-ins. An outdated hash is replaced. The states of the rate limits are also returned with an error.
func (s *Service) Authenticate(ctx context.Context, client access.Client, email, pass string) (User, ratelimit.States, error) {
	email = NormalEmail(email)
	var others []ratelimit.Key
	network := ratelimit.Network(client.Address)
	if !client.Trusted {
		others = []ratelimit.Key{guessesOfAddress.Of(network)}
	}
	var u User
	right, limits, err := s.guesses.Guess(ctx, guessesAtAccount.Of(email), guessesOfClient.Of(email, network), others, func() (right bool, err error) {
		u, right, err = s.verify(ctx, email, pass)
		return right, err
	})
	if err == nil && !right {
		err = wrongPassword()
	}
	if err != nil {
		return User{}, limits, err
	}
	return u, limits, nil
}

func (s *Service) verify(ctx context.Context, email, pass string) (u User, right bool, err error) {
	u, err = s.ByEmail(ctx, email)
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return u, false, err
	}
	right, outdated, err := s.hasher.Verify(ctx, pass, u.Password) // an unknown user has an empty hash, which takes the same time
	if right && outdated {
		s.rehash(ctx, u, pass)
	}
	return u, right, err
}

// rehash replaces an outdated hash. After an error, the next sign-in tries again.
func (s *Service) rehash(ctx context.Context, u User, pass string) {
	if hash, err := s.hasher.Hash(ctx, pass); err == nil {
		_, _ = s.users.Update(ctx, store.And(store.Eq("id", u.ID), store.Eq("password", u.Password)), store.Set("password", hash))
	}
}

func wrongPassword() error { return apperr.New(apperr.Unauthorized, "Email or password is wrong.") }

// VerifyPassword implements access.PasswordVerifier.
func (s *Service) VerifyPassword(ctx context.Context, client access.Client, email, pass string) (access.Principal, ratelimit.States, error) {
	u, limits, err := s.Authenticate(ctx, client, email, pass)
	return access.Principal{UserID: u.ID, Role: u.Role, Epoch: u.Epoch}, limits, err
}

// editable returns a user that the caller may change, in one of the expected versions.
func (s *Service) editable(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) (User, error) {
	u, err := s.users.Get(ctx, id)
	if err != nil {
		return User{}, err
	}
	if err := caller.MayChange(id); err != nil {
		return User{}, err
	}
	return u, expected.Check(u.Version)
}
