package auth

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/internal/apperr"
	"example.com/ginseng/middleware"
)

type controller struct{ service *Service }

// signIn trades an e-mail and a password for a token.
//
//	@Summary		Sign in
//	@Description	Takes e-mail and password as HTTP Basic, and the master key as access_token (not with PUBLIC_SIGNUP=true). Send the token of the answer as access_token in a body or query, or as Authorization: Bearer.
//	@Tags			auth
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Success		201	{object}	Result
//	@Failure		400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure		401	{object}	middleware.Problem	"unauthorized: no or bad master key, e-mail or password is wrong"
//	@Failure		408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		413	{object}	middleware.Problem	"payload_too_large"
//	@Failure		415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		503	{object}	middleware.Problem	"unavailable: the database is away, or too many sign in"
//	@Security		BasicAuth && MasterKey
//	@Router			/auth [post]
func (c *controller) signIn(g *gin.Context) error {
	email, password, given := middleware.Basic(g)
	if !given {
		return apperr.New(apperr.Unauthorized, "E-mail and password are missing. Send them as Authorization: Basic.")
	}
	client := Client{UserAgent: g.Request.UserAgent(), IP: g.ClientIP()}
	result, err := c.service.SignIn(g.Request.Context(), email, password, client)
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
