package passwordreset

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/middleware"
	"example.com/ginseng/modules/user"
)

type controller struct{ service *Service }

// create asks for a reset.
//
//	@Summary		Ask for a password reset
//	@Description	Mails a link to the user with the e-mail, if there is one; the answer does not tell. {token} in the link is replaced, else the token is added to its path. With PUBLIC_SIGNUP=true no master key is needed. An account gets at most 5 mails in an hour.
//	@Tags			password-resets
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			input	formData	CreateInput			true	"whose password, and the page of the frontend that sets the new one"
//	@Success		202		{object}	Accepted			"an empty object, whether or not the address is known"
//	@Failure		400		{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401		{object}	middleware.Problem	"unauthorized: no or bad master key"
//	@Failure		408		{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		413		{object}	middleware.Problem	"payload_too_large"
//	@Failure		415		{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		429		{object}	middleware.Problem	"too_many_requests: 100 from a client address in an hour, without the master key"
//	@Failure		503		{object}	middleware.Problem	"unavailable: the database is away, or too many mails wait"
//	@Security		MasterKey
//	@Router			/password-resets [post]
func (c *controller) create(g *gin.Context) error {
	in, err := middleware.Bind[CreateInput](g)
	if err != nil {
		return err
	}
	if err := c.service.Create(g.Request.Context(), middleware.Client(g), in); err != nil {
		return err
	}
	return middleware.Accepted(g, Accepted{})
}

// show shows a reset.
//
//	@Summary		Show a password reset
//	@Description	Tells a frontend whose password the link is for, and whether it is still good. It can be asked again.
//	@Tags			password-resets
//	@Produce		json
//	@Param			token	path		string	true	"the token in the mail's link"
//	@Success		200		{object}	View
//	@Failure		400		{object}	middleware.Problem	"validation_failed: two different access_token"
//	@Failure		401		{object}	middleware.Problem	"unauthorized: a bad user token"
//	@Failure		404		{object}	middleware.Problem	"not_found: unknown, used or expired"
//	@Failure		503		{object}	middleware.Problem	"unavailable"
//	@Router			/password-resets/{token} [get]
func (c *controller) show(g *gin.Context) error {
	view, err := c.service.Get(g.Request.Context(), g.Param("token"))
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return middleware.OK(g, view)
}

// complete sets the new password.
//
//	@Summary		Set a new password
//	@Description	Uses the reset up. All sessions and resets of the user end, and the e-mail counts as verified.
//	@Tags			password-resets
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			token	path		string				true	"the token in the mail's link"
//	@Param			input	formData	user.PasswordInput	true	"the new password"
//	@Success		200		{object}	user.View
//	@Failure		400		{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401		{object}	middleware.Problem	"unauthorized: a bad user token"
//	@Failure		404		{object}	middleware.Problem	"not_found: unknown, used or expired"
//	@Failure		408		{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		413		{object}	middleware.Problem	"payload_too_large"
//	@Failure		415		{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		503		{object}	middleware.Problem	"unavailable: the database is away, or too many sign in"
//	@Router			/password-resets/{token} [put]
func (c *controller) complete(g *gin.Context) error {
	in, err := middleware.Bind[user.PasswordInput](g)
	if err != nil {
		return err
	}
	u, err := c.service.Complete(g.Request.Context(), g.Param("token"), in.Password)
	if err != nil {
		return err
	}
	return middleware.Record(g, u.Meta, u.View())
}
