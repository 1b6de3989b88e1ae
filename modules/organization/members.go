package organization

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Members returns all members, owners first, then by name. NotFound: the caller is no member.
func (s *Service) Members(ctx context.Context, caller access.Principal, id store.ID) (out Members, err error) {
	o, _, err := s.Get(ctx, caller, id)
	if err != nil {
		return out, err
	}
	list, err := s.memberships.List(ctx, store.Query{Filter: store.Eq(resource.OrganizationID, id)})
	if err != nil {
		return out, err
	}
	ids := make([]store.ID, len(list))
	for i, m := range list {
		ids[i] = m.UserID
	}
	users, _, err := s.users.Find(ctx, access.Principal{}, ids, nil)
	out.Rows = []MemberView{}
	for _, m := range list {
		if u, ok := users[m.UserID].(user.PublicView); ok { // a user who is being deleted has no view
			out.Rows = append(out.Rows, o.view(m, u))
		}
	}
	slices.SortFunc(out.Rows, func(a, b MemberView) int {
		if d := rank(b.Role) - rank(a.Role); d != 0 {
			return d
		}
		if a.Name != b.Name {
			return bytes.Compare([]byte(a.Name), []byte(b.Name))
		}
		return bytes.Compare(a.UserID[:], b.UserID[:])
	})
	out.Count = len(out.Rows)
	return out, err
}

// member returns the membership of a user, or NotFound.
func (s *Service) member(ctx context.Context, id, userID store.ID) (membership, error) {
	return s.memberships.First(ctx, isMembership(id, userID))
}

// ChangeMember gives a member another role. NotFound: the caller or the user is no member. Forbidden: the caller is neither an owner
// nor an admin of the organization, or an admin changes an owner. Conflict: the user is the last owner.
func (s *Service) ChangeMember(ctx context.Context, caller access.Principal, id, userID store.ID, role access.Role) (v MemberView, err error) {
	err = s.db.Together(ctx, func(ctx context.Context) error {
		_, callerRole, err := s.managed(ctx, caller, id)
		if err != nil {
			return err
		}
		m, err := s.member(ctx, id, userID)
		if err != nil {
			return err
		}
		may := s.mayChange(caller, callerRole, m, role)
		o, err := s.setOwner(ctx, id, userID, role == Owner, may)
		if err != nil {
			return err
		}
		m, err = s.memberships.Update(ctx, store.Eq("id", m.ID), store.Set("role", role))
		if apperr.Is(err, apperr.NotFound) && role == Owner && store.IsSeparate(ctx) { // the member has just left
			_, undo := s.setOwner(ctx, id, userID, false, nil)
			err = errors.Join(err, undo)
		}
		if err != nil {
			return err
		}
		u, err := s.users.Get(ctx, userID)
		v = o.view(m, s.users.Public(u))
		return err
	})
	return v, err
}

// mayChange returns the check that the caller, who had the role, may give a member another role, or remove the member.
func (s *Service) mayChange(caller access.Principal, role access.Role, m membership, next access.Role) func(Organization) error {
	return func(o Organization) error {
		now := role
		if role != "" {
			now = o.roleOf(membership{UserID: caller.UserID, Role: role}) // others may have changed the owners
		}
		if may := rank(acting(caller, now)); rank(o.roleOf(m)) > may || rank(next) > may {
			return errAbove()
		}
		return nil
	}
}

// setOwner makes a user an owner, or ends that, if check allows it for the organization; nil allows it. Conflict: the user is the last
// owner.
func (s *Service) setOwner(ctx context.Context, id, userID store.ID, owner bool, check func(Organization) error) (Organization, error) {
	return s.organizations.Unrestricted().Modify(ctx, id, func(o *Organization) error {
		if check != nil {
			if err := check(*o); err != nil {
				return err
			}
		}
		switch {
		case owner:
			o.addOwner(userID)
		case o.isOwner(userID) && len(o.OwnerIDs) == 1:
			return o.lastOwner()
		default:
			o.OwnerIDs = slices.DeleteFunc(slices.Clone(o.OwnerIDs), func(id store.ID) bool { return id == userID })
		}
		return nil
	})
}

