package social

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/middleware"
)

type controller struct{ service *Service }

// signIn trades a provider's token or code for tokens of ours.
//
//	@Summary				Sign in with a provider
//	@Description			Takes what a provider gave the client: access_token, or id_token (google), or code with redirect_uri, and code_verifier if the code was asked for with PKCE. It must have been given to this service's own client at the provider. Somebody who is new gets an account, or is linked to the account with the same e-mail address if both the provider and we have verified it. With a user token in the header it links the provider's account to that user instead; the answer opens a session of its own, and the one before goes on.
//	@Tags					auth
//	@Accept					x-www-form-urlencoded,mpfd,json
//	@Produce				json
//	@Param					provider	path		string	true	"the provider"	Enums(facebook, github, google)
//	@Param					input		formData	Proof	false	"just one of access_token, id_token and code"
//	@Success				201			{object}	user.SignedIn
//	@Failure				400			{object}	middleware.Problem	"validation_failed: also none or several of the three; malformed_body"
//	@Failure				401			{object}	middleware.Problem	"unauthorized: the provider's token or code, or a user token in the header, is not accepted"
//	@Failure				404			{object}	middleware.Problem	"not_found: this service has no client at such a provider"
//	@Failure				408			{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure				409			{object}	middleware.Problem	"conflict: no verified e-mail, or linking is refused; detail says how to go on"
//	@Failure				413			{object}	middleware.Problem	"payload_too_large"
//	@Failure				415			{object}	middleware.Problem	"unsupported_media_type"
//	@Failure				429			{object}	middleware.Problem	"too_many_requests: 100 refused tokens or codes from a client address in 15 minutes, or 20 new users in an hour"
//	@Failure				503			{object}	middleware.Problem	"unavailable: the provider or the database is away"
//	@Security				UserToken
//	@x-optional-security	true
//	@Router					/auth/{provider} [post]
func (c *controller) signIn(g *gin.Context) error {
	proof, err := middleware.Bind[Proof](g)
	if err != nil {
		return err
	}
	result, err := c.service.SignIn(g.Request.Context(), middleware.Caller(g), middleware.Client(g), g.Param("provider"), proof)
	if err != nil {
		return err
	}
	return middleware.CreatedSecret(g, result)
}

// index lists the caller's linked accounts.
//
//	@Summary	List my linked accounts
//	@Tags		auth
//	@Produce	json
//	@Success	200	{object}	IdentityList
//	@Failure	400	{object}	middleware.Problem	"validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/auth/identities [get]
func (c *controller) index(g *gin.Context) error {
	list, err := c.service.List(g.Request.Context(), middleware.Caller(g))
	if err != nil {
		return err
	}
	return middleware.OK(g, list)
}

// unlink removes one of the caller's linked accounts.
//
//	@Summary		Unlink an account
//	@Description	The last way to sign in cannot be removed: set a password by a reset first.
//	@Tags			auth
//	@Produce		json
//	@Param			provider	path	string	true	"the provider"	Enums(facebook, github, google)
//	@Success		204
//	@Failure		400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure		401	{object}	middleware.Problem	"unauthorized"
//	@Failure		404	{object}	middleware.Problem	"not_found: no account of the provider is linked"
//	@Failure		408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		409	{object}	middleware.Problem	"conflict: it is the last way to sign in"
//	@Failure		413	{object}	middleware.Problem	"payload_too_large"
//	@Failure		415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		503	{object}	middleware.Problem	"unavailable"
//	@Security		UserToken
//	@Router			/auth/identities/{provider} [delete]
func (c *controller) unlink(g *gin.Context) error {
	if err := c.service.Unlink(g.Request.Context(), middleware.Caller(g), g.Param("provider")); err != nil {
		return err
	}
	return middleware.NoContent(g)
}
