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
//	@Description			Creates an account. With PUBLIC_SIGNUP=true the master key is only needed to choose a role.
//	@Tags					users
//	@Param					input			formData	CreateInput	true	"the account"
//	@Param					Idempotency-Key	header		string		false	"a key that the client chooses; requests with the same key create one record"
//	@Success				201				{object}	View
//	@Header					201				{string}	Location		"path of the user"
//	@Failure				401				{object}	rest.Problem	"unauthorized: the master key is missing or wrong"
//	@Failure				403				{object}	rest.Problem	"forbidden: a role without the master key, under PUBLIC_SIGNUP"
//	@Failure				409				{object}	rest.Problem	"conflict: the email address is in use"
//	@Failure				429				{object}	rest.Problem	"too_many_requests: more than 20 sign-ups from a network in an hour, under PUBLIC_SIGNUP"
//	@Security				MasterKey
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
	return rest.CreatedView(g, u.ID, u.View())
}

// list lists users.
//
//	@Summary	List users
//	@Tags		users
//	@Param		query			query		listing.Params	false	"the list"
//	@Param		If-None-Match	header		string			false	"the ETag of an earlier response"
//	@Success	200				{object}	listing.Page[View]
//	@Failure	403				{object}	rest.Problem	"forbidden: not an admin"
//	@Security	UserToken
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
//	@Summary		Get the signed-in user
//	@Tags			users
//	@Param			If-None-Match	header		string	false	"the ETag of an earlier response"
//	@Success		200				{object}	View
//	@Security		UserToken
//	@Security		APIKey
//	@x-restricted	true
//	@Router			/users/me [get]
func (c *controller) me(g *gin.Context) error {
	u, err := c.service.Get(g.Request.Context(), rest.Caller(g).UserID)
	if err != nil {
		return err
	}
	return rest.View(g, u.View())
}

// get returns a user.
//
//	@Summary				Get a user
//	@Description			Public: id, name and picture. The other fields are only for the user and for admins, with their token.
//	@Tags					users
//	@Param					If-None-Match	header		string	false	"the ETag of an earlier response"
//	@Success				200				{object}	AnyView	"only id, name and picture for others"
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
	if caller := rest.Caller(g); caller.Is(id) || caller.IsAdmin() {
		return rest.View(g, u.View())
	}
	return rest.View(g, u.Public())
}

// update changes a user.
//
//	@Summary		Change a user
//	@Description	Changes the given fields only. An empty name or picture resets it to the default. PUT and PATCH are the same. An admin can change the email address, and suspend the account; both end the user's sessions. A change of another user's address also ends the links that undo earlier changes.
//	@Tags			users
//	@Param			id			path		string		true	"id, or me"
//	@Param			If-Match	header		string		false	"the ETag of the version to change"
//	@Param			input		formData	UpdateInput	false	"what to change; another email address, role or suspended by an admin only"
//	@Success		200			{object}	View
//	@Failure		403			{object}	rest.Problem	"forbidden: another user; a role or a suspension without being an admin; an admin who suspends their own account"
//	@Failure		409			{object}	rest.Problem	"conflict: the email address is in use"
//	@Security		UserToken
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
	return rest.View(g, u.View())
}

// changePassword changes the caller's password.
//
//	@Summary		Change a password
//	@Description	Requires a session that was opened in the last 10 minutes, or email address and current password, and with two-factor sign-in a code or a recovery code, unless the session was opened with one. Ends all other sessions of the user. A server that calls for many clients sends the master key too, as access_token.
//	@Tags			users
//	@Param			id			path		string			true	"id, or me"
//	@Param			If-Match	header		string			false	"the ETag of the version to change"
//	@Param			input		formData	PasswordInput	true	"the new password; with two-factor sign-in also exactly one of code and recovery_code, unless the session was opened with one"
//	@Success		200			{object}	View
//	@Failure		401			{object}	rest.Problem	"unauthorized: also if email or password is wrong"
//	@Failure		403			{object}	rest.Problem	"forbidden: another user; reauthentication_required: the sign-in is more than 10 minutes old; second_factor_required: neither code nor recovery_code; suspended"
//	@Failure		429			{object}	rest.Problem	"too_many_requests: too many wrong passwords, as at sign-in, or wrong codes"
//	@Security		UserToken
//	@Security		BasicAuth
//	@x-restricted	true
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
	return rest.View(g, u.View())
}

// delete deletes a user.
//
//	@Summary		Delete a user
//	@Description	To delete their account, users send the token of a session that was opened in the last 10 minutes, or email address and password, and with two-factor sign-in a code or a recovery code, unless the session was opened with one. Admins send any user token to delete another user. A user whose address was changed less than 7 days ago can only be deleted by an admin: the former address can still undo the change.
//	@Tags			users
//	@Param			id			path		string	true	"id, or me"
//	@Param			If-Match	header		string	false	"the ETag of the version to change"
//	@Param			input		formData	access.Proof	false	"with two-factor sign-in: exactly one of code and recovery_code, unless the session was opened with one"
//	@Success		204
//	@Failure		403	{object}	rest.Problem	"forbidden: another user; reauthentication_required: the sign-in is more than 10 minutes old; second_factor_required: neither code nor recovery_code; suspended"
//	@Failure		409	{object}	rest.Problem	"conflict: other records refer to the user, or a change of the address can still be undone"
//	@Failure		429	{object}	rest.Problem	"too_many_requests: too many wrong passwords, as at sign-in, or wrong codes"
//	@Security		UserToken
//	@Security		BasicAuth
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
