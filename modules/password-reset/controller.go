package passwordreset

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/rest"
	"example.com/ginseng/modules/user"
)

type controller struct{ service *Service }

// create requests a reset.
//
//	@Summary				Request a password reset
//	@Description			Emails a link to the user with the email address. The response does not reveal whether there is such a user. In the link parameter, {token} is replaced by the token. If link does not contain {token}, the token is appended to the path. If exactly one page in RESET_LINK_ORIGINS has a path, link is optional and defaults to that page. With PUBLIC_SIGNIN=true, the master key is not required. At most 5 emails in an hour are sent to an address.
//	@Tags					password-resets
//	@Param					input	formData	CreateInput		true	"the email address, and the link to the page that sets the new password"
//	@Success				202		{object}	Accepted		"an empty object, even if the address is unknown"
//	@Failure				429		{object}	rest.Problem	"too_many_requests: more than 100 requests from a network in an hour without the master key"
//	@x-optional-security	true
//	@x-tag					"Reset of a forgotten password by an emailed link."
//	@Router					/password-resets [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[CreateInput](g)
	if err != nil {
		return c.service.links.WithErrors(err, in.Link)
	}
	limits, err := c.service.Create(g.Request.Context(), rest.Client(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.Accepted(g, Accepted{})
}

// get returns a reset.
//
//	@Summary		Get a password reset
//	@Description	Returns the user of the link, if the link is still valid. This request does not use up the link.
//	@Tags			password-resets
//	@Param			token	path		string	true	"the token in the link"
//	@Success		200		{object}	View
//	@Failure		404		{object}	rest.Problem	"not_found: the token is unknown, was used or has expired"
//	@Router			/password-resets/{token} [get]
func (c *controller) get(g *gin.Context) error {
	view, err := c.service.Get(g.Request.Context(), g.Param("token"))
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return rest.OK(g, view)
}

// complete sets the new password.
//
//	@Summary		Set a new password
//	@Description	Sets the password and marks the email address as verified. Ends all sessions of the user, invalidates all resets, linked accounts, passkeys and API keys, and resets the rate limits of sign-ins to the account.
//	@Tags			password-resets
//	@Param			token	path		string				true	"the token in the link"
//	@Param			input	formData	user.PasswordInput	true	"the new password"
//	@Success		200		{object}	user.View
//	@Header			200		{string}	ETag
//	@Failure		404		{object}	rest.Problem	"not_found: the token is unknown, was used or has expired"
//	@Router			/password-resets/{token} [put]
func (c *controller) complete(g *gin.Context) error {
	in, err := rest.Bind[user.PasswordInput](g)
	if err != nil {
		return err
	}
	u, err := c.service.Complete(g.Request.Context(), rest.Client(g), g.Param("token"), in.Password)
	if err != nil {
		return err
	}
	return rest.View(g, c.service.users.View(u))
}
