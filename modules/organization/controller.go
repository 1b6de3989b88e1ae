package organization

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

type controller struct {
	service *Service
	lister  *listing.Lister
}

// create creates an organization.
//
//	@Summary		Create an organization
//	@Description	The caller becomes its owner. A user can be a member of at most 50 organizations.
//	@Tags			organizations
//	@Param			input	formData	Input	true	"the organization"
//	@Success		201		{object}	View
//	@Header			201		{string}	Location		"path of the organization"
//	@Failure		409		{object}	rest.Problem	"conflict: the caller is a member of 50 organizations"
//	@x-tag			"Users who own records together, with roles and invitations."
//	@Router			/organizations [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[Input](g, View{})
	if err != nil {
		return err
	}
	o, err := c.service.Create(g.Request.Context(), rest.Caller(g), in)
	if err != nil {
		return err
	}
	return rest.Created(g, o.Meta, o.as(Owner))
}

// list lists organizations.
//
//	@Summary		List organizations
//	@Description	Returns the organizations of which the caller is a member, with the role of the caller. Admins of the service get all organizations.
//	@Tags			organizations
//	@Param			query	query		listing.Params	false	"the parameters of the list"
//	@Success		200		{object}	listing.Page[View]
//	@Router			/organizations [get]
func (c *controller) list(g *gin.Context) error {
	q, err := c.lister.Parse(rest.Query(g), rest.Caller(g).UserID)
	if err != nil {
		return err
	}
	page, err := c.service.List(g.Request.Context(), rest.Caller(g), q)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

// get returns an organization.
//
//	@Summary	Get an organization
//	@Tags		organizations
//	@Success	200	{object}	View
//	@Router		/organizations/{id} [get]
func (c *controller) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	o, role, err := c.service.Get(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	return rest.Record(g, o.Meta, o.as(role))
}

// update changes an organization.
//
//	@Summary	Change an organization
//	@Tags		organizations
//	@Param		input	formData	Input	false	"the fields to change"
//	@Success	200		{object}	View
//	@Failure	403		{object}	rest.Problem	"forbidden: the caller is neither an owner nor an admin of the organization"
//	@Router		/organizations/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := rest.BindPatch[Input](g, View{})
	if err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	o, role, err := c.service.Update(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return rest.Record(g, o.Meta, o.as(role))
}

// delete deletes an organization.
//
//	@Summary		Delete an organization
//	@Description	The organization and everything that belongs to it no longer exist for its members. A job deletes the records in portions.
//	@Tags			organizations
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		403	{object}	rest.Problem	"forbidden: the caller is no owner of the organization"
//	@Router			/organizations/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id)); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// members lists the members of an organization.
//
//	@Summary		List the members of an organization
//	@Description	Returns all members, at most 1,000, owners first.
//	@Tags			organizations
//	@Success		200	{object}	Members
//	@Router			/organizations/{id}/members [get]
func (c *controller) members(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	members, err := c.service.Members(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	return rest.OK(g, members)
}

// changeMember changes the role of a member.
//
//	@Summary		Change the role of a member
//	@Description	Owners and admins of the organization change roles. Only owners change owners and make others owners. The last owner keeps the role.
//	@Tags			organizations
//	@Param			userId	path		string		true	"the ID of the user"
//	@Param			input	formData	RoleInput	true	"the role"
//	@Success		200		{object}	MemberView
//	@Failure		403		{object}	rest.Problem	"forbidden: the role of the caller does not allow the change"
//	@Failure		409		{object}	rest.Problem	"conflict: the organization would have no owner"
//	@Router			/organizations/{id}/members/{userId} [patch]
func (c *controller) changeMember(g *gin.Context) error {
	in, err := rest.Bind[RoleInput](g, MemberView{})
	if err != nil {
		return err
	}
	id, userID, err := ids(g, "userId")
	if err != nil {
		return err
	}
	view, err := c.service.ChangeMember(g.Request.Context(), rest.Caller(g), id, userID, access.Role(in.Role))
	if err != nil {
		return err
	}
	return rest.OK(g, view)
}

// removeMember ends a membership.
//
//	@Summary		Remove a member
//	@Description	Owners and admins of the organization remove members; only owners remove owners. Members can leave. The last owner cannot.
//	@Tags			organizations
//	@Param			userId	path	string	true	"the ID of the user"
//	@Success		204
//	@Failure		403	{object}	rest.Problem	"forbidden: the role of the caller does not allow the removal"
//	@Failure		409	{object}	rest.Problem	"conflict: the organization would have no owner"
//	@Router			/organizations/{id}/members/{userId} [delete]
func (c *controller) removeMember(g *gin.Context) error {
	id, userID, err := ids(g, "userId")
	if err != nil {
		return err
	}
	if err := c.service.RemoveMember(g.Request.Context(), rest.Caller(g), id, userID); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// invite sends an invitation.
//
//	@Summary		Invite somebody to an organization
//	@Description	Emails a link with which the owner of the address becomes a member. The response does not reveal whether the address is known. A second invitation to an address replaces the first. In the link parameter, {token} is replaced by the token. If link does not contain {token}, the token is appended to the path. If exactly one page in INVITATION_LINK_ORIGINS has a path, link is optional and defaults to that page. At most 5 invitations in an hour are sent to an address.
//	@Tags			organizations
//	@Param			input	formData	InvitationInput	true	"the email address, the role, and the link to the page that accepts the invitation"
//	@Success		202		{object}	Invited			"an empty object, even if the address is a member's"
//	@Failure		403		{object}	rest.Problem	"forbidden: the role of the caller does not allow the invitation"
//	@Failure		409		{object}	rest.Problem	"conflict: the organization has 100 open invitations"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: more than 100 invitations of the caller in an hour"
//	@Router			/organizations/{id}/invitations [post]
func (c *controller) invite(g *gin.Context) error {
	in, err := rest.Bind[InvitationInput](g)
	if err != nil {
		return c.service.links.WithErrors(err, in.Link)
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	limits, err := c.service.Invite(g.Request.Context(), rest.Caller(g), id, in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.Accepted(g, Invited{})
}

// invitations lists the open invitations of an organization.
//
//	@Summary		List the open invitations of an organization
//	@Description	Returns all open invitations, at most 100, the newest first.
//	@Tags			organizations
//	@Success		200	{object}	Invitations
//	@Failure		403	{object}	rest.Problem	"forbidden: the caller is neither an owner nor an admin of the organization"
//	@Router			/organizations/{id}/invitations [get]
func (c *controller) invitations(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	list, err := c.service.Invitations(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	return rest.OK(g, list)
}

// withdraw withdraws an invitation.
//
//	@Summary	Withdraw an invitation
//	@Tags		organizations
//	@Param		invitationId	path	string	true	"the ID of the invitation"
//	@Success	204
//	@Failure	403	{object}	rest.Problem	"forbidden: the caller is neither an owner nor an admin of the organization"
//	@Router		/organizations/{id}/invitations/{invitationId} [delete]
func (c *controller) withdraw(g *gin.Context) error {
	id, invitation, err := ids(g, "invitationId")
	if err != nil {
		return err
	}
	if err := c.service.Withdraw(g.Request.Context(), rest.Caller(g), id, invitation); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// invitation returns an invitation for its recipient.
//
//	@Summary		Get an invitation
//	@Description	Returns the organization of the link, if the invitation is open. This request does not use it up.
//	@Tags			organization-invitations
//	@Param			token	path		string	true	"the token in the link"
//	@Success		200		{object}	OpenInvitation
//	@Failure		404		{object}	rest.Problem	"not_found: the invitation was used or withdrawn, or has expired"
//	@x-tag			"Invitations to organizations, for their recipients."
//	@Router			/organization-invitations/{token} [get]
func (c *controller) invitation(g *gin.Context) error {
	i, o, err := c.service.Invitation(g.Request.Context(), g.Param("token"))
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return rest.OK(g, OpenInvitation{o.Name, viewRole{i.Role}, i.ExpiresAt})
}

// accept accepts an invitation.
//
//	@Summary		Accept an invitation
//	@Description	Makes the caller a member. The invitation must have been sent to the verified address of the caller.
//	@Tags			organization-invitations
//	@Param			token	path		string	true	"the token in the link"
//	@Success		200		{object}	MemberView
//	@Failure		403		{object}	rest.Problem	"forbidden: the invitation is for another address, or the address of the caller is not verified"
//	@Failure		404		{object}	rest.Problem	"not_found: the invitation was used or withdrawn, or has expired"
//	@Failure		409		{object}	rest.Problem	"conflict: the organization has 1,000 members, or the caller is a member of 50 organizations"
//	@Router			/organization-invitations/{token} [put]
func (c *controller) accept(g *gin.Context) error {
	view, err := c.service.Accept(g.Request.Context(), rest.Caller(g), g.Param("token"))
	if err != nil {
		return err
	}
	return rest.OK(g, view)
}

// ids returns the ID of the organization, and the ID in another parameter of the path.
func ids(g *gin.Context, parameter string) (id, other store.ID, err error) {
	if id, err = rest.ID(g); err == nil {
		other, err = rest.PathID(g, parameter)
	}
	return id, other, err
}
