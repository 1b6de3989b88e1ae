package organization

import (
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
