package user

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
)

type controller struct {
	service *Service
	list    *listing.Lister
}

// create signs a user up.
//
//	@Summary		Sign up
//	@Description	Makes an account. With PUBLIC_SIGNUP=true no master key is needed, except to choose a role.
//	@Tags			users
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			input			formData	CreateInput	true	"the account"
//	@Param			Idempotency-Key	header		string		false	"a key of the client's: the same request with the same key makes one record"
//	@Success		201				{object}	View
//	@Header			201				{string}	Location			"address of the user"
//	@Failure		400				{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401				{object}	middleware.Problem	"unauthorized: no or bad master key"
//	@Failure		403				{object}	middleware.Problem	"forbidden: a role without the master key, under PUBLIC_SIGNUP"
//	@Failure		408				{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		409				{object}	middleware.Problem	"conflict: the e-mail is taken, or the first request with this key still runs"
//	@Failure		413				{object}	middleware.Problem	"payload_too_large"
//	@Failure		415				{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		422				{object}	middleware.Problem	"idempotency_mismatch: the key was used with other parameters"
//	@Failure		429				{object}	middleware.Problem	"too_many_requests: more than 20 sign-ups of a client address in an hour, under PUBLIC_SIGNUP"
//	@Failure		503				{object}	middleware.Problem	"unavailable: the database is away, or too many sign in"
//	@Security		MasterKey
//	@Router			/users [post]
func (c *controller) create(g *gin.Context) error {
	in, err := middleware.Bind[CreateInput](g)
	if err != nil {
		return err
	}
	u, err := c.service.Create(g.Request.Context(), middleware.Client(g), in)
	if err != nil {
		return err
	}
	return middleware.Created(g, u.Meta, u.View())
}

// index lists users.
//
//	@Summary	List users
//	@Tags		users
//	@Produce	json
//	@Param		query			query		listing.Params	false	"the list"
//	@Param		If-None-Match	header		string			false	"the ETag of an earlier answer"
//	@Param		sort			query		string			false	"name, email, createdAt; - before a name for descending order"		default(-createdAt)
//	@Param		q				query		string			false	"words of name and email, each may be just the beginning of one"	maxlength(200)
//	@Param		role			query		string			false	"also role[ne], role[in]"											Enums(user, admin)
//	@Param		createdAt		query		string			false	"also createdAt[gt], [gte], [lt], [lte], [ne], [in]"				Format(date-time)
//	@Success	200				{object}	listing.Page[View]
//	@Header		200				{string}	ETag	"names what this page shows"
//	@Success	304				"not changed since that answer"
//	@Failure	400				{object}	middleware.Problem	"validation_failed"
//	@Failure	401				{object}	middleware.Problem	"unauthorized"
//	@Failure	403				{object}	middleware.Problem	"forbidden: not an admin"
//	@Failure	503				{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/users [get]
func (c *controller) index(g *gin.Context) error {
	q, err := c.list.Parse(middleware.Query(g))
	if err != nil {
		return err
	}
	page, err := c.service.List(g.Request.Context(), q)
	if err != nil {
		return err
	}
	return middleware.Page(g, page)
}

// me shows the caller.
//
//	@Summary	Show me
//	@Tags		users
//	@Produce	json
//	@Param		If-None-Match	header		string	false	"the ETag of an earlier answer"
//	@Success	200				{object}	View
//	@Header		200				{string}	ETag	"names this state of the record"
//	@Success	304				"not changed since that answer"
//	@Failure	400				{object}	middleware.Problem	"validation_failed: two different access_token"
//	@Failure	401				{object}	middleware.Problem	"unauthorized"
//	@Failure	503				{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/users/me [get]
func (c *controller) me(g *gin.Context) error {
	u, err := c.service.Get(g.Request.Context(), middleware.Caller(g).UserID)
	if err != nil {
		return err
	}
	return middleware.Record(g, u.Meta, u.View())
}

// show shows a user.
//
//	@Summary				Show a user
//	@Description			Everyone sees id, name and picture; the user and admins, who send their token, see the rest too.
//	@Tags					users
//	@Produce				json
//	@Param					id				path		string	true	"id"
//	@Param					If-None-Match	header		string	false	"the ETag of an earlier answer"
//	@Success				200				{object}	AnyView	"without email, role and createdAt for others"
//	@Header					200				{string}	ETag	"names this state of the record"
//	@Success				304				"not changed since that answer"
//	@Failure				400				{object}	middleware.Problem	"validation_failed: two different access_token"
//	@Failure				401				{object}	middleware.Problem	"unauthorized: a bad token"
//	@Failure				404				{object}	middleware.Problem	"not_found"
//	@Failure				503				{object}	middleware.Problem	"unavailable"
//	@Security				UserToken
//	@x-optional-security	true
//	@Router					/users/{id} [get]
func (c *controller) show(g *gin.Context) error {
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	u, err := c.service.Get(g.Request.Context(), id)
	if err != nil {
		return err
	}
	if caller := middleware.Caller(g); caller.Is(id) || caller.IsAdmin() {
		return middleware.Record(g, u.Meta, u.View())
	}
	return middleware.Record(g, u.Meta, u.Public())
}

