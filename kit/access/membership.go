package access

import (
	"context"
	"sync"

	"example.com/ginseng/kit/store"
)

// Membership is the membership of a user in a group of users, such as an organization.
type Membership struct {
	Group store.ID // ID of the group
	Role  Role     // in the group
}

// MembershipReader reads the memberships of users. Its value must be comparable, such as a pointer.
type MembershipReader interface {
	// MembershipsOf returns the memberships of a user, in any order. A user who is in no group has none.
	MembershipsOf(ctx context.Context, userID store.ID) ([]Membership, error)
}

// groups are the memberships in one field, and those in other fields.
type groups struct {
	field string
	list  []Membership
	other *groups
}

// WithMemberships returns the caller with memberships for rules about the field of a record that has the ID of a group. Package
// resource calls it for the rules of a collection; see resource.Member.
func (p Principal) WithMemberships(field string, list []Membership) Principal {
	p.groups = &groups{field, list, p.groups}
	return p
}

// Memberships returns the memberships from WithMemberships for the field; nil if there are none.
func (p Principal) Memberships(field string) []Membership {
	for g := p.groups; g != nil; g = g.other {
		if g.field == field {
			return g.list
		}
	}
	return nil
}

// memo has the memberships that a request has read.
type memo struct {
	mu   sync.Mutex
	read map[MembershipReader][]Membership
}

// ForRequest returns the caller of a request, which reads the memberships of the caller at most once. Copies of the result share
// what the request has read, for example with the operations of a batch.
func (p Principal) ForRequest() Principal {
	if p.memo == nil && p.IsUser() { // other callers have no memberships
		p.memo = &memo{}
	}
	return p
}

// Reread returns the caller without the memberships that the request has read.
func (p Principal) Reread() Principal {
	p.memo = nil
	return p.ForRequest()
}

// MembershipsIn returns the memberships of the caller. Callers who are not users have none. A request reads them from m only
// once; see ForRequest.
func (p Principal) MembershipsIn(ctx context.Context, m MembershipReader) ([]Membership, error) {
	if !p.IsUser() {
		return nil, nil
	}
	if p.memo == nil {
		return m.MembershipsOf(ctx, p.UserID)
	}
	p.memo.mu.Lock()
	defer p.memo.mu.Unlock()
	list, known := p.memo.read[m]
	if known {
		return list, nil
	}
	list, err := m.MembershipsOf(ctx, p.UserID)
	if err == nil {
		if p.memo.read == nil {
			p.memo.read = map[MembershipReader][]Membership{}
		}
		p.memo.read[m] = list
	}
	return list, err
}
