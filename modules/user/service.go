package user

import (
	"cmp"
	"context"
	"encoding/hex"
	"log/slog"
	"slices"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// Service has the business rules of users.
type Service struct {
	db           store.DB
	users        *store.Collection[User]
	referred     *resource.Collection[User] // users, and the references to users in other records
	removals     *resource.Removals
	networks     *networks
	settings     Settings
	openSignIn   bool // see Module.OpenSignIn
	hasher       kit.Hasher
	dependents   []Dependent
	restrictions []func(context.Context, User) (*access.Restriction, error) // see Module.Restrict
	addresses    Addresses                                                  // can be nil
	secondFactor SecondFactor                                               // can be nil
	sessions     Sessions                                                   // can be nil
	resetLink    func(context.Context, User) (string, error)                // can be nil; see Module.ResetWith
	limiter      *ratelimit.Limiter
	guesses      *ratelimit.Guesses
	digest       func(parts ...string) []byte // keyed; see kit.Deps
	emails       *email.Queue
	log          *slog.Logger
	now          func() time.Time
	files        *files.Files
	publicURL    string // setting PUBLIC_URL; can be ""
	routes       *route.Table
}

func newService(d kit.Deps, s Settings) *Service {
	networks := &networks{known: store.Open[network](d.DB, networkSpec()), digest: d.Digest, now: d.Now}
	service := &Service{
		db:         d.DB,
		networks:   networks,
		settings:   s,
		hasher:     d.Hasher,
		dependents: []Dependent{networks},
		limiter:    d.Limiter,
		guesses:    ratelimit.NewGuesses(d.Limiter),
		digest:     d.Digest,
		emails:     d.Email,
		log:        d.Log,
		now:        d.Now,
		files:      d.Files,
		publicURL:  d.PublicURL,
		routes:     d.Routes,
	}
	d.Resources = &kit.Resources{} // the log has changes of users, but there are no webhook events of them
	service.referred = resource.Open(d, storeSpec(), service.Public, resource.Public, self)
	service.referred.ViewFor(service.viewFor)
	service.users = service.referred.Unrestricted()
	service.removals = resource.NewRemovals(d, service.referred)
	d.Email.Handle(noticeKind, service.buildNotice)
	d.Email.Handle(newAdminKind, service.buildNewAdmin)
	return service
}

// Get returns a user, or NotFound.
func (s *Service) Get(ctx context.Context, id store.ID) (User, error) {
	return s.users.Get(ctx, id)
}

// Lock calls store.Collection.Lock. For a rule over several records of a user, each writer of these records locks the user.
func (s *Service) Lock(ctx context.Context, ids ...store.ID) error {
	return s.users.Lock(ctx, ids...)
}

const gravatar = "https://www.gravatar.com/avatar/"

// defaultPicture returns the URL of a generated image. The URL depends on the ID and not on the email address, because a hash of
// the address could be compared with the hashes of known addresses.
func (s *Service) defaultPicture(id store.ID) string {
	return gravatar + hex.EncodeToString(s.digest("picture", id.Hex())) + "?d=identicon&f=y"
}

// Principal returns u as the caller of a request. session is zero if the request was authenticated with the password or an API
// key.
func (s *Service) Principal(ctx context.Context, u User, session store.ID) (access.Principal, error) {
	p := access.Principal{UserID: u.ID, SessionID: session, Epoch: u.Epoch, Role: u.Role}
	if s.settings.SignupEmail == emailRequired && !u.EmailVerified {
		p.Restriction = &unverified
	}
	for _, check := range s.restrictions {
		restriction, err := check(ctx, u)
		if err != nil {
			return access.Principal{}, err
		}
		if restriction != nil && (p.Restriction == nil || p.Restriction.Reads) {
			p.Restriction = restriction
		}
	}
	return p, nil
}

// emailRequired is the value of SIGNUP_EMAIL that restricts accounts whose address is not verified.
const emailRequired = "required"

var unverified = access.Restriction{
	Err: apperr.New(apperr.Forbidden, "Verify the email address of this account first, with the link in the email. A password reset verifies it too.").
		WithCode(EmailNotVerified),
	Reads: true,
}

// InEpoch returns the user with the ID if the user is in the epoch. NotFound: the user does not exist, or is in another epoch.
func (s *Service) InEpoch(ctx context.Context, id store.ID, epoch int64) (User, error) {
	u, err := s.Get(ctx, id)
	if err == nil && u.Epoch != epoch {
		err = store.ErrNotFound
	}
	return u, err
}

// ByEmail returns the user with the email address, in any spelling, or NotFound.
func (s *Service) ByEmail(ctx context.Context, email string) (User, error) {
	normal, ok := address.Normalize(email)
	if !ok {
		return User{}, store.ErrNotFound
	}
	return s.users.First(ctx, store.Eq("email", normal))
}

// List returns a page of users.
func (s *Service) List(ctx context.Context, q listing.Query) (listing.Page[View], error) {
	q.Fields = withPicture(q.Fields)
	return listing.Run(ctx, s.users, q, s.View)
}

const maxAdmins = 100

// Admins returns the admins who are not suspended, at most 100.
func (s *Service) Admins(ctx context.Context) ([]User, error) {
	return s.users.List(ctx, store.Query{Filter: activeAdmins(), Limit: maxAdmins})
}

// activeAdmins selects the admins who are not suspended.
func activeAdmins() store.Filter {
	return store.And(store.Eq("role", access.RoleAdmin), store.Ne("suspended", true))
}

// Update changes the given fields of a user. NotFound: the user does not exist. Forbidden: a caller who is not an admin changes
// another user, a role or a suspension; or an admin suspends their own account. ReauthenticationRequired: an admin who has not
// signed in recently changes a role, an address or a suspension. ValidationFailed: a new name, picture or address is invalid, or
// a caller who is not an admin changes the address. Conflict: the address is in use. PreconditionFailed: expected rejects the
// user.
func (s *Service) Update(ctx context.Context, caller access.Principal, id store.ID, expected Expected, in store.Patch[UpdateInput]) (User, error) {
	var before, changed User
	change := func(ctx context.Context) (err error) {
		changed, err = s.change(ctx, id, func(u *User) error {
			before = *u
			if err := s.mayChange(before, caller, expected); err != nil {
				return err
			}
			return s.update(caller, u, in)
		})
		if err == nil && before.PictureFile != nil && changed.PictureFile == nil {
			err = s.files.Release(ctx, before.PictureFile.ID)
		}
		if err == nil && changed.Email != before.Email {
			s.Notify(ctx, before, addressChanged)
		}
		if err == nil && before.Role != access.RoleAdmin && changed.Role == access.RoleAdmin {
			s.notifyNewAdmin(ctx, before, changed)
		}
		return err
	}
	if !in.Has("email") && !in.Has("role") && !in.Has("picture") { // one write needs no Together
		err := change(ctx)
		return changed, err
	}
	err := s.db.Together(ctx, change)
	return changed, err
}

// update changes the given fields of u. It returns the errors of Update.
func (s *Service) update(caller access.Principal, u *User, in store.Patch[UpdateInput]) error {
	changesRole := in.Has("role") && in.Fields.Role != string(u.Role)
	changesSuspended := in.Has("suspended") && in.Fields.Suspended != u.Suspended
	email, _ := address.Normalize(in.Fields.Email)                                    // "" if the address is invalid
	changesEmail := in.Has("email") && email != u.Email && in.Fields.Email != u.Email // an earlier version stored other normal forms
	switch {
	case changesRole && !caller.IsAdmin():
		return apperr.New(apperr.Forbidden, "Only an admin may change a role.")
	case changesSuspended && (!caller.IsAdmin() || caller.Is(u.ID)):
		return apperr.New(apperr.Forbidden, "Only an admin may suspend an account. Admins cannot suspend their own account.")
	}
	if caller.IsAdmin() && (changesRole || changesSuspended || changesEmail) {
		if err := caller.CheckRecent(s.now()); err != nil {
			return err
		}
	}
	changed := profile{Name: in.Fields.Name, Picture: in.Fields.Picture}
	if changed.Name == u.Name {
		changed.Name = ""
	}
	if !s.setsPicture(*u, in) {
		changed.Picture = ""
	}
	invalid := rest.Validate(changed)
	if changesEmail {
		invalid = apperr.JoinInvalid(invalid, s.checkEmail(caller, in.Fields.Email))
	}
	if invalid != nil {
		return invalid
	}
	patch := in
	patch.Given = slices.DeleteFunc(slices.Clone(in.Given), func(name string) bool {
		return name == "email" || name == "picture" && !s.setsPicture(*u, in) // see User.setAddress and Service.picture
	})
	if s.setsPicture(*u, in) {
		u.PictureFile = nil
	}
	patch.Fields.Name = cmp.Or(in.Fields.Name, defaultName(u.Email))
	patch.Fields.Picture = cmp.Or(in.Fields.Picture, s.defaultPicture(u.ID))
	if err := patch.Apply(u); err != nil {
		return err
	}
	switch { // end the sessions, and invalidate the password resets that were sent to the old address
	case changesEmail:
		u.setAddress(email, false)
		u.endUndo(caller)
	case changesSuspended:
		u.Epoch++
	}
	if changesSuspended && u.Suspended {
		u.KeysFrom = u.Epoch
	}
	return nil
}

// ChangePassword sets a new password, and ends all sessions of the user except the caller's session. NotFound: the user does not
// exist. Forbidden: the caller is another user, even an admin. Unauthorized: since the caller was authenticated, the password has
// been changed or the sessions have ended. PreconditionFailed: expected rejects the user. Unavailable: see Create.
func (s *Service) ChangePassword(ctx context.Context, caller access.Principal, id store.ID, expected Expected, in PasswordInput) (User, error) {
	check := func(u User) error {
		switch {
		case !caller.Is(id):
			return apperr.New(apperr.Forbidden, "The password of another user cannot be changed.")
		case u.Epoch != caller.Epoch:
			return endedSince(caller)
		}
		return s.check(u, expected)
	}
	u, err := s.Get(ctx, id)
	if err == nil {
		err = check(u) // before the expensive hash
	}
	if err != nil {
		return User{}, err
	}
	hash, err := s.hasher.Hash(ctx, in.Password)
	if err != nil {
		return User{}, err
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		u, err = s.changeAndKeep(ctx, caller, func(u *User) error {
			if err := check(*u); err != nil {
				return err
			}
			u.Password = hash
			u.Epoch++
			return nil
		})
		if err == nil {
			s.Notify(ctx, u, passwordChanged)
		}
		return err
	})
	return u, err
}

