package organization

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Service has the business rules of organizations.
type Service struct {
	db            store.DB
	organizations *resource.Collection[Organization]
	memberships   *store.Collection[membership]
	invitations   *store.Collection[Invitation]
	removals      *resource.Removals
	users         Users
	limiter       *ratelimit.Limiter
	emails        *email.Queue
	links         link.Links
	now           func() time.Time
}

// MembershipsOf implements access.MembershipReader. The organizations decide who is an owner; see Organization.roleOf.
func (s *Service) MembershipsOf(ctx context.Context, userID store.ID) ([]access.Membership, error) {
	list, err := s.memberships.List(ctx, store.Query{Filter: store.Eq("userId", userID)})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ids := make([]store.ID, len(list))
	for i, m := range list {
		ids[i] = m.OrganizationID
	}
	organizations, err := s.organizations.Unrestricted().List(ctx, store.Query{Filter: store.In("id", store.Values(ids)...), Fields: []string{"ownerIds"}})
	var out []access.Membership
	for _, o := range organizations {
		out = append(out, access.Membership{Group: o.ID, Role: o.roleOf(list[slices.Index(ids, o.ID)])})
	}
	return out, err
}

func isMembership(organization, userID store.ID) store.Filter {
	return store.And(store.Eq(resource.OrganizationID, organization), store.Eq("userId", userID))
}

// lock locks an organization and a user, for rules over memberships.
func (s *Service) lock(ctx context.Context, organization, userID store.ID) error {
	if s.db.Serializable() || store.IsSeparate(ctx) {
		return nil
	}
	if err := s.organizations.Lock(ctx, organization); err != nil {
		return err
	}
	return s.users.Lock(ctx, userID)
}

// hasRoom fails with Conflict if the organization or the user has too many memberships.
func (s *Service) hasRoom(ctx context.Context, organization, userID store.ID) error {
	n, err := s.memberships.Count(ctx, store.Eq("userId", userID))
	if err == nil && n >= maxOrganizations {
		err = apperr.New(apperr.Conflict, "A user can be a member of at most %d organizations.", maxOrganizations)
	}
	if err != nil {
		return err
	}
	n, err = s.memberships.Count(ctx, store.Eq(resource.OrganizationID, organization))
	if err == nil && n >= maxMembers {
		err = apperr.New(apperr.Conflict, "An organization can have at most %d members.", maxMembers)
	}
	return err
}

// join makes a user a member, and then an owner: an owner is always a member.
func (s *Service) join(ctx context.Context, o Organization, userID store.ID, role access.Role) (membership, Organization, error) {
	m := membership{
		Meta: store.NewMeta(store.NewID(), store.At(s.now())), InOrganization: resource.InOrganization{OrganizationID: o.ID}, UserID: userID, Role: role,
	}
	err := s.memberships.Insert(ctx, m)
	if err == nil && role == Owner && !o.isOwner(userID) {
		o, err = s.setOwner(ctx, o.ID, userID, true, nil)
	}
	return m, o, err
}

func (o *Organization) addOwner(id store.ID) {
	if !o.isOwner(id) {
		o.OwnerIDs = append(o.OwnerIDs, id)
	}
}

// Create creates an organization, of which the caller is the owner. Conflict: the caller has too many memberships.
func (s *Service) Create(ctx context.Context, caller access.Principal, in Input) (Organization, error) {
	o := Organization{Meta: store.NewMeta(store.NewID(), store.At(s.now())), Input: in, OwnerIDs: []store.ID{caller.UserID}}
	return o, s.db.Together(ctx, func(ctx context.Context) error {
		if !s.db.Serializable() && !store.IsSeparate(ctx) {
			if err := s.users.Lock(ctx, caller.UserID); err != nil {
				return err
			}
		}
		if err := s.hasRoom(ctx, o.ID, caller.UserID); err != nil {
			return err
		}
		if err := s.organizations.Unrestricted().Insert(ctx, o); err != nil {
			return err
		}
		_, _, err := s.join(ctx, o, caller.UserID, Owner)
		if err != nil && store.IsSeparate(ctx) {
			err = errors.Join(err, s.organizations.Unrestricted().DeleteByID(ctx, o.ID, nil))
		}
		return err
	})
}

