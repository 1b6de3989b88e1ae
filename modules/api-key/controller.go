package apikey

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

type controller struct{ service *Service }

// create creates a key.
//
//	@Summary		Create an API key
//	@Description	The key is returned only in this response. A program sends the key as Authorization: Bearer KEY, and acts as the user on the resources that the scopes name. If a scope is unknown, the error lists the valid scopes. A user can have at most 50 keys.
//	@Tags			api-keys
//	@Accept			json,x-www-form-urlencoded,mpfd
//	@Param			input	formData	CreateInput	true	"the key"
//	@Success		201		{object}	Created
//	@Failure		401		{object}	rest.Problem	"unauthorized: the user token is missing or invalid, or email or password is wrong"
//	@Failure		403		{object}	rest.Problem	"forbidden: only admins can create a key with the scope admin"
//	@Failure		409		{object}	rest.Problem	"conflict: the user already has 50 API keys"
//	@x-tag			"Keys with which programs act as a user on selected resources."
//	@Router			/users/me/api-keys [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[CreateInput](g)
	if err != nil {
		_, invalid := c.service.check(in)
		return apperr.JoinInvalid(err, invalid)
	}
	created, err := c.service.Create(g.Request.Context(), rest.Caller(g), in)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, created)
}

// list lists the keys of a user.
//
//	@Summary	List API keys
//	@Tags		api-keys
//	@Param		id	path		string	true	"id of the user, or me"
//	@Success	200	{object}	List
//	@Failure	403	{object}	rest.Problem	"forbidden: the caller is neither the user nor an admin"
//	@Router		/users/{id}/api-keys [get]
func (c *controller) list(g *gin.Context) error {
	userID, err := user.IDOrMe(g)
	if err != nil {
		return err
	}
	list, err := c.service.List(g.Request.Context(), rest.Caller(g), userID)
	if err != nil {
		return err
	}
	return rest.OK(g, list)
}

// get returns a key.
//
//	@Summary	Get an API key
//	@Tags		api-keys
//	@Param		id	path		string	true	"id of the user, or me"
//	@Success	200	{object}	View
//	@Failure	403	{object}	rest.Problem	"forbidden: the caller is neither the user nor an admin"
//	@Router		/users/{id}/api-keys/{keyId} [get]
func (c *controller) get(g *gin.Context) error {
	userID, id, err := ids(g)
	if err != nil {
		return err
	}
	k, err := c.service.Get(g.Request.Context(), rest.Caller(g), userID, id)
	if err != nil {
		return err
	}
	return rest.OK(g, k.View())
}

// delete deletes a key.
//
//	@Summary		Delete an API key
//	@Description	The key becomes invalid immediately. For a key of another user, requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
//	@Tags			api-keys
//	@Param			id		path		string			true	"id of the user, or me"
//	@Param			keyId	path		string			true	"id of the API key"
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Router			/users/{id}/api-keys/{keyId} [delete]
func (c *controller) delete(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	userID, id, err := ids(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), rest.Caller(g), userID, id); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// ids returns the IDs of the user and the key in the path. NotFound: an ID is malformed.
func ids(g *gin.Context) (userID, id store.ID, err error) {
	if userID, err = user.IDOrMe(g); err == nil {
		id, err = rest.PathID(g, "keyId")
	}
	return userID, id, err
}
