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
//	@Summary		Get my second factor
//	@Tags			two-factor
//	@Success		200	{object}	View
//	@Security		UserToken
//	@x-tag			"One-time codes of an authenticator app, in addition to a password or a provider."
//	@x-restricted	true
//	@Router			/users/me/two-factor [get]
func (c *controller) get(g *gin.Context) error {
	view, err := c.service.Get(g.Request.Context(), rest.Caller(g).UserID)
	if err != nil {
		return err
	}
	return rest.OK(g, view)
}

// create creates a second factor.
//
//	@Summary		Enrol in two-factor sign-in
//	@Description	Requires a session that was opened in the last 10 minutes, or email and password. Returns the secret for an authenticator app. Sign-in requires a code only after PUT has confirmed it. Another call replaces a secret that is not confirmed.
//	@Tags			two-factor
//	@Param			input	formData	access.Proof	false	"exactly one of code and recovery_code, if two-factor sign-in is on"
//	@Success		201	{object}	Enrolment
//	@Failure		401	{object}	rest.Problem	"unauthorized: also if email or password is wrong, or the account was deleted"
//	@Failure		403	{object}	rest.Problem	"reauthentication_required: the sign-in is more than 10 minutes old; second_factor_required: neither code nor recovery_code; suspended: an admin has suspended the account"
//	@Failure		409	{object}	rest.Problem	"conflict: two-factor sign-in is on"
//	@Failure		429	{object}	rest.Problem	"too_many_requests: too many wrong passwords, as at sign-in, or wrong codes"
//	@Security		UserToken
//	@Security		BasicAuth
//	@x-restricted	true
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
//	@Description	Turns two-factor sign-in on with a first code, and ends the caller's other sessions. Returns ten recovery codes, which are not shown again.
//	@Tags			two-factor
//	@Param			input	formData	CodeInput	true	"a code"
//	@Success		200		{object}	RecoveryCodes
//	@Failure		400		{object}	rest.Problem	"validation_failed: also a wrong code; malformed_body"
//	@Failure		409		{object}	rest.Problem	"conflict: there is no second factor to confirm: it is on, or the password has changed since it was created"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: 10 wrong codes of an account from a network in 15 minutes, or 100 of an account in a day"
//	@Security		UserToken
//	@x-restricted	true
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
//	@Description	Requires a session that was opened with the second factor in the last 10 minutes, or a code or a recovery code with another session that is not older, or with email and password. Ends the other sessions of the user if it is called with a session.
//	@Tags			two-factor
//	@Param			input	formData	access.Proof	false	"exactly one of code and recovery_code, unless the session was opened with one"
//	@Success		204
//	@Failure		400	{object}	rest.Problem	"validation_failed: also a wrong code, or both; malformed_body"
//	@Failure		401	{object}	rest.Problem	"unauthorized: also if email or password is wrong"
//	@Failure		403	{object}	rest.Problem	"reauthentication_required: the sign-in is more than 10 minutes old; second_factor_required: neither code nor recovery_code; suspended: an admin has suspended the account"
//	@Failure		404	{object}	rest.Problem	"not_found: two-factor sign-in is off"
//	@Failure		429	{object}	rest.Problem	"too_many_requests: too many wrong passwords, as at sign-in, or wrong codes"
//	@Security		UserToken
//	@Security		BasicAuth
//	@x-restricted	true
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
//	@Description	For a user who has lost the device and the recovery codes. The user gets a notice by email.
//	@Tags			two-factor
//	@Success		204
//	@Failure		403	{object}	rest.Problem	"forbidden: not an admin, or the admin's own: use /users/me/two-factor"
//	@Failure		404	{object}	rest.Problem	"not_found: no such user, or the user has no second factor"
//	@Security		UserToken
//	@Router			/users/{id}/two-factor [delete]
func (c *controller) remove(g *gin.Context) error {
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
//	@Description	Takes the challenge of a sign-in that responded 401 second_factor_required, and a code or a recovery code, each of which is accepted once. The challenge is valid for 5 minutes, also for several sign-ins, each with another code.
//	@Tags			two-factor
//	@Param			input	formData	SignInInput	true	"the challenge, and exactly one of code and recovery_code"
//	@Success		201		{object}	user.SignedIn
//	@Failure		400		{object}	rest.Problem	"validation_failed: also a wrong code, none, or both; malformed_body"
//	@Failure		401		{object}	rest.Problem	"unauthorized: the challenge is invalid or has expired, or the password has changed: sign in again"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: 10 wrong codes of an account from a network in 15 minutes, or 100 of an account in a day"
//	@x-restricted	true
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
