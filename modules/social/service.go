package social

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/go-playground/validator/v10"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service holds the rules of signing in with a provider.
type Service struct {
	users      *user.Service
	sessions   Opener
	limits     *ratelimit.Limiter
	identities *store.Collection[Identity]
	providers  map[string]provider // those that are configured, by name
	patience   time.Duration
	rules      *validator.Validate
	now        func() time.Time
	newID      func() store.ID
}

const (
	maxRounds  = 10              // of a sign-in that others overtake
	maxSubject = 255             // bytes (OpenID Connect Core section 2, sub)
	maxEmail   = 254             // bytes, as package user has it
	maxName    = 100             // characters, likewise
	restoring  = 5 * time.Second // for taking out what may have to be put back
)

// The limits of a client address: tokens and codes that a provider did not accept, and all of them, each of which makes
// us call.
var (
	refusals = ratelimit.Rule{Name: "provider", Max: 100, Window: 15 * time.Minute}
	calls    = ratelimit.Rule{Name: "provider-calls", Max: 300, Window: 15 * time.Minute}
)

// SignIn opens a session for the user to whom the account at the provider is linked. An account that is not linked yet is
// linked: to the caller, if she is a user; else to the user with its e-mail, who is made if there is none. NotFound: this
// service has no client at such a provider. ValidationFailed: the proof is not of one kind. Unauthorized: the provider
// does not accept it, or the caller's session has ended. Conflict: the account cannot be linked; the message says how to
// go on. TooManyRequests: too many refused proofs or sign-ups of the client's address. Unavailable: the provider does not
// answer as it should.
func (s *Service) SignIn(ctx context.Context, caller access.Principal, client access.Client, name string, proof Proof) (user.SignedIn, error) {
	p, ok := s.providers[name]
	if !ok {
		return user.SignedIn{}, apperr.New(apperr.NotFound, "There is no such provider here.")
	}
	if err := proof.check(); err != nil {
		return user.SignedIn{}, err
	}
	profile, err := s.prove(ctx, client, p, proof)
	if err != nil {
		return user.SignedIn{}, err
	}
	for range maxRounds {
		u, settled, err := s.settle(ctx, caller, client, name, profile)
		if err != nil {
			return user.SignedIn{}, err
		}
		if settled {
			return s.sessions.Open(ctx, u, client)
		}
	}
	return user.SignedIn{}, apperr.New(apperr.Unavailable, "This account is used by too many requests at once. Try again in a few seconds.")
}

// prove asks the provider, unless the client's address has used its limits up.
func (s *Service) prove(ctx context.Context, client access.Client, p provider, proof Proof) (Profile, error) {
	network := ratelimit.Network(client.Address)
	ofAddress := refusals.Of(network)
	if !client.Trusted {
		if err := s.limits.Check(ctx, ofAddress); err != nil {
			return Profile{}, err
		}
		if err := s.limits.Take(ctx, calls.Of(network)); err != nil {
			return Profile{}, err
		}
	}
	calling, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	profile, err := p.profile(calling, proof)
	if apperr.Is(err, apperr.Unauthorized) && !client.Trusted {
		err = cmp.Or(s.limits.Take(context.WithoutCancel(ctx), ofAddress), err) // also of a caller who hangs up
	}
	if err == nil && (profile.Subject == "" || len(profile.Subject) > maxSubject) {
		err = away(errors.New("an account without id, or with one that is too long"))
	}
	return profile, err
}

// settle is one attempt to find or make the user of an account. It is not settled when another request has done something
// in between that makes another attempt worth while.
func (s *Service) settle(ctx context.Context, caller access.Principal, client access.Client, name string, p Profile) (u user.User, settled bool, err error) {
	_, owner, err := s.find(ctx, account(name, p.Subject))
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return user.User{}, false, err
	}
	linked := err == nil
	switch {
	case caller.IsUser():
		u, err = s.current(ctx, caller)
		settled = true
	case linked:
		return owner, true, nil
	default:
		u, settled, err = s.holder(ctx, client, p)
	}
	switch {
	case err != nil || !settled:
		return user.User{}, false, err
	case linked && owner.ID != u.ID:
		return user.User{}, false, takenLink("This account of the provider is linked to another user. Sign in as that user and unlink it first.")
	case linked:
		return u, true, nil
	}
	settled, err = s.attach(ctx, u, name, p.Subject)
	return u, settled, err
}

// find returns the identity that f selects, and its user; NotFound, also if it is good for nothing. Then it is deleted.
func (s *Service) find(ctx context.Context, f store.Filter) (Identity, user.User, error) {
	i, err := s.identities.First(ctx, f)
	if err != nil {
		return Identity{}, user.User{}, err
	}
	u, err := s.users.Get(ctx, i.UserID)
	if err == nil && i.Epoch >= u.LinksFrom {
		return i, u, nil
	}
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return Identity{}, user.User{}, err
	}
	if _, err := s.identities.Delete(ctx, store.Eq("id", i.ID)); err != nil {
		return Identity{}, user.User{}, err
	}
	return Identity{}, user.User{}, store.ErrNotFound
}

// current returns the caller, or Unauthorized if her sessions have ended while we waited for a provider: what she asked
// for in one of them must not bring her into the next epoch.
func (s *Service) current(ctx context.Context, caller access.Principal) (user.User, error) {
	u, err := s.users.Get(ctx, caller.UserID)
	if apperr.Is(err, apperr.NotFound) || err == nil && u.Epoch != caller.Epoch {
		err = access.BadToken()
	}
	return u, err
}