// List returns a page of the caller's organizations, for admins of all.
func (s *Service) List(ctx context.Context, caller access.Principal, q listing.Query) (listing.Page[View], error) {
	list, err := caller.MembershipsIn(ctx, s)
	if err != nil {
		return listing.Page[View]{}, err
	}
	return resource.List(ctx, s.organizations, caller, q, func(o Organization) View { return o.viewFor(caller.UserID, list) })
}

// Get returns an organization and the role of the caller, which is "" for an admin of the service who is no member. NotFound: the
// caller is no member.
func (s *Service) Get(ctx context.Context, caller access.Principal, id store.ID) (Organization, access.Role, error) {
	o, err := s.organizations.Get(ctx, caller, id)
	if err != nil {
		return o, "", err
	}
	m, err := s.memberships.First(ctx, isMembership(id, caller.UserID))
	switch {
	case err == nil:
		return o, o.roleOf(m), nil
	case apperr.Is(err, apperr.NotFound) && caller.ActsForAll():
		return o, "", nil
	}
	return o, "", err
}

// managed is Get for the owners and admins of the organization, and for admins of the service. Forbidden: the caller is another member.
func (s *Service) managed(ctx context.Context, caller access.Principal, id store.ID) (Organization, access.Role, error) {
	o, role, err := s.Get(ctx, caller, id)
	if err == nil && rank(acting(caller, role)) < rank(Admin) {
		err = apperr.New(apperr.Forbidden, "Only owners and admins of the organization may do this.")
	}
	return o, role, err
}

// acting returns the role with which the caller acts: admins of the service act as owners.
func acting(caller access.Principal, role access.Role) access.Role {
	if caller.ActsForAll() {
		return Owner
	}
	return role
}

func errAbove() error {
	return apperr.New(apperr.Forbidden, "Only an owner of the organization may change owners, remove them, or make somebody an owner.")
}

// Update changes the given fields. NotFound, Forbidden: see managed. PreconditionFailed: the organization has none of the versions.
func (s *Service) Update(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in store.Patch[Input]) (o Organization, role access.Role, err error) {
	if o, role, err = s.managed(ctx, caller, id); err != nil {
		return o, role, err
	}
	o, err = s.organizations.Unrestricted().UpdateByID(ctx, id, expected, in.Changes()...)
	return o, role, err
}

// Delete deletes an organization. A job deletes its records. NotFound: the caller is no member. Forbidden: the caller is no owner.
// PreconditionFailed: the organization has none of the versions.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) error {
	return s.db.Together(ctx, func(ctx context.Context) error {
		o, role, err := s.managed(ctx, caller, id)
		if err != nil {
			return err
		}
		if acting(caller, role) != Owner {
			return apperr.New(apperr.Forbidden, "Only owners may delete the organization.")
		}
		if err := expected.Check(o.Version); err != nil {
			return err
		}
		return s.remove(ctx, id, expected)
	})
}

// remove deletes an organization in the store.DB.Together of ctx, in an order that allows it to be interrupted.
func (s *Service) remove(ctx context.Context, id store.ID, expected store.Versions) error {
	err := s.removals.Around(ctx, id, func(ctx context.Context) error {
		return s.organizations.Unrestricted().DeleteByID(ctx, id, expected)
	})
	if err != nil {
		return err
	}
	of := store.Eq(resource.OrganizationID, id)
	if _, err := s.memberships.Delete(ctx, of); err != nil {
		return err
	}
	_, err = s.invitations.Delete(ctx, of)
	return err
}

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
		o, callerRole, err := s.managed(ctx, caller, id)
		if err != nil {
			return err
		}
		m, err := s.member(ctx, id, userID)
		if err != nil {
			return err
		}
		may := s.mayChange(caller, callerRole, m, role)
		if o, err = s.setOwner(ctx, id, userID, role == Owner, may); err != nil {
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
