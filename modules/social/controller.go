package social

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/rest"
)

type controller struct{ service *Service }

// signIn signs a user in with a provider's token or code.
//
//	@Summary				Sign in with a provider
//	@Description			Takes what the client received from a provider: id_token of an OpenID provider, or code with redirect_uri, and code_verifier with PKCE, or access_token of Facebook, GitHub or Google. It must be issued for this service. A new person gets an account, or is linked to the user with the same email address if both the provider and this service have verified it. With a user token in the Authorization header, of a session that was opened in the last 10 minutes, the provider's account is linked to that user instead. The response opens a new session; an existing one continues.
//	@Tags					auth
//	@Param					provider	path		string	true	"its id in GET /auth/providers"	example(google)
//	@Param					input		formData	Proof	false	"exactly one of access_token, id_token and code"
//	@Success				201			{object}	user.SignedIn
//	@Failure				400			{object}	rest.Problem	"validation_failed: also none or several of access_token, id_token and code; malformed_body"
//	@Failure				401			{object}	rest.Problem	"unauthorized: the provider's token or code, or the user token in the header, is rejected"
//	@Failure				403			{object}	rest.Problem	"reauthentication_required: the sign-in is more than 10 minutes old, with a user token; suspended: an admin has suspended the account"
//	@Failure				404			{object}	rest.Problem	"not_found: the provider is not configured"
//	@Failure				409			{object}	rest.Problem	"conflict: no verified email address, or linking is not possible; detail explains what to do"
//	@Failure				429			{object}	rest.Problem	"too_many_requests: 100 rejected tokens or codes from a network in 15 minutes, or 20 new users in an hour"
//	@Security				UserToken
//	@x-optional-security	true
//	@Router					/auth/{provider} [post]
func (c *controller) signIn(g *gin.Context, provider string) error {
	proof, err := rest.Bind[Proof](g)
	if err != nil {
		return err
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
//	@Summary		List the providers
//	@Description	What a page needs for its buttons. Providers that are unavailable are omitted. To sign in, open authorizationUrl with the parameters response_type=code, client_id, redirect_uri, scope and state, and with code_challenge if pkce is true. See the guide.
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
//	@Security	UserToken
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
//	@Description	The last way to sign in cannot be removed: set a password by a reset first.
//	@Tags			auth
//	@Param			provider	path	string	true	"its id in GET /auth/providers"	example(google)
//	@Success		204
//	@Failure		404	{object}	rest.Problem	"not_found: no account of the provider is linked"
//	@Failure		409	{object}	rest.Problem	"conflict: it is the last way to sign in"
//	@Security		UserToken
//	@Router			/auth/identities/{provider} [delete]
func (c *controller) unlink(g *gin.Context) error {
	if err := c.service.Unlink(g.Request.Context(), rest.Caller(g), g.Param("provider")); err != nil {
		return err
	}
	return rest.NoContent(g)
}
