package social

import (
	"cmp"
	"context"
	"errors"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service has the business rules of sign-in with an identity provider.
type Service struct {
	db         store.DB
	users      *user.Module
	sessions   Sessions
	limiter    *ratelimit.Limiter
	identities *store.Collection[Identity]
	tokens     *store.Collection[usedToken]
	providers  map[string]provider // by name
	timeout    time.Duration
	now        func() time.Time
}

const (
	maxRounds      = 10                    // maximum number of attempts of a sign-in that conflicts with concurrent requests
	firstPause     = 10 * time.Millisecond // pause after the first attempt; doubles with each attempt
	linkTimeout    = 10 * time.Second      // time after sign-up in which a request may still link the user; see isBeingLinked
	maxSubject     = 255                   // maximum bytes of Profile.Subject (OpenID Connect Core section 2, sub)
	restoreTimeout = 5 * time.Second       // time limit for the writes of Unlink and keepOne
)

// Rate limits per network. rejections counts the tokens and codes that a provider rejects. calls counts all tokens and codes,
// because each causes requests to the provider.
var (
	rejections = ratelimit.Rule{Name: "provider", Max: 100, Window: 15 * time.Minute}
	calls      = ratelimit.Rule{Name: "provider-calls", Max: 300, Window: 15 * time.Minute}
)

type signIn struct {
	caller   access.Principal
	client   access.Client
	provider string
	profile  Profile
	limits   ratelimit.States
	created  bool // this sign-in has created the user
}

// SignIn opens a session for the user to whom the provider's account is linked. An account without a link is linked first. If the
// caller is a user, SignIn links the account to the caller. Otherwise, SignIn links it to the user with the same email address,
// or to a new user.
//
// NotFound: the provider is not configured. ValidationFailed: the proof does not have exactly one token or code, the provider does
// not support the token or code, or the code has no redirect_uri. Unauthorized: the provider rejects the proof, the proof is an ID
// token that was used before, or the caller's session has ended. Suspended: the user is suspended. Conflict: the account cannot be
// linked; the message explains what to do. TooManyRequests: the client's network has sent too many proofs, or has made too many
// sign-ups. Unavailable: the provider failed, or too many concurrent requests use the account. SignIn also returns the errors of
// auth.Service.Open. The states of the rate limits are returned even on error.
func (s *Service) SignIn(ctx context.Context, caller access.Principal, client access.Client, name string, proof Proof) (user.SignedIn, ratelimit.States, error) {
	p, ok := s.providers[name]
	if !ok {
		return user.SignedIn{}, nil, apperr.New(apperr.NotFound, "This provider is not configured.")
	}
	if err := proof.check(); err != nil {
		return user.SignedIn{}, nil, err
	}
	in := &signIn{caller: caller, client: client, provider: name}
	if err := s.verify(ctx, in, p, proof); err != nil {
		return user.SignedIn{}, in.limits, err
	}
	var u user.User
	err := retry(ctx, func() (err error) {
		u, err = s.resolve(ctx, in)
		return err
	})
	if err != nil {
		s.release(ctx, in.profile.token) // for example, the message of a Conflict asks for the same request with a user token
		return user.SignedIn{}, in.limits, err
	}
	result, err := s.sessions.Open(ctx, u, client, access.Federated)
	return result, in.limits, err
}

// retry calls attempt, and repeats the call while attempt returns errConcurrent. It returns the result of the last call.
// Unavailable: maxRounds calls have returned errConcurrent, or ctx has ended.
func retry(ctx context.Context, attempt func() error) error {
	for round := range maxRounds {
		if round > 0 {
			if err := pause(ctx, firstPause<<(round-1)); err != nil {
				return unavailable(err)
			}
		}
		if err := attempt(); !errors.Is(err, errConcurrent) {
			return err
		}
	}
	return apperr.New(apperr.Unavailable, "Too many concurrent requests use this account. Try again in a few seconds.")
}

// verify applies the rate limits, and sets in.profile to the profile that the provider returns for the proof.
func (s *Service) verify(ctx context.Context, in *signIn, p provider, proof Proof) (err error) {
	network := ratelimit.Network(in.client.Address)
	if !in.client.Trusted {
		in.limits, err = s.limiter.Check(ctx, rejections.Of(network))
		if err != nil {
			return err
		}
		taken, err := s.limiter.Take(ctx, calls.Of(network))
		in.limits = in.limits.With(taken)
		if err != nil {
			return err
		}
	}
	callCtx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	in.profile, err = p.profile(callCtx, proof)
	if err == nil {
		err = s.use(ctx, in.profile.token)
	}
	if apperr.Is(err, apperr.Unauthorized) && !in.client.Trusted {
		taken, limitErr := s.limiter.Take(context.WithoutCancel(ctx), rejections.Of(network)) // even if the client disconnects
		in.limits = in.limits.With(taken)
		if limitErr != nil {
			return limitErr
		}
	}
	in.profile.Name = cmp.Or(in.profile.Name, proof.Name)
	if err == nil && (in.profile.Subject == "" || len(in.profile.Subject) > maxSubject) {
		err = unavailable(errors.New("the provider's ID of the account is missing or too long"))
	}
	return err
}

// errConcurrent means that an attempt conflicted with a concurrent request. Another attempt can succeed.
var errConcurrent = errors.New("social: concurrent change")

// resolve finds or creates the user to sign in, and links the account to the user if necessary. It returns the errors of SignIn,
// and errConcurrent.
func (s *Service) resolve(ctx context.Context, in *signIn) (user.User, error) {
	_, u, err := s.find(ctx, account(in.provider, in.profile.Subject))
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return user.User{}, err
	}
	linked, owner := err == nil, u
	switch {
	case in.caller.IsUser():
		u, err = s.current(ctx, in.caller)
	case !linked && s.providers[in.provider].unverified:
		return s.signUpUnverified(ctx, in)
	case !linked:
		u, err = s.holder(ctx, in)
	}
	switch {
	case err != nil:
		return user.User{}, err
	case linked && owner.ID != u.ID:
		return user.User{}, alreadyLinked("This account of the provider is linked to another user. Sign in as that user and unlink it first.")
	case linked:
		return u, nil
	}
	if err := u.MaySignIn(); err != nil { // before the account is linked
		return user.User{}, err
	}
	err = s.db.Together(ctx, func(ctx context.Context) error {
		err := s.attach(ctx, u, in.provider, in.profile.Subject)
		if err == nil && !in.created {
			s.users.Notify(ctx, u, "An account at "+s.providers[in.provider].name+" was linked to your account. It can be used to sign in.")
		}
		return err
	})
	return u, err
}

