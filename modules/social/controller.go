package social

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

type controller struct{ service *Service }

// signIn signs a user in with a provider's token or code.
//
//	@Summary		Sign in with a provider
//	@Description	Send exactly one credential from the provider: id_token (OpenID providers), code (with redirect_uri, and with code_verifier if PKCE was used), or access_token (Facebook, GitHub, Google). The provider must have issued the credential for this service. An ID token is accepted once, and at most 24 hours after it was issued. If nonce is given, it must be the nonce of the ID token. If the provider's account is not linked yet, it is linked to the user with the same email address, provided that both the provider and this service have verified the address. If there is no such user, a user is created. If the Authorization header has a user token, the provider's account is linked to that user instead, and the session of the token must have been opened within the last 10 minutes. If the account cannot be linked, detail in the error states what to do. Returns the tokens of a new session. Existing sessions continue.
//	@Tags			auth
//	@Param			provider	path		string	true	"id of the provider in GET /auth/providers"	example(google)
//	@Param			input		formData	Proof	false	"exactly one of access_token, id_token and code"
//	@Success		201			{object}	user.SignedIn
//	@Failure		400			{object}	rest.Problem	"validation_failed: for example, not exactly one of access_token, id_token and code; malformed_body"
//	@Failure		401			{object}	rest.Problem	"unauthorized: the provider rejects the token or code, the ID token was used before or has another nonce, or the user token in the header is invalid"
//	@Failure		403			{object}	rest.Problem	"reauthentication_required: the session of the user token was opened more than 10 minutes ago; suspended: an admin has suspended the account"
//	@Failure		404			{object}	rest.Problem	"not_found: the provider is not configured"
//	@Failure		409			{object}	rest.Problem	"conflict: the provider's account has no verified email address or cannot be linked"
//	@Failure		429			{object}	rest.Problem	"too_many_requests: from a network, more than 300 requests or 100 rejected tokens or codes in 15 minutes, or more than 20 new users in an hour"
//	@Router			/auth/{provider} [post]
func (c *controller) signIn(g *gin.Context, provider string) error {
	proof, err := rest.Bind[Proof](g)
	if err != nil {
		return apperr.JoinInvalid(err, proof.check())
	}
	result, limits, err := c.service.SignIn(g.Request.Context(), rest.Caller(g), rest.Client(g), provider, proof)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, result)
}

// providers lists the configured providers.
//
//	@Summary		List providers
//	@Description	Returns what a sign-in page needs to show a button for each provider. Providers that are unavailable are omitted. To sign in, open authorizationUrl with the parameters response_type=code, client_id, redirect_uri, scope and state, and with code_challenge if pkce is true. See the guide docs/providers.md.
//	@Tags			auth
//	@Success		200	{object}	ProviderList
//	@Router			/auth/providers [get]
func (c *controller) providers(g *gin.Context) error {
	return rest.OK(g, c.service.Providers(g.Request.Context()))
}

// list lists the caller's linked accounts.
//
//	@Summary	List my linked accounts
//	@Tags		auth
//	@Success	200	{object}	IdentityList
//	@Router		/auth/identities [get]
func (c *controller) list(g *gin.Context) error {
	list, err := c.service.List(g.Request.Context(), rest.Caller(g))
	if err != nil {
		return err
	}
	return rest.OK(g, list)
}

// unlink removes one of the caller's linked accounts.
//
//	@Summary		Unlink an account
//	@Description	The user's only sign-in method cannot be removed. Set a password with a password reset first.
//	@Tags			auth
//	@Param			provider	path	string	true	"id of the provider in GET /auth/providers"	example(google)
//	@Success		204
//	@Failure		404	{object}	rest.Problem	"not_found: no account of the provider is linked"
//	@Failure		409	{object}	rest.Problem	"conflict: the account is the user's only sign-in method"
//	@Router			/auth/identities/{provider} [delete]
func (c *controller) unlink(g *gin.Context) error {
	if err := c.service.Unlink(g.Request.Context(), rest.Caller(g), g.Param("provider")); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// listOf lists the linked accounts of a user.
//
//	@Summary	List the linked accounts of a user
//	@Tags		auth
//	@Success	200	{object}	IdentityList
//	@Router		/users/{id}/identities [get]
func (c *controller) listOf(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	list, err := c.service.ListOf(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.OK(g, list)
}

// unlinkOf removes a linked account of a user.
//
//	@Summary		Unlink an account of a user
//	@Description	Unlinks the account and notifies the user by email. If it was the only sign-in method of the user, the user sets a password with a password reset. To end the sessions that were opened with the account, call DELETE /users/{id}/sessions.
//	@Tags			auth
//	@Param			id			path		string			true	"id of the user"
//	@Param			provider	path		string			true	"id of the provider in GET /auth/providers"	example(google)
//	@Param			input		formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		404	{object}	rest.Problem	"not_found: no account of the provider is linked"
//	@Failure		409	{object}	rest.Problem	"conflict: the user is the caller, and the account is their only sign-in method"
//	@Router			/users/{id}/identities/{provider} [delete]
func (c *controller) unlinkOf(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.UnlinkOf(g.Request.Context(), rest.Caller(g), id, g.Param("provider")); err != nil {
		return err
	}
	return rest.NoContent(g)
}