// update changes a user.
//
//	@Summary		Change a user
//	@Description	Changes what is sent and leaves the rest. An empty name or picture goes back to its default. PUT and PATCH are the same.
//	@Tags			users
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			id			path		string		true	"id, or me"
//	@Param			If-Match	header		string		false	"the ETag for which the change is meant"
//	@Param			input		formData	UpdateInput	false	"what to change; role by an admin only"
//	@Success		200			{object}	View
//	@Failure		400			{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401			{object}	middleware.Problem	"unauthorized"
//	@Failure		403			{object}	middleware.Problem	"forbidden: another user, or a role without being an admin"
//	@Failure		404			{object}	middleware.Problem	"not_found"
//	@Failure		408			{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		412			{object}	middleware.Problem	"precondition_failed: the record has changed since"
//	@Failure		413			{object}	middleware.Problem	"payload_too_large"
//	@Failure		415			{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		503			{object}	middleware.Problem	"unavailable"
//	@Security		UserToken
//	@Router			/users/{id} [put]
//	@Router			/users/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := middleware.Bind[UpdateInput](g)
	if err != nil {
		return err
	}
	id, err := idOrMe(g)
	if err != nil {
		return err
	}
	u, err := c.service.Update(g.Request.Context(), middleware.Caller(g), id, middleware.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return middleware.Record(g, u.Meta, u.View())
}

// changePassword changes the caller's password.
//
//	@Summary		Change a password
//	@Description	Takes the user's own e-mail and present password. All of the user's sessions end.
//	@Tags			users
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			id			path		string			true	"id, or me"
//	@Param			If-Match	header		string			false	"the ETag for which the change is meant"
//	@Param			input		formData	PasswordInput	true	"the new password"
//	@Success		200			{object}	View
//	@Failure		400			{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401			{object}	middleware.Problem	"unauthorized: e-mail or password is wrong"
//	@Failure		403			{object}	middleware.Problem	"forbidden: another user"
//	@Failure		404			{object}	middleware.Problem	"not_found"
//	@Failure		408			{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		412			{object}	middleware.Problem	"precondition_failed: the record has changed since"
//	@Failure		413			{object}	middleware.Problem	"payload_too_large"
//	@Failure		415			{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		429			{object}	middleware.Problem	"too_many_requests: too many wrong passwords, as at sign-in"
//	@Failure		503			{object}	middleware.Problem	"unavailable: the database is away, or too many sign in"
//	@Security		BasicAuth
//	@Router			/users/{id}/password [put]
func (c *controller) changePassword(g *gin.Context) error {
	in, err := middleware.Bind[PasswordInput](g)
	if err != nil {
		return err
	}
	id, err := idOrMe(g)
	if err != nil {
		return err
	}
	u, err := c.service.ChangePassword(g.Request.Context(), middleware.Caller(g), id, middleware.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return middleware.Record(g, u.Meta, u.View())
}

// delete removes a user.
//
//	@Summary	Delete a user
//	@Tags		users
//	@Produce	json
//	@Param		id			path	string	true	"id, or me"
//	@Param		If-Match	header	string	false	"the ETag for which the change is meant"
//	@Success	204
//	@Failure	400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	403	{object}	middleware.Problem	"forbidden: another user"
//	@Failure	404	{object}	middleware.Problem	"not_found"
//	@Failure	408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure	412	{object}	middleware.Problem	"precondition_failed: the record has changed since"
//	@Failure	413	{object}	middleware.Problem	"payload_too_large"
//	@Failure	415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/users/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	id, err := idOrMe(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), middleware.Caller(g), id, middleware.IfMatch(g, id)); err != nil {
		return err
	}
	return middleware.NoContent(g)
}

// idOrMe is the path's id, where "me" is the caller's.
func idOrMe(g *gin.Context) (store.ID, error) {
	if g.Param("id") == "me" {
		return middleware.Caller(g).UserID, nil
	}
	return middleware.ID(g)
}