// find returns the identity that f selects, and its user. If the identity is invalid (see Identity.Epoch), find deletes the
// identity. NotFound: there is no valid identity.
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

// current returns the user who is the caller. Unauthorized: the caller's sessions have ended since the request began.
func (s *Service) current(ctx context.Context, caller access.Principal) (user.User, error) {
	u, err := s.users.InEpoch(ctx, caller.UserID, caller.Epoch)
	return u, apperr.Replace(err, apperr.NotFound, access.InvalidToken())
}

// holder returns the user with the email address of an account that is not linked, and creates the user if necessary. The
// provider must have verified the address. An existing user must have verified the address too: otherwise, the user may be
// somebody who signed up with another person's address. errConcurrent: a concurrent request has just created the user.
func (s *Service) holder(ctx context.Context, in *signIn) (u user.User, err error) {
	if err := in.profile.checkEmail(); err != nil {
		return u, err
	}
	if !in.profile.EmailVerified {
		return u, cannotLink("The provider has not verified the email address of this account. Verify the address there,")
	}
	u, err = s.users.ByEmail(ctx, in.profile.Email)
	switch {
	case apperr.Is(err, apperr.NotFound):
		var taken ratelimit.States
		u, taken, err = s.users.CreateVerified(ctx, in.client, in.profile.user())
		in.limits = in.limits.With(taken)
		in.created = in.created || err == nil
		return u, apperr.Replace(err, apperr.Conflict, errConcurrent)
	case err == nil && !u.EmailVerified:
		return u, cannotLink("The user with this email address has not verified the address. Reset that user's password, which verifies the address, and try again,")
	}
	return u, err
}

