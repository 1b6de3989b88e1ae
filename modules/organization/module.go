// Package organization provides organizations: users who own records together, with roles and invitations.
package organization

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Users are the users, who are members of organizations. *user.Module implements it.
type Users interface {
	resource.Target
	OnDelete(user.Dependent)
	Get(ctx context.Context, id store.ID) (user.User, error)
	Public(u user.User) user.PublicView
	ByEmail(ctx context.Context, email string) (user.User, error)
	Lock(ctx context.Context, ids ...store.ID) error
}

// Module provides the routes of organizations. It implements resource.Organizations: records of other modules can belong to an
// organization.
type Module struct {
	*Service
	resource.Target
	controller *controller
}

// Settings are the settings of this module.
type Settings struct {
	// LinkOrigins are the URLs that the link in an invitation may lead to. A URL with a path allows that page and all pages below it.
	// A URL without a path allows the whole origin. In development, localhost is allowed too.
	LinkOrigins []string `mapstructure:"INVITATION_LINK_ORIGINS" validate:"dive,web_page" example:"https://app.example.com/invitation"`
}

// New creates the module and registers it with users: the deletion of a user ends the memberships of the user, and is rejected if
// the user is the last owner of an organization with other members.
func New(d kit.Deps, s Settings, users Users) *Module {
	if len(s.LinkOrigins) == 0 && !d.Development {
		d.Log.Warn("invitations to organizations are rejected: INVITATION_LINK_ORIGINS is not set, so no link is allowed in the email")
	}
	service := &Service{
		db: d.DB, users: users, links: link.NewLinks("INVITATION_LINK_ORIGINS", s.LinkOrigins, d.Development),
		limiter: d.Limiter, emails: d.Email, now: d.Now,
	}
	d.Resources = &kit.Resources{} // organizations are in neither imports nor webhooks
	service.organizations = resource.Open(d, spec().Store(), Organization.expanded, resource.Member("id"), resource.Member("id"))
	service.organizations.Members("id", service)
	service.memberships = resource.Open(d, membershipSpec(), membership.view, resource.None, resource.None,
		resource.To(resource.OrganizationID, service.organizations, resource.Cascade)).Unrestricted()
	service.invitations = resource.Open(d, invitationSpec(), Invitation.View, resource.None, resource.None,
		resource.To(resource.OrganizationID, service.organizations, resource.Cascade)).Unrestricted()
	service.removals = resource.NewRemovals(d, service.organizations)
	d.Email.Handle(emailKind, service.build)
	users.OnDelete(service)
	return &Module{service, service.organizations, &controller{service, listing.NewLister(spec(), d.Cursors)}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{
		Jobs:          []job.Job{{Name: "expired-invitations", Interval: job.SweepInterval, Run: m.sweep}, m.removals.Job()},
		EmailPreviews: m.emailPreviews,
	}
}
