package emailverification

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/rest"
)

type controller struct{ service *Service }

// request sends a verification email.
//
//	@Summary		Request a verification email
//	@Description	Emails a link that verifies the email address of the user. In the link parameter, {token} is replaced by the token. If link does not contain {token}, the token is appended to the path. If exactly one page in VERIFY_LINK_ORIGINS has a path, link is optional and defaults to that page, and an email is also sent at sign-up. At most 5 verification emails in an hour are sent to an address.
//	@Tags			email-verifications
//	@Param			input	formData	Input			false	"the link to the page that confirms the address"
//	@Success		202		{object}	Accepted		"an empty object"
//	@Failure		409		{object}	rest.Problem	"conflict: the address is already verified"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: more than 5 verification emails per address or 100 requests per network in an hour"
//	@x-tag			"Verification and change of email addresses by emailed links."
//	@Router			/users/me/email-verification [post]
func (c *controller) request(g *gin.Context) error {
	in, err := rest.Bind[Input](g)
	if err != nil {
		return c.service.links.WithErrors(err, in.Link)
	}
	limits, err := c.service.Request(g.Request.Context(), rest.Client(g), rest.Caller(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.Accepted(g, Accepted{})
}

// requestChange emails a link to the new address. With the link, the user confirms the change.
//
//	@Summary		Change the email address
//	@Description	Emails a link to the new address. The address of the user changes when the link is confirmed.
//	@Tags			email-verifications
//	@Param			input	formData	ChangeInput		true	"the new address, and the link to the page that confirms the change; if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		202		{object}	Accepted		"an empty object"
//	@Failure		401		{object}	rest.Problem	"unauthorized: the user token is missing or invalid, or email or password is wrong"
//	@Failure		409		{object}	rest.Problem	"conflict: the address is in use, or was in use until recently"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: more than 5 requests per account, 5 emails per address or 100 requests per network in an hour, too many wrong passwords (the limits of POST /auth), or too many wrong codes"
//	@Router			/users/me/email [put]
func (c *controller) requestChange(g *gin.Context) error {
	in, err := rest.Bind[ChangeInput](g)
	if err != nil {
		return c.service.links.WithErrors(err, in.Link)
	}
	limits, err := c.service.RequestChange(g.Request.Context(), rest.Client(g), rest.Caller(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.Accepted(g, Accepted{})
}

// get returns the purpose of the token in a link.
//
//	@Summary		Get an email verification
//	@Description	Returns the purpose of the link, if the link is still valid. This request does not use up the link.
//	@Tags			email-verifications
//	@Param			token	path		string	true	"the token in the link"
//	@Success		200		{object}	View
//	@Failure		404		{object}	rest.Problem	"not_found: the token is unknown, was used or has expired"
//	@Router			/email-verifications/{token} [get]
func (c *controller) get(g *gin.Context) error {
	view, err := c.service.Get(g.Request.Context(), g.Param("token"))
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return rest.OK(g, view)
}

// confirm verifies, changes or restores an address with the token in a link.
//
//	@Summary		Confirm an email verification
//	@Description	The effect depends on the purpose of the link. verify: marks the email address as verified. change: sets the new email address and ends all sessions. The former address receives an email with a link that can undo the change for 7 days. undo: restores the former email address, ends all sessions, and removes the password, linked accounts, passkeys and API keys. To set a new password, request a password reset.
//	@Tags			email-verifications
//	@Param			token	path		string	true	"the token in the link"
//	@Success		200		{object}	user.View
//	@Header			200		{string}	ETag
//	@Failure		404		{object}	rest.Problem	"not_found: the token is unknown, was used or has expired"
//	@Failure		409		{object}	rest.Problem	"conflict: the address is in use, or was in use until recently"
//	@Router			/email-verifications/{token} [put]
func (c *controller) confirm(g *gin.Context) error {
	u, err := c.service.Confirm(g.Request.Context(), g.Param("token"))
	if err != nil {
		return err
	}
	return rest.View(g, c.service.users.View(u))
}
