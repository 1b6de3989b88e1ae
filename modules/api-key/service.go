package apikey

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"slices"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service has the business rules of API keys.
type Service struct {
	db        store.DB
	users     *user.Module
	keys      *store.Collection[Key]
	resources func() []string // the names of the resources
	now       func() time.Time
	log       *slog.Logger
}

// Create creates a key for the caller, and returns it with the secret. ValidationFailed: a scope or the expiry is invalid.
// Forbidden: the key has the scope "admin", but the caller is not an admin. Conflict: the caller already has maxKeys keys.
// Unauthorized: the account has been deleted since the authentication.
func (s *Service) Create(ctx context.Context, caller access.Principal, in CreateInput) (Created, error) {
	expires, err := s.check(in)
	if err != nil {
		return Created{}, err
	}
	slices.Sort(in.Scopes)
	in.Scopes = slices.Compact(in.Scopes)
	if slices.Contains(in.Scopes, access.ScopeAdmin) && !caller.IsAdmin() {
		return Created{}, apperr.New(apperr.Forbidden, "Only an admin may create a key with the scope admin.")
	}
	id := store.NewID()
	secret := newKey(id)
	k := Key{
		Meta: store.NewMeta(id, store.At(s.now())), UserID: caller.UserID, Epoch: caller.Epoch, Name: in.Name, Scopes: in.Scopes,
		Hash: digest(secret), ExpiresAt: expires,
	}
	if err := s.keys.Insert(ctx, k); err != nil {
		return Created{}, err
	}
	u, err := s.settle(context.WithoutCancel(ctx), k) // even if the client disconnects
	if err != nil {
		return Created{}, err
	}
	s.users.Notify(ctx, u, "An API key was created for your account.")
	return Created{k.View(), secret}, nil
}

// check returns the expiry time of a new key. ValidationFailed: a scope or the expiry is invalid.
func (s *Service) check(in CreateInput) (store.Time, error) {
	expires, err := in.expiry(s.now())
	return expires, apperr.JoinInvalid(checkScopes(in.Scopes, s.resources()), err)
}

// settle checks a key after its insertion, and returns the user. If the user was deleted or has too many keys, settle deletes the
// key and returns the error. The check follows the insertion, so that the last of several concurrent requests counts all keys.
func (s *Service) settle(ctx context.Context, k Key) (user.User, error) {
	u, err := s.users.Get(ctx, k.UserID)
	err = apperr.Replace(err, apperr.NotFound, apperr.New(apperr.Unauthorized, "The account was deleted."))
	if err == nil {
		var count int64
		count, err = s.keys.Count(ctx, s.valid(u))
		if err == nil && count > maxKeys {
			err = apperr.New(apperr.Conflict, "You have %d API keys. Delete one first.", maxKeys)
		}
	}
	if err != nil {
		if _, deleteErr := s.keys.Delete(ctx, store.Eq("id", k.ID)); deleteErr != nil {
			return u, deleteErr
		}
	}
	return u, err
}

// valid returns the filter that selects the valid keys of a user.
func (s *Service) valid(u user.User) store.Filter {
	return store.And(store.Eq("userId", u.ID), store.Gte("epoch", u.FirstKeyEpoch()), store.Gt("expiresAt", store.At(s.now())))
}

// List returns the valid keys of a user. NotFound: the user does not exist. Forbidden: the caller is neither the user nor an
// admin.
func (s *Service) List(ctx context.Context, caller access.Principal, userID store.ID) (List, error) {
	list := List{Rows: []View{}}
	filter, err := s.mayManage(ctx, caller, userID)
	if err != nil {
		return list, err
	}
	keys, err := s.keys.List(ctx, store.Query{Filter: filter, Sort: []store.Order{{Field: "createdAt", Desc: true}}})
	for _, k := range keys {
		list.Rows = append(list.Rows, k.View())
	}
	list.Count = len(list.Rows)
	return list, err
}

