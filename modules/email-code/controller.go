package emailcode

import (
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

type controller struct{ service *Service }

// request requests a code.
//
//	@Summary				Request a code by email
//	@Description			Sends a code of six digits to the user with the email address, or with EMAIL_CODE_SIGNUP=true to any address. The response does not reveal whether there is such a user. The code is valid for 10 minutes, with the challenge of the response only. With PUBLIC_SIGNUP=true no master key is needed. An account gets at most 5 emails in an hour. Each network from which the user signed in has a separate limit of 5.
//	@Tags					email-codes
//	@Param					input	formData	Input			true	"the email address"
//	@Success				202		{object}	Accepted		"a challenge, whether or not the address is known"
//	@Failure				401		{object}	rest.Problem	"unauthorized: the master key is missing or wrong"
//	@Failure				429		{object}	rest.Problem	"too_many_requests: 100 from a network in an hour, without the master key"
//	@Security				MasterKey
//	@x-optional-security	true
//	@x-tag					"Sign-in without a password, with a code that is sent by email."
//	@x-restricted			true
//	@Router					/auth/email-code [post]
func (c *controller) request(g *gin.Context) error {
	in, err := rest.Bind[Input](g)
	if err != nil {
		return err
	}
	accepted, limits, err := c.service.Request(g.Request.Context(), rest.Client(g), in.Email)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return rest.Accepted(g, accepted)
}

// signIn signs a user in with a code.
//
//	@Summary		Sign in with a code by email
//	@Description	Takes the challenge of POST and the code in the email, which is accepted once. A challenge accepts 5 codes; RateLimit has the number that is left. If the address was not verified, the sign-in verifies it and removes the password, sessions, linked accounts, passkeys and API keys that the account had. With EMAIL_CODE_SIGNUP=true it creates the account of a new address.
//	@Tags			email-codes
//	@Param			input	formData	SignInInput	true	"the challenge and the code"
//	@Success		201		{object}	user.SignedIn
//	@Failure		400		{object}	rest.Problem	"validation_failed: also a wrong code; malformed_body"
//	@Failure		401		{object}	rest.Problem	"unauthorized: the challenge is invalid, was used or has expired, or the sessions of the user ended since: request another code; second_factor_required: with two-factor sign-in, as POST /auth"
//	@Failure		403		{object}	rest.Problem	"suspended: the code is right, and an admin has suspended the account"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: 25 wrong codes for an account in a day, or 20 accounts created from a network in an hour"
//	@x-restricted	true
//	@Router			/auth/email-code [put]
func (c *controller) signIn(g *gin.Context) error {
	in, err := rest.Bind[SignInInput](g)
	if err != nil {
		return err
	}
	in.Code = strings.ReplaceAll(in.Code, " ", "")
	if !rest.Valid(in.Code, "len=6,number") {
		return apperr.Invalid(apperr.Field{In: "body", Param: "code", Code: apperr.Format, Message: "Must be 6 digits."})
	}
	result, limits, err := c.service.SignIn(g.Request.Context(), rest.Client(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, result)
}
