package organization

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// The roles of every project. Owner and Admin manage the organization; Admin cannot manage owners.
const (
	Owner  access.Role = "owner"
	Admin  access.Role = "admin"
	Member access.Role = "member"
)

// Limits.
const (
	maxMembers       = 1000 // of an organization
	maxOrganizations = 50   // of a user
	maxInvitations   = 100  // open ones of an organization
)

// Organization is a stored organization.
type Organization struct {
	store.Meta `bson:",inline"`
	Input      `bson:",inline"`
	// OwnerIDs decides who is an owner. A rule about owners is thus a change of one document.
	OwnerIDs []store.ID `json:"ownerIds"`
}

// Input has the fields that clients set.
type Input struct {
	Name   string `json:"name" validate:"required,max=100,plain" example:"Ginseng Farmers"`
	Fields `bson:",inline"`
} //	@name	OrganizationInput

// View is the representation of an organization.
type View struct {
	ID store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f905"`
	Input
	anyViewRole
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	UpdatedAt store.Time `json:"updatedAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
} //	@name	Organization

// expandedView is the representation in other resources. It has no role, which is the caller's.
type expandedView struct {
	ID store.ID `json:"id"`
	Input
	CreatedAt store.Time `json:"createdAt"`
	UpdatedAt store.Time `json:"updatedAt"`
}

func (o Organization) expanded() expandedView {
	return expandedView{ID: o.ID, Input: o.Input, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt}
}

// View returns the representation without the role of the caller.
func (o Organization) View() View {
	return View{ID: o.ID, Input: o.Input, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt}
}

// viewFor returns the representation for a user with the memberships.
func (o Organization) viewFor(caller store.ID, list []access.Membership) View {
	v := o.View()
	for _, m := range list {
		if m.Group == o.ID {
			v = o.as(o.roleOf(membership{UserID: caller, Role: m.Role}))
		}
	}
	return v
}

// as returns the representation for a caller with the role; "" is none.
func (o Organization) as(role access.Role) View {
	v := o.View()
	if role != "" {
		v.Role = &role
	}
	return v
}

// ExpandTag returns the part of an ETag that identifies the role of the caller, which the version of the organization does not have: a
// dot and 16 hexadecimal characters, or "" for no role.
func (v View) ExpandTag() string {
	if v.Role == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(*v.Role))
	return "." + hex.EncodeToString(sum[:8])
}

// isOwner reports whether the user is an owner.
func (o Organization) isOwner(id store.ID) bool { return slices.Contains(o.OwnerIDs, id) }

// lastOwner returns the Conflict for a change after which the organization would have no owner.
func (o Organization) lastOwner() error {
	return apperr.New(apperr.Conflict, "%q (%s) needs an owner. Make another member an owner first, or delete the organization.", o.Name, o.ID.Hex())
}

// membership is a stored membership.
type membership struct {
	store.Meta              `bson:",inline"`
	resource.InOrganization `bson:",inline"`
	UserID                  store.ID    `json:"userId"`
	Role                    access.Role `json:"role"` // for the rules of records; see Organization.roleOf
}

func (m membership) view() any { return nil }

// roleOf returns the role of a member. OwnerIDs decides about owners; an interrupted change can have left another role.
func (o Organization) roleOf(m membership) access.Role {
	switch {
	case o.isOwner(m.UserID):
		return Owner
	case m.Role == Owner:
		return Admin
	}
	return m.Role
}

// MemberView is the representation of a member.
type MemberView struct {
	UserID  store.ID `json:"userId" swaggertype:"string" extensions:"x-reference=users" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name    string   `json:"name" example:"Ada"`
	Picture string   `json:"picture" example:"https://www.gravatar.com/avatar/84f4…?d=identicon&f=y"`
	viewRole
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"` // when the user became a member
} //	@name	OrganizationMember

// view returns the representation of a member.
func (o Organization) view(m membership, u user.PublicView) MemberView {
	return MemberView{UserID: m.UserID, Name: u.Name, Picture: u.Picture, viewRole: viewRole{o.roleOf(m)}, CreatedAt: m.CreatedAt}
}

// Members are all members of an organization, owners first.
type Members struct {
	Count int          `json:"count" example:"1"`
	Rows  []MemberView `json:"rows"`
} //	@name	OrganizationMembers

// RoleInput has the parameters of a change of a member.
type RoleInput struct {
	roleInput
} //	@name	OrganizationMemberUpdate

// rank orders the roles: a role of the project ranks between member and admin.
func rank(role access.Role) int {
	switch role {
	case Owner:
		return 3
	case Admin:
		return 2
	case Member:
		return 0
	}
	return 1
}

func spec() listing.Spec {
	return listing.Spec{
		Name:   "organizations",
		Search: []string{"name"},
		Sort:   []string{"name", "createdAt", "updatedAt"},
		Filter: []listing.Filter{{Field: "createdAt", Type: listing.Time}},
		View:   View{},
	}
}

func membershipSpec() store.Spec {
	return store.Spec{Name: "memberships", Indexes: []store.Index{
		{Fields: []string{resource.OrganizationID, "userId"}, Unique: true}, {Fields: []string{"userId"}},
	}}
}