// Get returns a valid key of a user. NotFound: there is no such key. Forbidden: see List.
func (s *Service) Get(ctx context.Context, caller access.Principal, userID, id store.ID) (Key, error) {
	filter, err := s.mayManage(ctx, caller, userID)
	if err != nil {
		return Key{}, err
	}
	return s.keys.First(ctx, store.And(store.Eq("id", id), filter))
}

// Delete deletes a valid key of a user. Errors: see Get.
func (s *Service) Delete(ctx context.Context, caller access.Principal, userID, id store.ID) error {
	filter, err := s.mayManage(ctx, caller, userID)
	if err != nil {
		return err
	}
	return s.db.Together(ctx, func(ctx context.Context) error {
		deleted, err := s.keys.Delete(ctx, store.And(store.Eq("id", id), filter))
		switch {
		case err != nil:
			return err
		case deleted == 0:
			return store.ErrNotFound
		case caller.Is(userID):
			return nil
		}
		return s.users.RecordRemoval(ctx, userID, user.APIKeys)
	})
}

// mayManage checks that the caller may read and delete the keys of a user, and returns the filter that selects the valid keys.
// Errors: see List.
func (s *Service) mayManage(ctx context.Context, caller access.Principal, userID store.ID) (store.Filter, error) {
	u, err := s.users.Get(ctx, userID)
	if err == nil {
		err = caller.MayChange(userID)
	}
	return s.valid(u), err
}

// VerifyKey implements access.KeyVerifier. A key does not depend on a session, so it stays valid after a change of the password.
// See user.User.FirstKeyEpoch for the events that invalidate keys.
func (s *Service) VerifyKey(ctx context.Context, client access.Client, key string) (access.Principal, error) {
	invalid := apperr.New(apperr.Unauthorized, "The API key is invalid, has expired or was deleted. Create another one: POST /users/me/api-keys.")
	id, ok := parseKey(key)
	if !ok {
		return access.Principal{}, invalid
	}
	k, err := s.keys.First(ctx, store.Eq("id", id))
	if err != nil {
		return access.Principal{}, apperr.Replace(err, apperr.NotFound, invalid)
	}
	if subtle.ConstantTimeCompare([]byte(digest(key)), []byte(k.Hash)) == 0 || !s.now().Before(k.ExpiresAt.Time) {
		return access.Principal{}, invalid
	}
	u, err := s.users.Get(ctx, k.UserID)
	if err != nil {
		return access.Principal{}, apperr.Replace(err, apperr.NotFound, invalid)
	}
	if u.Suspended || k.Epoch < u.FirstKeyEpoch() {
		return access.Principal{}, invalid
	}
	p, err := s.users.Principal(ctx, u, store.ID{})
	if err != nil {
		return access.Principal{}, err
	}
	p.Key = &access.Key{ID: k.ID, Scopes: k.Scopes}
	// A key has only RoleAdmin or RoleUser, never a role that the project declares.
	if !p.IsAdmin() || !slices.Contains(k.Scopes, access.ScopeAdmin) {
		p.Role = access.RoleUser
	}
	if client != (access.Client{}) {
		s.recordUse(ctx, k, client)
	}
	return p, nil
}

// recordUse stores when and from where a key was used, at most once a minute. It logs errors instead of returning them, so that
// read-only requests succeed even if the database rejects writes.
func (s *Service) recordUse(ctx context.Context, k Key, client access.Client) {
	minute := store.At(s.now().Truncate(time.Minute))
	if k.LastUsedAt != nil && !k.LastUsedAt.Before(minute.Time) {
		return
	}
	unrecorded := store.And(store.Eq("id", k.ID), store.Eq("version", k.Version)) // a concurrent request may record the use first
	_, err := s.keys.Update(ctx, unrecorded, store.Set("lastUsedAt", minute), store.Set("lastUsedIp", client.Address))
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		s.log.WarnContext(ctx, "use of an API key not recorded", "keyId", k.ID.Hex(), "error", err)
	}
}

func (s *Service) sweep(ctx context.Context) error {
	_, err := s.keys.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}

// DeleteOf implements user.Dependent.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.keys.Delete(ctx, store.Eq("userId", userID))
	return err
}