// signUpUnverified creates a user with the address of an account that is not linked, and links the account to the user. It never
// links the account to an existing user, because the provider does not verify addresses. The user and the link are stored
// together: a user without the link could not sign in with the account.
func (s *Service) signUpUnverified(ctx context.Context, in *signIn) (user.User, error) {
	if err := in.profile.checkEmail(); err != nil {
		return user.User{}, err
	}
	_, err := s.users.ByEmail(ctx, in.profile.Email)
	if apperr.Is(err, apperr.NotFound) {
		u, taken, err := s.users.CreateUnverified(ctx, in.client, in.profile.user(), func(ctx context.Context, u user.User) error {
			return s.insert(ctx, u, in.provider, in.profile.Subject)
		})
		in.limits = in.limits.With(taken)
		if !apperr.Is(err, apperr.Conflict) {
			return u, err
		}
	} else if err != nil {
		return user.User{}, err
	}
	isBeingLinked := s.isBeingLinked(ctx, in.profile.Email) // before find: if a link is stored in between, find returns it
	if _, owner, err := s.find(ctx, account(in.provider, in.profile.Subject)); !apperr.Is(err, apperr.NotFound) {
		return owner, err // a concurrent request has created the user
	}
	if isBeingLinked {
		return user.User{}, errConcurrent
	}
	return user.User{}, cannotLink("The email address of this account is in use, and the provider does not verify addresses. Set another address at the provider,")
}

// isBeingLinked reports whether a concurrent signUpUnverified may have created the user with the address, but not linked an
// account to the user yet. On databases without transactions, these are two steps.
func (s *Service) isBeingLinked(ctx context.Context, address string) bool {
	u, err := s.users.ByEmail(ctx, address)
	if err != nil || u.HasPassword() || u.EmailVerified || s.now().Sub(u.CreatedAt.Time) > linkTimeout {
		return false
	}
	links, err := s.identities.Count(ctx, identitiesOf(u))
	return err == nil && links == 0
}

// pause waits for d, or returns the error of ctx if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cannotLink returns the Conflict for an account that cannot be linked by its email address. reason must end with a remedy and
// a comma, because the message continues with "or" and another remedy.
func cannotLink(reason string) error {
	return apperr.New(apperr.Conflict, "%s or sign in another way and repeat this request with the user token in the Authorization header, which links the account.", reason).
		WithFields(apperr.Field{In: "body", Param: "email", Code: apperr.FieldConflict, Message: "Does not identify a user."})
}

func alreadyLinked(message string) error {
	return apperr.New(apperr.Conflict, "%s", message).
		WithFields(apperr.Field{In: "path", Param: "provider", Code: apperr.FieldConflict, Message: "Is already linked."})
}

// attach links an account to a user. Conflict: another account of the provider is linked to the user. errConcurrent: a concurrent
// request has just linked the account or the user.
func (s *Service) attach(ctx context.Context, u user.User, name, subject string) error {
	other, _, err := s.find(ctx, link(u.ID, name))
	switch {
	case err == nil && other.Subject == subject:
		return errConcurrent
	case err == nil:
		return alreadyLinked("Another account of this provider is linked to this user. Unlink it first.")
	case !apperr.Is(err, apperr.NotFound):
		return err
	}
	return apperr.Replace(s.insert(ctx, u, name, subject), apperr.Conflict, errConcurrent)
}

// insert stores the identity that links an account to a user. Conflict: the account is already linked, or the user is already
// linked to an account of the provider.
func (s *Service) insert(ctx context.Context, u user.User, name, subject string) error {
	return s.identities.Insert(ctx, Identity{
		Meta: store.NewMeta(store.NewID(), store.At(s.now())), Provider: name, Subject: subject, UserID: u.ID, Epoch: u.Epoch,
	})
}

// DeleteOf implements user.Dependent.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.identities.Delete(ctx, store.Eq("userId", userID))
	return err
}
