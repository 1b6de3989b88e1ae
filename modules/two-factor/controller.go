package twofactor

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

type controller struct{ service *Service }

// get returns the state of the caller's second factor.
//
//	@Summary	Get my second factor
//	@Tags		two-factor
//	@Success	200	{object}	View
//	@x-tag		"One-time codes of an authenticator app, in addition to a password or a provider."
//	@Router		/users/me/two-factor [get]
func (c *controller) get(g *gin.Context) error {
	view, err := c.service.Get(g.Request.Context(), rest.Caller(g).UserID)
	if err != nil {
		return err
	}
	return rest.OK(g, view)
}

// getOf returns the state of a user's second factor.
//
//	@Summary	Get a user's second factor
//	@Tags		two-factor
//	@Success	200	{object}	View
//	@Router		/users/{id}/two-factor [get]
func (c *controller) getOf(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	view, err := c.service.GetOf(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.OK(g, view)
}

// create creates a second factor.
//
//	@Summary		Begin two-factor enrolment
//	@Description	Returns the secret for an authenticator app. Sign-in requires a code only after PUT /users/me/two-factor has confirmed the secret. Another call replaces a secret that is not confirmed.
//	@Tags			two-factor
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		201		{object}	Enrolment
//	@Failure		401		{object}	rest.Problem	"unauthorized: the user token is missing or invalid, email or password is wrong, or the account was deleted"
//	@Failure		409		{object}	rest.Problem	"conflict: two-factor sign-in is already on"
//	@Router			/users/me/two-factor [post]
func (c *controller) create(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	enrolment, err := c.service.Create(g.Request.Context(), rest.Caller(g))
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, enrolment)
}

// confirm turns a second factor on.
//
//	@Summary		Confirm my second factor
//	@Description	Turns on two-factor sign-in and ends the caller's other sessions. Send a first code of the authenticator app. Returns 10 recovery codes. The recovery codes are returned only in this response.
//	@Tags			two-factor
//	@Param			input	formData	CodeInput	true	"a code of the authenticator app"
//	@Success		200		{object}	RecoveryCodes
//	@Failure		400		{object}	rest.Problem	"validation_failed: for example, the code is wrong; malformed_body"
//	@Failure		409		{object}	rest.Problem	"conflict: two-factor sign-in is already on, or there is no second factor to confirm"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: too many wrong codes (for an account, 10 from a network in 15 minutes, or 100 in a day)"
//	@Router			/users/me/two-factor [put]
func (c *controller) confirm(g *gin.Context) error {
	in, err := rest.Bind[CodeInput](g)
	if err != nil {
		return err
	}
	codes, limits, err := c.service.Confirm(g.Request.Context(), rest.Caller(g), rest.Client(g), in.Code)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return rest.OK(g, codes)
}

// disable turns the caller's second factor off.
//
//	@Summary		Turn my second factor off
//	@Description	Turns off two-factor sign-in. A request with a user token ends the caller's other sessions.
//	@Tags			two-factor
//	@Param			input	formData	access.Proof	false	"exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		400	{object}	rest.Problem	"validation_failed: for example, the code is wrong, or both codes were sent; malformed_body"
//	@Failure		401	{object}	rest.Problem	"unauthorized: the user token is missing or invalid, or email or password is wrong"
//	@Failure		404	{object}	rest.Problem	"not_found: two-factor sign-in is off"
//	@Router			/users/me/two-factor [delete]
func (c *controller) disable(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	if err := c.service.Disable(g.Request.Context(), rest.Caller(g)); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// remove turns a user's second factor off.
//
//	@Summary		Turn a user's second factor off
//	@Description	Turns off two-factor sign-in for a user who has lost the device and the recovery codes. The user is notified by email.
//	@Tags			two-factor
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		403	{object}	rest.Problem	"forbidden: the caller is not an admin, or the user is the caller (use DELETE /users/me/two-factor)"
//	@Failure		404	{object}	rest.Problem	"not_found: no such user, or the user has no second factor"
//	@Router			/users/{id}/two-factor [delete]
func (c *controller) remove(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Remove(g.Request.Context(), rest.Caller(g), id); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// signIn completes a sign-in.
//
//	@Summary		Sign in with the second factor
//	@Description	Send the challenge from the response 401 second_factor_required of a sign-in, and exactly one of code and recovery_code. Each code is accepted once. The challenge is valid for 5 minutes and can be used again with another code.
//	@Tags			two-factor
//	@Param			input	formData	SignInInput	true	"the challenge, and exactly one of code and recovery_code"
//	@Success		201		{object}	user.SignedIn
//	@Failure		400		{object}	rest.Problem	"validation_failed: for example, the code is wrong, or not exactly one code was sent; malformed_body"
//	@Failure		401		{object}	rest.Problem	"unauthorized: the challenge is invalid, has expired, or was invalidated by a change of the account, such as a new password (sign in again)"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: too many wrong codes (for an account, 10 from a network in 15 minutes, or 100 in a day)"
//	@Router			/auth/second-factor [post]
func (c *controller) signIn(g *gin.Context) error {
	in, err := rest.Bind[SignInInput](g)
	if err != nil {
		return apperr.JoinInvalid(err, checkProof(&in.Proof))
	}
	result, limits, err := c.service.SignIn(g.Request.Context(), rest.Client(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, result)
}
