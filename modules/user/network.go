package user

import (
	"context"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
)

// network is a network from which a user signed in. Its ID is a keyed hash of the user and the network: an address cannot be
// recovered from the database without the key.
type network struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

const (
	maxNetworks    = 20                  // of a user; a sign-in from another replaces the one not used for longest
	networkTTL     = 30 * 24 * time.Hour // since the last sign-in
	networkRefresh = 24 * time.Hour      // at most one write per network in this time
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

// add records a sign-in of the user from the network of the address. It reports whether the network is new.
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
		return false, apperr.Replace(err, apperr.Conflict, nil) // by a concurrent sign-in
	}
	others := store.And(store.Eq("userId", user), store.Ne("id", id))
	return true, n.known.DeleteList(ctx, store.Query{Filter: others, Sort: []store.Order{{Field: "expiresAt", Desc: true}}, Skip: maxNetworks - 1})
}

// DeleteOf implements Dependent.
func (n *networks) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := n.known.Delete(ctx, store.Eq("userId", userID))
	return err
}

// Sweep deletes the networks that have expired.
func (n *networks) Sweep(ctx context.Context) error {
	_, err := n.known.Delete(ctx, store.Lte("expiresAt", store.At(n.now())))
	return err
}
