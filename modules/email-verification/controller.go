package emailverification

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/rest"
)

type controller struct{ service *Service }

// request sends a verification email.
//
//	@Summary		Request a verification email
//	@Description	Sends a link to the email address of the user. {token} in the link is replaced by the token; without it, the token is appended to the path. The link can be left out if exactly one page in VERIFY_LINK_ORIGINS has a path: then it is that page, and an email is also sent at sign-up. An address gets at most 5 verification emails in an hour.
//	@Tags			email-verifications
//	@Param			input	formData	Input			false	"the page that confirms the address"
//	@Success		202		{object}	Accepted		"an empty object"
//	@Failure		409		{object}	rest.Problem	"conflict: the address is verified"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: 5 verification emails to the address, or 100 requests from a network, in an hour"
//	@Security		UserToken
//	@x-tag			"Verification and change of email addresses by emailed links."
//	@x-restricted	true
//	@Router			/users/me/email-verification [post]
func (c *controller) request(g *gin.Context) error {
	in, err := rest.Bind[Input](g)
	if err != nil {
		return err
	}
	limits, err := c.service.Request(g.Request.Context(), rest.Client(g), rest.Caller(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.Accepted(g, Accepted{})
}

// requestChange sends an email to another address.
//
//	@Summary		Change the email address
//	@Description	Sends a link to the new address. The address changes when the link is confirmed. Requires a session that was opened in the last 10 minutes, or email address and password, and with two-factor sign-in a code or a recovery code, unless the session was opened with one.
//	@Tags			email-verifications
//	@Param			input	formData	ChangeInput		true	"the new address, and the page that confirms it; with two-factor sign-in also exactly one of code and recovery_code, unless the session was opened with one"
//	@Success		202		{object}	Accepted		"an empty object"
//	@Failure		401		{object}	rest.Problem	"unauthorized: also if email or password is wrong"
//	@Failure		403		{object}	rest.Problem	"reauthentication_required: the sign-in is more than 10 minutes old; second_factor_required: neither code nor recovery_code; suspended: by an admin"
//	@Failure		409		{object}	rest.Problem	"conflict: the address is in use, or was until recently"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: 5 requests of the account, 5 such emails to the address or 100 requests from a network in an hour, or too many wrong passwords, as at sign-in, or wrong codes"
//	@Security		UserToken
//	@Security		BasicAuth
//	@x-restricted	true
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
//	@Description	Returns what the link does, if it is still valid. Does not use it up.
//	@Tags			email-verifications
//	@Param			token	path		string	true	"the token in the link"
//	@Success		200		{object}	View
//	@Failure		404		{object}	rest.Problem	"not_found: unknown, used or expired"
//	@x-restricted	true
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
//	@Description	verify: marks the address as verified. change: gives the user the new address and ends all sessions; the former address gets an email with a link that undoes the change within 7 days. undo: gives the user the former address, ends all sessions, unlinks the provider accounts and removes the password, which a password reset sets again.
//	@Tags			email-verifications
//	@Param			token	path		string	true	"the token in the link"
//	@Success		200		{object}	user.View
//	@Header			200		{string}	ETag
//	@Failure		404		{object}	rest.Problem	"not_found: unknown, used or expired"
//	@Failure		409		{object}	rest.Problem	"conflict: the address is in use, or was until recently"
//	@x-restricted	true
//	@Router			/email-verifications/{token} [put]
func (c *controller) confirm(g *gin.Context) error {
	u, err := c.service.Confirm(g.Request.Context(), g.Param("token"))
	if err != nil {
		return err
	}
	return rest.View(g, u.View())
}
