package user

import (
	"context"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

// Rate limits of wrong passwords. guessesOfSite and guessesAtAccount do not apply to the networks from which the user has
// signed in, so that an attacker cannot lock the user out.
var (
	guessesOfClient  = ratelimit.Rule{Name: "sign-in", Max: 10, Window: 15 * time.Minute}          // per account and network
	guessesOfSite    = ratelimit.Rule{Name: "sign-in-site", Max: 30, Window: 15 * time.Minute}     // per account and site (IPv6 /48): a site cannot use up guessesAtAccount
	guessesAtAccount = ratelimit.Rule{Name: "sign-in-account", Max: 100, Window: 15 * time.Minute} // per account
	guessesOfNetwork = ratelimit.Rule{Name: "sign-in-address", Max: 100, Window: 15 * time.Minute} // per network
)

// attempts returns the rate-limit keys that count wrong passwords for an account. email is in normal form. The keys in own count
// passwords from the client's network; own[0] counts only passwords for the account. The keys in shared also count passwords
// from other networks.
func attempts(client access.Client, email string) (own, shared []ratelimit.Key) {
	own = []ratelimit.Key{guessesOfClient.Of(email, ratelimit.Network(client.Address))}
	if !client.Trusted {
		own = append(own, guessesOfNetwork.Of(ratelimit.Network(client.Address)))
	}
	shared = []ratelimit.Key{guessesAtAccount.Of(email)}
	if site := ratelimit.Site(client.Address); site != ratelimit.Network(client.Address) { // IPv6
		shared = append(shared, guessesOfSite.Of(email, site))
	}
	return own, shared
}

// Authenticate returns the user with the email address and the password. It takes the same time for known and unknown
// addresses. Unauthorized: the address or the password is wrong. Suspended: both are right, but the user is suspended.
// TooManyRequests: too many passwords for the account or from the client were wrong. Unavailable: too many sign-ins are in
// progress. The states of the rate limits are returned even on error. The states of limits that other clients share are
// returned only to a trusted client.
func (s *Service) Authenticate(ctx context.Context, client access.Client, email, pass string) (User, ratelimit.States, error) {
	normal, _ := address.Normalize(email) // "" if the address has no normal form; no user has the address ""
	own, shared := attempts(client, normal)
	var u User
	right, limits, others, err := s.guesses.Try(ctx, ratelimit.Guess{
		Own: own, Shared: shared,
		Exempt: func(ctx context.Context) (bool, error) {
			owner, err := s.ByEmail(ctx, email)
			if err != nil && !apperr.Is(err, apperr.NotFound) {
				return false, err
			}
			return s.KnowsNetwork(ctx, owner.ID, client.Address) // also for an unknown user, so that the call takes the same time
		},
		Check: func() (right bool, err error) {
			u, right, err = s.verify(ctx, email, pass)
			return right, err
		},
	})
	if client.Trusted {
		limits = limits.With(others)
	}
	switch {
	case err != nil:
		return User{}, limits, err
	case !right:
		return User{}, limits, wrongPassword()
	}
	if err := u.MaySignIn(); err != nil {
		return User{}, limits, err
	}
	return u, limits, nil
}

// RecordNetwork records that the user signed in from the network of the IP address, unless the user has been deleted in the
// meantime. Call RecordNetwork after the last factor: an attacker who has only the password must not be able to add a network.
func (s *Service) RecordNetwork(ctx context.Context, id store.ID, address string) error {
	added, err := s.networks.add(ctx, id, address)
	if err != nil || !added {
		return err
	}
	ctx = context.WithoutCancel(ctx) // even if the client disconnects
	_, err = s.users.Get(ctx, id)
	if apperr.Is(err, apperr.NotFound) {
		return s.networks.DeleteOf(ctx, id)
	}
	return err
}

// KnowsNetwork reports whether RecordNetwork recorded the network of the IP address for the user in the last 30 days.
func (s *Service) KnowsNetwork(ctx context.Context, id store.ID, address string) (bool, error) {
	return s.networks.has(ctx, id, address)
}

// ForgetNetworks deletes the networks that RecordNetwork recorded for the user.
func (s *Service) ForgetNetworks(ctx context.Context, id store.ID) error {
	return s.networks.DeleteOf(ctx, id)
}

// ClearAttempts resets the counts of wrong passwords for an account: the counts that all networks share, and the count of the
// client's network. Call ClearAttempts after the user has proved that the email address is theirs.
func (s *Service) ClearAttempts(ctx context.Context, client access.Client, u User) error {
	own, shared := attempts(client, u.Email)
	_, err := s.limiter.Clear(ctx, append(shared, own[0])...)
	return err
}

// verify returns the user with the address, and whether the password is right. For an unknown address, u is the zero User.
func (s *Service) verify(ctx context.Context, email, pass string) (u User, right bool, err error) {
	u, err = s.ByEmail(ctx, email)
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return u, false, err
	}
	right, outdated, err := s.hasher.Verify(ctx, pass, u.Password) // takes the same time for the empty hash of an unknown user
	if right && outdated {
		s.rehash(ctx, u, pass)
	}
	return u, right, err
}