// changeAndKeep calls change for the caller's account, and keeps the caller's session open. decide must increase User.Epoch.
func (s *Service) changeAndKeep(ctx context.Context, caller access.Principal, decide func(*User) error) (u User, err error) {
	if s.sessions == nil || caller.SessionID.IsZero() {
		return s.change(ctx, caller.UserID, decide)
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		if u, err = s.change(ctx, caller.UserID, decide); err != nil {
			return err
		}
		return s.sessions.Keep(ctx, caller, u.Epoch)
	})
	return u, err
}

// endedSince returns the error for a caller whose password has been changed, or whose sessions have ended, since the
// authentication.
func endedSince(caller access.Principal) error {
	if caller.SessionID.IsZero() {
		return wrongPassword()
	}
	return access.InvalidToken()
}

// ResetPassword sets the password of a user who received a reset email. Its other effects are those of Claim. NotFound: the user
// does not exist, or is in another epoch.
func (s *Service) ResetPassword(ctx context.Context, id store.ID, epoch int64, password string) (User, error) {
	if _, err := s.InEpoch(ctx, id, epoch); err != nil { // before the expensive hash
		return User{}, err
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	return s.claim(ctx, id, epoch, hash, passwordReset)
}

// Claim gives the account of u to the owner of the email address: it marks the address as verified, ends all sessions and
// pending password resets, and notifies the user. It also removes the password, and invalidates the linked identities, passkeys
// and API keys, because somebody else may have added them. An identity with the same verified address is linked again at its
// next sign-in. Call Claim when the owner of an unverified address signs in. NotFound: since u was read, the user was deleted
// or began another epoch.
func (s *Service) Claim(ctx context.Context, u User) (User, error) {
	return s.claim(ctx, u.ID, u.Epoch, "", addressClaimed)
}

// claim is like Claim. It stores the password hash, which can be "", and notifies the user of the event. NotFound: the user does
// not exist, or is in another epoch.
func (s *Service) claim(ctx context.Context, id store.ID, epoch int64, hash, event string) (u User, err error) {
	current := store.And(store.Eq("id", id), store.Eq("epoch", epoch))
	err = s.db.Together(ctx, func(ctx context.Context) error {
		u, err = s.users.Update(ctx, current, store.Set("password", hash), store.Inc("epoch", 1), store.Set("emailVerified", true),
			store.Set("linksFrom", epoch+1))
		if err == nil {
			s.Notify(ctx, u, event)
		}
		return err
	})
	return u, err
}

// EndSessions ends all sessions of a user, and invalidates the links in emails to the user. If the caller is the user, links that
// undo a change of the address remain valid: an attacker who has changed the address must not be able to invalidate these links.
// NotFound: the user does not exist. Forbidden: the caller is neither the user nor an admin.
func (s *Service) EndSessions(ctx context.Context, caller access.Principal, id store.ID) (User, error) {
	return s.change(ctx, id, func(u *User) error {
		if err := caller.MayChange(u.ID); err != nil {
			return err
		}
		u.Epoch++
		u.endUndo(caller)
		if !caller.Is(u.ID) {
			u.Sessions++
		}
		return nil
	})
}

// change reads the user with the ID, calls decide to change the user, and stores and returns the result. If another request
// changes the user in the meantime, change calls decide again.
func (s *Service) change(ctx context.Context, id store.ID, decide func(*User) error) (User, error) {
	return s.users.Modify(ctx, id, decide)
}