// RemoveMember ends a membership. A member may end the own one. NotFound: the caller or the user is no member. Forbidden: the caller is
// neither an owner nor an admin of the organization, or an admin removes an owner. Conflict: the user is the last owner.
func (s *Service) RemoveMember(ctx context.Context, caller access.Principal, id, userID store.ID) error {
	return s.db.Together(ctx, func(ctx context.Context) error {
		get := s.managed
		if caller.Is(userID) {
			get = s.Get
		}
		_, role, err := get(ctx, caller, id)
		if err != nil {
			return err
		}
		m, err := s.member(ctx, id, userID)
		if err != nil {
			return err
		}
		if caller.Is(userID) {
			return s.leave(ctx, m, nil)
		}
		return s.leave(ctx, m, s.mayChange(caller, role, m, Member))
	})
}

// leave ends a membership, if check allows it for the organization; nil allows it. The organization decides about owners, so that it is
// changed first. Conflict: the user is the last owner.
func (s *Service) leave(ctx context.Context, m membership, check func(Organization) error) error {
	if _, err := s.setOwner(ctx, m.OrganizationID, m.UserID, false, check); err != nil {
		return err
	}
	err := apperr.Replace(s.memberships.DeleteByID(ctx, m.ID, nil), apperr.NotFound, nil)
	if err != nil || !store.IsSeparate(ctx) {
		return err
	}
	_, err = s.setOwner(ctx, m.OrganizationID, m.UserID, false, nil) // another caller can have made the user an owner in the meantime
	if apperr.Is(err, apperr.Conflict) {
		err = errors.Join(err, s.memberships.Insert(ctx, m))
	}
	return apperr.Replace(err, apperr.NotFound, nil)
}

// isAlone reports whether a user is the only member of an organization.
func (s *Service) isAlone(ctx context.Context, m membership) (bool, error) {
	others, err := s.memberships.Exists(ctx, store.And(store.Eq(resource.OrganizationID, m.OrganizationID), store.Ne("userId", m.UserID)))
	return !others, err
}

// MayDelete implements user.Guard. Conflict: the user is the last owner of an organization with other members.
func (s *Service) MayDelete(ctx context.Context, userID store.ID) error {
	return s.eachOf(ctx, userID, func(o Organization, m membership, alone bool) error {
		if o.isOwner(userID) && len(o.OwnerIDs) == 1 && !alone {
			return o.lastOwner()
		}
		return nil
	})
}

// DeleteOf implements user.Dependent. It deletes the organizations of which the user is the only member. Conflict: see MayDelete.
func (s *Service) DeleteOf(ctx context.Context, userID store.ID) (err error) {
	for range 3 { // another caller can change an organization that is deleted
		err = s.eachOf(ctx, userID, func(o Organization, m membership, alone bool) error {
			if alone {
				return s.remove(ctx, o.ID, store.Versions{o.Version})
			}
			return s.leave(ctx, m, nil)
		})
		if !errors.Is(err, store.ErrStale) {
			break
		}
	}
	return err
}

// eachOf calls do with each organization of a user. alone reports whether the user is its only member.
func (s *Service) eachOf(ctx context.Context, userID store.ID, do func(o Organization, m membership, alone bool) error) error {
	list, err := s.memberships.List(ctx, store.Query{Filter: store.Eq("userId", userID)})
	for _, m := range list {
		if err != nil {
			return err
		}
		o, missing := s.organizations.Unrestricted().Get(ctx, m.OrganizationID)
		if apperr.Is(missing, apperr.NotFound) { // a deletion was interrupted
			err = s.memberships.DeleteByID(ctx, m.ID, nil)
			continue
		}
		alone, failed := s.isAlone(ctx, m)
		if err = missing; err == nil {
			err = failed
		}
		if err == nil {
			err = do(o, m, alone)
		}
	}
	return err
}
