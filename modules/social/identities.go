package social

import (
	"cmp"
	"context"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// List returns the caller's linked accounts. Unauthorized: the caller's session has ended.
func (s *Service) List(ctx context.Context, caller access.Principal) (IdentityList, error) {
	u, err := s.current(ctx, caller)
	if err != nil {
		return IdentityList{}, err
	}
	return s.list(ctx, u)
}

// ListOf returns the linked accounts of a user, for an admin. NotFound: the user does not exist.
func (s *Service) ListOf(ctx context.Context, userID store.ID) (IdentityList, error) {
	u, err := s.users.Get(ctx, userID)
	if err != nil {
		return IdentityList{}, err
	}
	return s.list(ctx, u)
}

func (s *Service) list(ctx context.Context, u user.User) (IdentityList, error) {
	found, err := s.identities.List(ctx, store.Query{Filter: identitiesOf(u), Sort: []store.Order{{Field: "provider"}}})
	rows := make([]IdentityView, len(found))
	for n, i := range found {
		rows[n] = i.View()
	}
	return IdentityList{Rows: rows, Count: len(rows)}, err
}

// identitiesOf returns the filter that selects the valid identities of a user.
func identitiesOf(u user.User) store.Filter {
	return store.And(store.Eq("userId", u.ID), store.Gte("epoch", u.LinksFrom))
}

// Unlink removes the caller's link to a provider. NotFound: the caller has no such link. Conflict: the caller has no other link
// and no password. Unauthorized: the caller's session has ended.
func (s *Service) Unlink(ctx context.Context, caller access.Principal, name string) error {
	u, err := s.current(ctx, caller)
	if err != nil {
		return err
	}
	i, err := s.identities.First(ctx, store.And(identitiesOf(u), store.Eq("provider", name)))
	if err != nil {
		return apperr.Replace(err, apperr.NotFound, notLinked())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout) // completes even if the client disconnects
	defer cancel()
	deleted, err := s.identities.Delete(ctx, store.Eq("id", i.ID))
	if err == nil && deleted == 0 {
		return notLinked()
	}
	if !u.HasPassword() {
		err = s.keepOne(ctx, u, i, err)
	}
	if err == nil {
		s.users.Notify(ctx, u, "The account at "+s.nameOf(name)+" was unlinked from your account.")
	}
	return err
}

// UnlinkOf removes a user's link to a provider, for an admin, and notifies the user. A user whose only sign-in method it was sets a
// password with a password reset. NotFound: the user has no such link. Conflict: as Unlink, if the user is the caller.
func (s *Service) UnlinkOf(ctx context.Context, caller access.Principal, userID store.ID, name string) error {
	if caller.Is(userID) {
		return s.Unlink(ctx, caller, name)
	}
	return s.db.Together(ctx, func(ctx context.Context) error {
		u, err := s.users.Get(ctx, userID)
		if err != nil {
			return err
		}
		deleted, err := s.identities.Delete(ctx, store.And(identitiesOf(u), store.Eq("provider", name)))
		switch {
		case err != nil:
			return err
		case deleted == 0:
			return notLinked()
		}
		s.users.Notify(ctx, u, "An administrator unlinked the account at "+s.nameOf(name)+" from your account.")
		return s.users.RecordRemoval(ctx, userID, user.Identities)
	})
}

// nameOf returns the name of a provider for people.
func (s *Service) nameOf(provider string) string { return cmp.Or(s.providers[provider].name, provider) }

// keepOne restores the identity i, which Unlink has deleted, unless the user has another identity. If concurrent requests delete
// all identities of the user, at least the request that counts last restores the identity that it deleted. err is the error of
// the deletion. If err is not nil, keepOne also restores i, because i may have been deleted. Conflict: the user has no other
// identity.
func (s *Service) keepOne(ctx context.Context, u user.User, i Identity, err error) error {
	var others int64
	if err == nil {
		others, err = s.identities.Count(ctx, identitiesOf(u))
	}
	if err == nil && others > 0 {
		return nil
	}
	// Conflict: i was not deleted.
	if restoreErr := s.identities.Insert(ctx, i); restoreErr != nil && !apperr.Is(restoreErr, apperr.Conflict) {
		return restoreErr
	}
	if err != nil {
		return err
	}
	return apperr.New(apperr.Conflict, "This linked account is the last way to sign in. Set a password with a password reset, or link another account first.")
}

func notLinked() error {
	return apperr.New(apperr.NotFound, "No account of this provider is linked.")
}
