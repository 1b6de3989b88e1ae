package auth

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/modules/user"
)

type controller struct {
	service *Service
	lister  *listing.Lister
}

// signIn signs a user in.
//
//	@Summary		Sign in
//	@Description	Send email and password as HTTP Basic. Also send the master key as access_token, unless PUBLIC_SIGNIN=true. Returns a user token and a refresh token. Send the user token as Authorization: Bearer TOKEN, or as access_token in the body or query. Before the user token expires, send refreshToken to POST /auth/refresh. A user can have at most 50 sessions. The next sign-in ends the least recently used session.
//	@Tags			auth
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Success		201	{object}	user.SignedIn
//	@Failure		401	{object}	rest.Problem	"unauthorized: the master key is missing or wrong, or email or password is wrong"
//	@Failure		403	{object}	rest.Problem	"suspended: the password is right, but an admin has suspended the account"
//	@Failure		429	{object}	rest.Problem	"too_many_requests: too many wrong passwords in 15 minutes (10 for an account from a network, 100 for an account, or 100 from a network without the master key)"
//	@Security		BasicAuth && MasterKey
//	@x-tag			"Sign-in, sessions and their tokens."
//	@x-intro		"**Try it on this page:**\n1. *Authorize* MasterKey with the `MASTER_KEY` of `.env`.\n2. Execute *Sign up*.\n3. *Authorize* BasicAuth with the email and password of the user.\n4. Execute *Sign in*. The page sends the token of the response with all calls that require one."
//	@Router			/auth [post]
func (c *controller) signIn(g *gin.Context) error {
	email, password, given := rest.BasicAuth(g)
	if !given {
		return apperr.New(apperr.Unauthorized, "Email and password are missing. Send them as Authorization: Basic.")
	}
	if _, err := rest.Bind[struct{}](g); err != nil { // no parameters besides access_token
		return err
	}
	result, limits, err := c.service.SignIn(g.Request.Context(), rest.Client(g), email, password)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, result)
}

// signOut ends the session of the token.
//
//	@Summary	Sign out
//	@Tags		auth
//	@Success	204
//	@Router		/auth [delete]
func (c *controller) signOut(g *gin.Context) error {
	if err := c.service.SignOut(g.Request.Context(), rest.Caller(g)); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// refresh replaces a refresh token.
//
//	@Summary		Refresh a session
//	@Description	Returns a new user token and a new refresh token, which replaces the old refresh token. For 30 seconds, the old refresh token can be sent again and returns the same new refresh token, for example after a lost response or from a second tab. After that, a request with the old refresh token ends the session. An expired user token in the Authorization header is ignored.
//	@Tags			auth
//	@Param			input	formData	RefreshInput	true	"the refresh token"
//	@Success		201		{object}	user.SignedIn
//	@Failure		401		{object}	rest.Problem	"unauthorized: the refresh token is unknown, has expired or was already used"
//	@Failure		403		{object}	rest.Problem	"suspended: an admin has suspended the account"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: more than 100 invalid refresh tokens from a network in 15 minutes"
//	@Router			/auth/refresh [post]
func (c *controller) refresh(g *gin.Context) error {
	in, err := rest.Bind[RefreshInput](g)
	if err != nil {
		return err
	}
	result, limits, err := c.service.Refresh(g.Request.Context(), rest.Client(g), in.RefreshToken)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, result)
}

// list lists the caller's sessions.
//
//	@Summary	List my sessions
//	@Tags		auth
//	@Param		query	query		listing.Params	false	"the parameters of the list"
//	@Success	200		{object}	listing.Page[SessionView]
//	@Router		/auth/sessions [get]
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

// listOf lists the sessions of a user.
//
//	@Summary	List the sessions of a user
//	@Tags		auth
//	@Param		query	query		listing.Params	false	"the parameters of the list"
//	@Success	200		{object}	listing.Page[SessionView]
//	@Router		/users/{id}/sessions [get]
func (c *controller) listOf(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	q, err := c.lister.Parse(rest.Query(g), id)
	if err != nil {
		return err
	}
	page, err := c.service.ListOf(g.Request.Context(), rest.Caller(g), id, q)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

// end ends one of the caller's sessions.
//
//	@Summary	End a session
//	@Tags		auth
//	@Param		id	path	string	true	"id of one of the caller's sessions"
//	@Success	204
//	@Failure	404	{object}	rest.Problem	"not_found: the caller has no such session"
//	@Router		/auth/sessions/{id} [delete]
func (c *controller) end(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.End(g.Request.Context(), rest.Caller(g), id); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// endOf ends a session of a user.
//
//	@Summary		End a session of a user
//	@Description	Ends the session and notifies the user by email.
//	@Tags			auth
//	@Param			id			path		string			true	"id of the user"
//	@Param			sessionId	path		string			true	"id of the session"
//	@Param			input		formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		404	{object}	rest.Problem	"not_found: the user has no such session"
//	@Router			/users/{id}/sessions/{sessionId} [delete]
func (c *controller) endOf(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	userID, err := rest.ID(g)
	if err != nil {
		return err
	}
	id, err := rest.PathID(g, "sessionId")
	if err != nil {
		return err
	}
	if err := c.service.EndOf(g.Request.Context(), rest.Caller(g), userID, id); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// endOthers ends all of the caller's sessions except the current session.
//
//	@Summary	End my other sessions
//	@Tags		auth
//	@Success	204
//	@Router		/auth/sessions [delete]
func (c *controller) endOthers(g *gin.Context) error {
	if err := c.service.EndOthers(g.Request.Context(), rest.Caller(g)); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// endAll ends all sessions of a user.
//
//	@Summary		End all sessions of a user
//	@Description	Also invalidates the links that the user has received by email. Links that undo a change of the email address stay valid, unless an admin ends the sessions of another user. For another user, requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
//	@Tags			auth
//	@Param			id		path		string			true	"id of the user, or me"
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@x-restricted	false
//	@Router			/users/{id}/sessions [delete]
func (c *controller) endAll(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := user.IDOrMe(g)
	if err != nil {
		return err
	}
	if err := c.service.EndAll(g.Request.Context(), rest.Caller(g), id); err != nil {
		return err
	}
	return rest.NoContent(g)
}