// holder returns the user with the e-mail of an account that is not linked yet, and makes her if there is none. A verified
// address of the account shows only that its owner is here; unless the user's is verified, too, the user may be somebody
// else's, who signed up with an address that is not hers. It is not settled when another request has just made her.
func (s *Service) holder(ctx context.Context, client access.Client, p Profile) (u user.User, settled bool, err error) {
	email := user.NormalEmail(p.Email)
	switch {
	case email == "":
		return u, false, cannotLink("The provider gives no e-mail address of this account. Allow this app to see it at the provider,")
	case !p.EmailVerified:
		return u, false, cannotLink("The provider has not verified the e-mail address of this account. Have it verified there,")
	case len(email) > maxEmail || s.rules.Var(email, "email,excludes=:") != nil:
		return u, false, cannotLink("The e-mail address of this account cannot be used here. Set another one at the provider,")
	}
	u, err = s.users.ByEmail(ctx, email)
	switch {
	case apperr.Is(err, apperr.NotFound):
		u, err = s.users.CreateVerified(ctx, client, user.Profile{Email: email, Name: fitName(p.Name), Picture: s.fitPicture(p.Picture)})
		if apperr.Is(err, apperr.Conflict) {
			return u, false, nil
		}
		return u, err == nil, err
	case err == nil && !u.EmailVerified:
		return u, false, cannotLink("There is a user with this e-mail address already, who has not shown that it is hers. Reset that user's password, which shows it, and try again,")
	}
	return u, err == nil, err
}

// cannotLink is the Conflict of an account that cannot be linked by its e-mail. The reason, with what to do about it, ends
// in a comma: the other way is always the same.
func cannotLink(reason string) error {
	return apperr.New(apperr.Conflict, "%s or sign in in another way and make this call again with the user token in the header, which links the account.", reason).
		WithFields(apperr.Field{In: "body", Param: "email", Code: apperr.FieldConflict, Message: "Does not tell which user this is."})
}

// takenLink is the Conflict of an account that cannot be linked because there is another link.
func takenLink(message string) error {
	return apperr.New(apperr.Conflict, "%s", message).
		WithFields(apperr.Field{In: "path", Param: "provider", Code: apperr.FieldConflict, Message: "Is linked already."})
}

// attach links an account to a user. Conflict: she has linked another account of the provider.
func (s *Service) attach(ctx context.Context, u user.User, name, subject string) (settled bool, err error) {
	other, _, err := s.find(ctx, link(u.ID, name))
	switch {
	case err == nil && other.Subject == subject:
		return false, nil // another request was faster
	case err == nil:
		return false, takenLink("Another account of this provider is linked to this user. Unlink it first.")
	case !apperr.Is(err, apperr.NotFound):
		return false, err
	}
	err = s.identities.Insert(ctx, Identity{
		Meta: store.NewMeta(s.newID(), store.At(s.now())), Provider: name, Subject: subject, UserID: u.ID, Epoch: u.Epoch,
	})
	if apperr.Is(err, apperr.Conflict) {
		return false, nil
	}
	return err == nil, err
}

// fitName makes a name of a provider's fit for a user; it may be empty.
func fitName(name string) string {
	printable := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, name)
	runes := []rune(strings.TrimSpace(printable))
	return strings.TrimSpace(string(runes[:min(len(runes), maxName)]))
}

// fitPicture is the address if a user may have such a one; else it is empty.
func (s *Service) fitPicture(address string) string {
	if s.rules.Var(address, "max=2048,http_url") != nil {
		return ""
	}
	return address
}

// List returns the caller's linked accounts. Unauthorized: her session has ended.
func (s *Service) List(ctx context.Context, caller access.Principal) (IdentityList, error) {
	u, err := s.current(ctx, caller)
	if err != nil {
		return IdentityList{}, err
	}
	found, err := s.identities.List(ctx, store.Query{Filter: good(u), Sort: []store.Order{{Field: "provider"}}})
	rows := make([]IdentityView, len(found))
	for n, i := range found {
		rows[n] = i.View()
	}
	return IdentityList{Rows: rows, Count: len(rows)}, err
}

// good selects the identities of a user that she can sign in with.
func good(u user.User) store.Filter {
	return store.And(store.Eq("userId", u.ID), store.Gte("epoch", u.LinksFrom))
}

// Unlink removes the caller's link to a provider. NotFound: there is none. Conflict: it is her last way to sign in.
// Unauthorized: her session has ended.
func (s *Service) Unlink(ctx context.Context, caller access.Principal, name string) error {
	u, err := s.current(ctx, caller)
	if err != nil {
		return err
	}
	i, err := s.identities.First(ctx, store.And(good(u), store.Eq("provider", name)))
	if apperr.Is(err, apperr.NotFound) {
		return notLinked()
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoring) // a caller who hangs up must not leave it half done
	defer cancel()
	deleted, err := s.identities.Delete(ctx, store.Eq("id", i.ID))
	switch {
	case err == nil && deleted == 0:
		return notLinked()
	case u.HasPassword():
		return err
	}
	return s.keepOne(ctx, u, i, err)
}

// keepOne puts an identity of a user without a password back, unless she has another: of two that are taken out at the
// same moment, whichever request looks last puts its own back. It does so also where the first error leaves open whether
// it was taken out.
func (s *Service) keepOne(ctx context.Context, u user.User, i Identity, err error) error {
	if err == nil {
		var others int64
		if others, err = s.identities.Count(ctx, good(u)); err == nil && others > 0 {
			return nil
		}
	}
	if back := s.identities.Insert(ctx, i); back != nil && !apperr.Is(back, apperr.Conflict) { // a conflict: it is there
		return back
	}
	return cmp.Or(err, error(apperr.New(apperr.Conflict, "This is the last way to sign in. Set a password by a reset, or link another account, first.")))
}

func notLinked() error {
	return apperr.New(apperr.NotFound, "No account of this provider is linked.")
}
