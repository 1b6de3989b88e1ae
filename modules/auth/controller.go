package auth

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/middleware"
)

type controller struct{ service *Service }

// signIn trades an e-mail and a password for tokens.
//
//	@Summary		Sign in
//	@Description	Takes e-mail and password as HTTP Basic, and the master key as access_token (not with PUBLIC_SIGNUP=true). Send the token of the answer as access_token in a body or query, or as Authorization: Bearer; before it expires, trade the refreshToken at POST /auth/refresh.
//	@Tags			auth
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Success		201	{object}	user.SignedIn
//	@Failure		400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure		401	{object}	middleware.Problem	"unauthorized: no or bad master key, e-mail or password is wrong"
//	@Failure		408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		413	{object}	middleware.Problem	"payload_too_large"
//	@Failure		415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		429	{object}	middleware.Problem	"too_many_requests: 10 wrong passwords for an account from a client address in 15 minutes, or 100 for an account, or 100 from an address without the master key"
//	@Failure		503	{object}	middleware.Problem	"unavailable: the database is away, or too many sign in"
//	@Security		BasicAuth && MasterKey
//	@Router			/auth [post]
func (c *controller) signIn(g *gin.Context) error {
	email, password, given := middleware.Basic(g)
	if !given {
		return apperr.New(apperr.Unauthorized, "E-mail and password are missing. Send them as Authorization: Basic.")
	}
	result, err := c.service.SignIn(g.Request.Context(), middleware.Client(g), email, password)
	if err != nil {
		return err
	}
	return middleware.CreatedSecret(g, result)
}

// signOut ends the session of the token.
//
//	@Summary	Sign out
//	@Tags		auth
//	@Produce	json
//	@Success	204
//	@Failure	400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure	413	{object}	middleware.Problem	"payload_too_large"
//	@Failure	415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/auth [delete]
func (c *controller) signOut(g *gin.Context) error {
	if err := c.service.SignOut(g.Request.Context(), middleware.Caller(g)); err != nil {
		return err
	}
	return middleware.NoContent(g)
}

// refresh trades a refresh token for the next pair of tokens.
//
//	@Summary		Refresh
//	@Description	Trades a refresh token for a fresh user token and the next refresh token. Keep both, and forget the old ones. For 30 seconds the old refresh token gives the same next one again (two tabs, a lost answer); after that its use ends the session.
//	@Tags			auth
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			input	formData	RefreshInput	true	"the refresh token"
//	@Success		201		{object}	user.SignedIn
//	@Failure		400		{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401		{object}	middleware.Problem	"unauthorized: the refresh token is unknown, expired, or was used before"
//	@Failure		408		{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		413		{object}	middleware.Problem	"payload_too_large"
//	@Failure		415		{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		429		{object}	middleware.Problem	"too_many_requests: 100 bad refresh tokens from a client address in 15 minutes"
//	@Failure		503		{object}	middleware.Problem	"unavailable"
//	@Router			/auth/refresh [post]
func (c *controller) refresh(g *gin.Context) error {
	in, err := middleware.Bind[RefreshInput](g)
	if err != nil {
		return err
	}
	result, err := c.service.Refresh(g.Request.Context(), middleware.Client(g), in.RefreshToken)
	if err != nil {
		return err
	}
	return middleware.CreatedSecret(g, result)
}

// index lists the caller's sessions.
//
//	@Summary	List my sessions
//	@Tags		auth
//	@Produce	json
//	@Success	200	{object}	SessionList
//	@Failure	400	{object}	middleware.Problem	"validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/auth/sessions [get]
func (c *controller) index(g *gin.Context) error {
	list, err := c.service.List(g.Request.Context(), middleware.Caller(g))
	if err != nil {
		return err
	}
	return middleware.OK(g, list)
}

// end ends one of the caller's sessions.
//
//	@Summary	End a session
//	@Tags		auth
//	@Produce	json
//	@Param		id	path	string	true	"id of one of the caller's sessions"
//	@Success	204
//	@Failure	400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	404	{object}	middleware.Problem	"not_found: no such session, or another user's"
//	@Failure	408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure	413	{object}	middleware.Problem	"payload_too_large"
//	@Failure	415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/auth/sessions/{id} [delete]
func (c *controller) end(g *gin.Context) error {
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.End(g.Request.Context(), middleware.Caller(g), id); err != nil {
		return err
	}
	return middleware.NoContent(g)
}

// endOthers ends all of the caller's sessions but the one that asks.
//
//	@Summary	End my other sessions
//	@Tags		auth
//	@Produce	json
//	@Success	204
//	@Failure	400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure	413	{object}	middleware.Problem	"payload_too_large"
//	@Failure	415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/auth/sessions [delete]
func (c *controller) endOthers(g *gin.Context) error {
	if err := c.service.EndOthers(g.Request.Context(), middleware.Caller(g)); err != nil {
		return err
	}
	return middleware.NoContent(g)
}
