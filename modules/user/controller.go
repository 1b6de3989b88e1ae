package user

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

type controller struct {
	service *Service
	lister  *listing.Lister
}

// create creates a user.
//
//	@Summary				Sign up
//	@Description			Creates an account. With PUBLIC_SIGNUP=true, only requests with role require the master key.
//	@Tags					users
//	@Param					input	formData	CreateInput	true	"the account"
//	@Success				201		{object}	View
//	@Header					201		{string}	Location		"path of the user"
//	@Failure				403		{object}	rest.Problem	"forbidden: the request has a role but no master key"
//	@Failure				409		{object}	rest.Problem	"conflict: the email address is in use"
//	@Failure				429		{object}	rest.Problem	"too_many_requests: more than 20 sign-ups from a network in an hour without the master key"
//	@x-optional-security	true
//	@x-tag					"Accounts: sign-up, profile, password, deletion."
//	@Router					/users [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[CreateInput](g, View{})
	if err != nil {
		return err
	}
	u, limits, err := c.service.Create(g.Request.Context(), rest.Client(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedView(g, u.ID, c.service.View(u))
}

// list lists users.
//
//	@Summary	List users
//	@Tags		users
//	@Param		query	query		listing.Params	false	"the parameters of the list"
//	@Success	200		{object}	listing.Page[View]
//	@Router		/users [get]
func (c *controller) list(g *gin.Context) error {
	q, err := c.lister.Parse(rest.Query(g))
	if err != nil {
		return err
	}
	page, err := c.service.List(g.Request.Context(), q)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

// me returns the caller.
//
//	@Summary	Get the signed-in user
//	@Tags		users
//	@Param		If-None-Match	header		string	false	"the ETag of an earlier response"
//	@Success	200				{object}	View
//	@Router		/users/me [get]
func (c *controller) me(g *gin.Context) error {
	u, err := c.service.Get(g.Request.Context(), rest.Caller(g).UserID)
	if err != nil {
		return err
	}
	return rest.View(g, c.service.View(u))
}

// get returns a user.
//
//	@Summary				Get a user
//	@Description			Everybody can read id, name and picture. The user and admins can read all fields if they send their token.
//	@Tags					users
//	@Success				200	{object}	AnyView	"all fields for the user and for admins; only id, name and picture for others"
//	@Security				UserToken
//	@x-optional-security	true
//	@Router					/users/{id} [get]
func (c *controller) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	u, err := c.service.Get(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.View(g, c.service.viewFor(rest.Caller(g), u))
}

// update changes a user.
//
//	@Summary		Change a user
//	@Description	Changes only the given fields. PUT and PATCH are the same. An empty name or picture is replaced by the default. Only admins can change email, role and suspended, and only with the token of a session that was opened in the last 10 minutes. A new email address and a suspension end the user's sessions. If an admin changes the address of another user, the links that undo earlier changes become invalid.
//	@Tags			users
//	@Param			id		path		string		true	"id of the user, or me"
//	@Param			input	formData	UpdateInput	false	"the fields to change; only admins can change email, role and suspended"
//	@Success		200		{object}	View
//	@Failure		403		{object}	rest.Problem	"forbidden: the caller is neither the user nor an admin, changes role or suspended without being an admin, or suspends their own account; reauthentication_required: the caller changes email, role or suspended, and the session was opened more than 10 minutes ago"
//	@Failure		409		{object}	rest.Problem	"conflict: the email address is in use"
//	@Router			/users/{id} [put]
//	@Router			/users/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := rest.BindPatch[UpdateInput](g, View{})
	if err != nil {
		return apperr.JoinInvalid(err, in.Fields.check())
	}
	id, err := IDOrMe(g)
	if err != nil {
		return err
	}
	u, err := c.service.Update(g.Request.Context(), rest.Caller(g), id, rest.IfMatchView(g), in)
	if err != nil {
		return err
	}
	return rest.View(g, c.service.View(u))
}

// changePassword changes the caller's password.
//
//	@Summary		Change a password
//	@Description	Changes the password and ends all other sessions of the user. If your server calls this operation for many users, also send the master key as access_token.
//	@Tags			users
//	@Param			id			path		string			true	"id of the user, or me"
//	@Param			If-Match	header		string			false	"the ETag of the version to change"
//	@Param			input		formData	PasswordInput	true	"the new password; if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		200			{object}	View
//	@Failure		401			{object}	rest.Problem	"unauthorized: the user token is missing or invalid, or email or password is wrong"
//	@Failure		403			{object}	rest.Problem	"forbidden: the user is not the caller"
//	@Router			/users/{id}/password [put]
func (c *controller) changePassword(g *gin.Context) error {
	in, err := rest.Bind[PasswordInput](g)
	if err != nil {
		return err
	}
	id, err := IDOrMe(g)
	if err != nil {
		return err
	}
	u, err := c.service.ChangePassword(g.Request.Context(), rest.Caller(g), id, rest.IfMatchView(g), in)
	if err != nil {
		return err
	}
	return rest.View(g, c.service.View(u))
}

// delete deletes a user.
//
//	@Summary		Delete a user
//	@Description	While a change of the email address can still be undone (7 days), only an admin can delete the account.
//	@Tags			users
//	@Param			id		path		string			true	"id of the user, or me"
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		403	{object}	rest.Problem	"forbidden: the caller is neither the user nor an admin"
//	@Failure		409	{object}	rest.Problem	"conflict: other records refer to the user, or a change of the address can still be undone"
//	@x-restricted	false
//	@Router			/users/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := IDOrMe(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), rest.Caller(g), id, rest.IfMatchView(g)); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// IDOrMe returns the path parameter "id", or the ID of the caller if the parameter is "me". NotFound: the ID is malformed.
func IDOrMe(g *gin.Context) (store.ID, error) {
	if g.Param("id") == "me" {
		return rest.Caller(g).UserID, nil
	}
	return rest.ID(g)
}