// rehash replaces an outdated hash. It ignores errors, because the next sign-in tries again.
func (s *Service) rehash(ctx context.Context, u User, pass string) {
	if hash, err := s.hasher.Hash(ctx, pass); err == nil {
		_, _ = s.users.Update(ctx, store.And(store.Eq("id", u.ID), store.Eq("password", u.Password)), store.Set("password", hash))
	}
}

func wrongPassword() error { return apperr.New(apperr.Unauthorized, "Email or password is wrong.") }

// VerifyPassword implements access.PasswordVerifier.
func (s *Service) VerifyPassword(ctx context.Context, client access.Client, email, pass string) (access.Principal, ratelimit.States, error) {
	u, limits, err := s.Authenticate(ctx, client, email, pass)
	if err != nil {
		return access.Principal{}, limits, err
	}
	p, err := s.Principal(ctx, u, store.ID{})
	return p, limits, err
}

// network is a network from which a user signed in. Its ID is a keyed hash of the user and the network, so that the IP address
// cannot be recovered from the database without the key.
type network struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

const (
	maxNetworks    = 20                  // per user; a sign-in from a new network deletes the least recently used network
	networkTTL     = 30 * 24 * time.Hour // since the last sign-in
	networkRefresh = 24 * time.Hour      // minimum time between two writes for a known network
)

// networks are the networks from which users signed in.
type networks struct {
	known  *store.Collection[network]
	digest func(parts ...string) []byte
	now    func() time.Time
}

func networkSpec() store.Spec {
	return store.Spec{Name: "networks", Indexes: []store.Index{{Fields: []string{"userId", "expiresAt"}}, {Fields: []string{"expiresAt"}}}}
}

func (n *networks) id(user store.ID, address string) store.ID {
	return store.ID(n.digest("network", user.Hex(), ratelimit.Network(address))[:len(store.ID{})])
}

// has reports whether the user signed in from the network of the address within networkTTL.
func (n *networks) has(ctx context.Context, user store.ID, address string) (bool, error) {
	return n.known.Exists(ctx, store.And(store.Eq("id", n.id(user, address)), store.Gt("expiresAt", store.At(n.now()))))
}

// add records a sign-in of the user from the network of the address. added reports whether the network is new.
func (n *networks) add(ctx context.Context, user store.ID, address string) (added bool, err error) {
	now, id := n.now(), n.id(user, address)
	expires := store.At(now.Add(networkTTL))
	found, err := n.known.Get(ctx, id)
	switch {
	case err == nil && expires.Sub(found.ExpiresAt.Time) < networkRefresh:
		return false, nil
	case err == nil:
		_, err = n.known.Update(ctx, store.Eq("id", id), store.Set("expiresAt", expires))
		return false, err
	case !apperr.Is(err, apperr.NotFound):
		return false, err
	}
	err = n.known.Insert(ctx, network{Meta: store.NewMeta(id, store.At(now)), UserID: user, ExpiresAt: expires})
	if err != nil {
		return false, apperr.Replace(err, apperr.Conflict, nil) // a concurrent sign-in has added the network
	}
	others := store.And(store.Eq("userId", user), store.Ne("id", id))
	return true, n.known.DeleteList(ctx, store.Query{Filter: others, Sort: []store.Order{{Field: "expiresAt", Desc: true}}, Skip: maxNetworks - 1})
}

// DeleteOf implements Dependent.
func (n *networks) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := n.known.Delete(ctx, store.Eq("userId", userID))
	return err
}

// sweep deletes the networks from which a user has not signed in for networkTTL.
func (s *Service) sweep(ctx context.Context) error {
	_, err := s.networks.known.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}
