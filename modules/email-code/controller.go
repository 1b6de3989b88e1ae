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
//	@Description			Emails a code of 6 digits to the user with the email address. With EMAIL_CODE_SIGNUP=true, the code is sent to any address if the request has the master key, or PUBLIC_SIGNUP=true. The response does not reveal whether there is such a user. The code is valid for 10 minutes, and only with the challenge in the response. With PUBLIC_SIGNIN=true, the master key is not required. At most 5 emails in an hour are sent to an address for each network, and 15 for all networks together. Each network from which the user has signed in has a separate limit of 5.
//	@Tags					email-codes
//	@Param					input	formData	Input			true	"the email address"
//	@Success				202		{object}	Accepted		"a challenge, even if the address is unknown"
//	@Failure				429		{object}	rest.Problem	"too_many_requests: more than 100 requests from a network in an hour without the master key"
//	@x-optional-security	true
//	@x-tag					"Sign-in without a password, with a code that is sent by email."
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
//	@Summary		Sign in with an emailed code
//	@Description	Send the challenge from POST /auth/email-code and the code from the email. A code is accepted once. A challenge allows 5 attempts. The header RateLimit has the number of attempts that are left. If the email address of the user was not verified, the sign-in verifies the address, ends all sessions, and removes the password, linked accounts, passkeys and API keys. With EMAIL_CODE_SIGNUP=true, the sign-in creates a user if the address is new.
//	@Tags			email-codes
//	@Param			input	formData	SignInInput	true	"the challenge and the code"
//	@Success		201		{object}	user.SignedIn
//	@Failure		400		{object}	rest.Problem	"validation_failed: for example, the code is wrong; malformed_body"
//	@Failure		401		{object}	rest.Problem	"unauthorized: the challenge is invalid, was used, has expired, had 5 wrong codes, or was invalidated by a change of the account, such as a new password (request another code); second_factor_required: two-factor sign-in is on (use the challenge in the error to send the second factor)"
//	@Failure		403		{object}	rest.Problem	"suspended: the code is right, but an admin has suspended the account"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: for an account in a day, 10 wrong codes from a network, or 25 from all networks; more than 20 new users from a network in an hour"
//	@Router			/auth/email-code [put]
func (c *controller) signIn(g *gin.Context) error {
	in, err := rest.Bind[SignInInput](g)
	in.Code = strings.ReplaceAll(in.Code, " ", "")
	if err := apperr.JoinInvalid(err, in.check()); err != nil {
		return err
	}
	result, limits, err := c.service.SignIn(g.Request.Context(), rest.Client(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, result)
}
