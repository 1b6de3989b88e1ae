package organization

import (
	"context"
	"embed"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

//go:embed emails
var emails embed.FS

var invitationEmail = email.NewTemplate(emails, "invitation", user.EmailLayout)

// Invitation is a stored invitation.
type Invitation struct {
	store.Meta              `bson:",inline"`
	resource.InOrganization `bson:",inline"`
	Email                   string      `json:"email"` // in normal form
	Role                    access.Role `json:"role"`
	TokenHash               *string     `json:"tokenHash"` // of the token in the email; nil until the email is built
	ExpiresAt               store.Time  `json:"expiresAt"`
}

// InvitationInput has the parameters of an invitation.
type InvitationInput struct {
	Email string `json:"email" validate:"required,maxbytes=254,email,excludes=:,plain,normalizable" example:"ada@example.com" format:"email" maxLength:"254"`
	roleInput
	Link string `json:"link" validate:"max=2000" example:"https://app.example.com/invitation/{token}" maxLength:"2000"` // URL of the page, in which {token} is replaced by the token; required unless exactly one page in INVITATION_LINK_ORIGINS has a path
} //	@name	OrganizationInvite

// InvitationView is the representation of an invitation for the organization.
type InvitationView struct {
	ID    store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f906"`
	Email string   `json:"email" example:"ada@example.com"`
	viewRole
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	ExpiresAt store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-09T15:04:05.678Z"`
} //	@name	OrganizationInvitation

// View returns the representation for the organization.
func (i Invitation) View() InvitationView {
	return InvitationView{ID: i.ID, Email: i.Email, viewRole: viewRole{i.Role}, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

// Invitations are the open invitations of an organization.
type Invitations struct {
	Count int              `json:"count" example:"1"`
	Rows  []InvitationView `json:"rows"`
} //	@name	OrganizationInvitations

// Invited is the response to an invitation. It is empty, so that it does not reveal whether the address is known.
type Invited struct{} //	@name	OrganizationInvited

// OpenInvitation is the representation of an invitation for its recipient.
type OpenInvitation struct {
	Organization string `json:"organization" example:"Ginseng Farmers"` // the name
	viewRole
	ExpiresAt store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-09T15:04:05.678Z"`
} //	@name	OrganizationInvitationOpen

func invitationSpec() store.Spec {
	return store.Spec{Name: "organization-invitations", Indexes: []store.Index{
		{Fields: []string{resource.OrganizationID, "email"}, Unique: true}, {Fields: []string{"tokenHash"}, Unique: true}, {Fields: []string{"expiresAt"}},
	}}
}

// Rate limits.
var (
	invitationsOfAddress = ratelimit.Rule{Name: "invitations", Max: 5, Window: time.Hour}           // emails per address
	invitationsOfUser    = ratelimit.Rule{Name: "invitations-of-user", Max: 100, Window: time.Hour} // per user who invites
)

const invitationTTL = 7 * 24 * time.Hour

const emailKind = "organization-invitation"

func errNoInvitation() error {
	return apperr.New(apperr.NotFound, "This invitation does not exist: it was used or withdrawn, or has expired. Ask for another.")
}

// open returns the filter that selects the open invitations of an organization.
func (s *Service) open(organization store.ID) store.Filter {
	return store.And(store.Eq(resource.OrganizationID, organization), store.Gt("expiresAt", store.At(s.now())))
}

// Invite sends an invitation, which replaces an earlier one to the same address. It sends no email to members, and to an address that
// has received too many; the result does not show that. NotFound, Forbidden: see managed; an admin cannot invite an owner.
// ValidationFailed: the link is missing or not allowed. Conflict: the organization has too many open invitations. TooManyRequests:
// the caller has sent too many invitations. The state of the rate limit is returned even on error.
func (s *Service) Invite(ctx context.Context, caller access.Principal, id store.ID, in InvitationInput) (ratelimit.States, error) {
	o, role, err := s.managed(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if rank(access.Role(in.Role)) > rank(acting(caller, role)) {
		return nil, errAbove()
	}
	if in.Link, err = s.links.Choose(in.Link); err != nil {
		return nil, err
	}
	to, _ := address.Normalize(in.Email) // validated by the rule "normalizable"
	// Checked again below; here, a rejected invitation does not count for the limit.
	if err := s.mayInvite(ctx, o.ID, to); err != nil {
		return nil, err
	}
	limits, err := s.limiter.Take(ctx, invitationsOfUser.Of(caller.UserID.Hex()))
	if err != nil {
		return limits, err
	}
	i := Invitation{
		Meta: store.NewMeta(store.NewID(), store.At(s.now())), InOrganization: resource.InOrganization{OrganizationID: o.ID},
		Email: to, Role: access.Role(in.Role), ExpiresAt: store.At(s.now().Add(invitationTTL)),
	}
	return limits, s.db.Together(ctx, func(ctx context.Context) error {
		if !s.db.Serializable() && !store.IsSeparate(ctx) {
			if err := s.organizations.Lock(ctx, o.ID); err != nil {
				return err
			}
		}
		if err := s.mayInvite(ctx, o.ID, to); err != nil {
			return err
		}
		if _, err := s.invitations.Delete(ctx, store.And(store.Eq(resource.OrganizationID, o.ID), store.Eq("email", to))); err != nil {
			return err
		}
		if err := s.invitations.Insert(ctx, i); err != nil {
			return err
		}
		return s.emails.Enqueue(ctx, email.Entry{Kind: emailKind, Address: to, Args: map[string]string{"link": in.Link, "invitation": i.ID.Hex()}})
	})
}

// mayInvite fails with Conflict if the organization has too many open invitations to other addresses.
func (s *Service) mayInvite(ctx context.Context, id store.ID, to string) error {
	n, err := s.invitations.Count(ctx, store.And(s.open(id), store.Ne("email", to)))
	if err == nil && n >= maxInvitations {
		err = apperr.New(apperr.Conflict, "The organization has %d open invitations. Withdraw some, or wait until they are accepted or expire.", maxInvitations)
	}
	return err
}

// build is an email.Builder. It issues the token. It returns no email if the invitation was withdrawn or replaced, if the address is
// a member's, or if the address has received too many emails.
func (s *Service) build(ctx context.Context, e email.Entry) (*email.Message, error) {
	id, _ := store.ParseID(e.Args["invitation"])
	i, err := s.invitations.Get(ctx, id)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	o, err := s.organizations.Unrestricted().Get(ctx, i.OrganizationID)
	if err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	if u, err := s.users.ByEmail(ctx, i.Email); err == nil {
		member, err := s.memberships.Exists(ctx, isMembership(o.ID, u.ID))
		if err != nil || member {
			return nil, err
		}
	} else if !apperr.Is(err, apperr.NotFound) {
		return nil, err
	}
	if e.Attempt == 1 { // count an email once, not once per attempt
		if _, err := s.limiter.Take(ctx, invitationsOfAddress.Of(i.Email)); err != nil {
			return nil, apperr.Replace(err, apperr.TooManyRequests, nil)
		}
	}
	secret, digest := link.NewSecret()
	if _, err := s.invitations.Update(ctx, store.Eq("id", i.ID), store.Set("tokenHash", digest)); err != nil {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	return newMessage(i.Email, o.Name, link.WithToken(e.Args["link"], secret), invitationTTL), nil
}

func newMessage(to, organization, link string, lifetime time.Duration) *email.Message {
	return invitationEmail.Message(to, map[string]string{"organization": readable(organization), "link": link, "lifetime": email.FormatDuration(lifetime)})
}

// readable returns the name of an organization for an email. A name that could be an attacker's message or address is left out.
func readable(name string) string {
	if utf8.RuneCountInString(name) > 50 || len(strings.Fields(name)) > 5 || !plainName.MatchString(name) {
		return "an organization"
	}
	return name
}

// plainName matches names without the characters of addresses.
var plainName = regexp.MustCompile(`^[\pL\pM\pN '’&-]+$`)

// emailPreviews returns examples of the emails.
func (s *Service) emailPreviews() []email.Preview {
	to := "https://app.example.com/invitation/" + "Zk3n0cXGk2-_0AqLrT7vBw5yHd8uJf1sPz4mNe6oGiQ"
	return []email.Preview{{Name: emailKind, Message: newMessage("ada@example.com", "Ginseng Farmers", to, invitationTTL)}}
}

// Invitations returns the open invitations, the newest first. NotFound, Forbidden: see managed.
func (s *Service) Invitations(ctx context.Context, caller access.Principal, id store.ID) (out Invitations, err error) {
	if _, _, err := s.managed(ctx, caller, id); err != nil {
		return out, err
	}
	list, err := s.invitations.List(ctx, store.Query{Filter: s.open(id), Sort: []store.Order{{Field: "createdAt", Desc: true}}})
	out.Rows = []InvitationView{}
	for _, i := range list {
		out.Rows = append(out.Rows, i.View())
	}
	out.Count = len(list)
	return out, err
}

// Withdraw deletes an open invitation. NotFound, Forbidden: see managed; there is no such invitation.
func (s *Service) Withdraw(ctx context.Context, caller access.Principal, id, invitation store.ID) error {
	if _, _, err := s.managed(ctx, caller, id); err != nil {
		return err
	}
	n, err := s.invitations.Delete(ctx, store.And(s.open(id), store.Eq("id", invitation)))
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return err
}

// Invitation returns the open invitation of a token, and its organization, or NotFound.
func (s *Service) Invitation(ctx context.Context, token string) (i Invitation, o Organization, err error) {
	i, err = s.invitations.First(ctx, store.And(store.Eq("tokenHash", link.Digest(token)), store.Gt("expiresAt", store.At(s.now()))))
	if err == nil {
		o, err = s.organizations.Unrestricted().Get(ctx, i.OrganizationID)
	}
	return i, o, apperr.Replace(err, apperr.NotFound, errNoInvitation())
}

// Accept makes the caller a member. It uses up the invitation; a member keeps the role. NotFound: there is no such invitation.
// Forbidden: the address of the invitation is not the verified address of the caller. Conflict: the organization or the caller has
// too many memberships.
func (s *Service) Accept(ctx context.Context, caller access.Principal, token string) (v MemberView, err error) {
	err = s.db.Together(ctx, func(ctx context.Context) error {
		i, o, err := s.Invitation(ctx, token)
		if err != nil {
			return err
		}
		if err := s.lock(ctx, o.ID, caller.UserID); err != nil {
			return apperr.Replace(err, apperr.NotFound, errNoInvitation())
		}
		u, err := s.users.Get(ctx, caller.UserID)
		if err != nil {
			return err
		}
		if u.Email != i.Email || !u.EmailVerified {
			return apperr.New(apperr.Forbidden, "This invitation is for another email address, or the address of your account is not verified. Sign in with the account of the address that received the invitation, and verify the address.")
		}
		m, err := s.memberships.First(ctx, isMembership(o.ID, u.ID))
		isMember := err == nil
		if !isMember && !apperr.Is(err, apperr.NotFound) {
			return err
		}
		if !isMember {
			if err := s.hasRoom(ctx, o.ID, u.ID); err != nil {
				return err
			}
		}
		n, err := s.invitations.Delete(ctx, store.And(store.Eq("id", i.ID), store.Eq("tokenHash", link.Digest(token))))
		if err == nil && n == 0 {
			err = errNoInvitation()
		}
		if err == nil && !isMember {
			m, o, err = s.join(ctx, o, u.ID, i.Role)
		}
		v = o.view(m, s.users.Public(u))
		return err
	})
	return v, err
}

// sweep deletes expired invitations.
func (s *Service) sweep(ctx context.Context) error {
	_, err := s.invitations.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}
