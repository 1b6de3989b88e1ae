package passkey

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/rest"
)

type controller struct{ service *Service }

// registrationOptions begins the registration of a passkey.
//
//	@Summary		Get options for a new passkey
//	@Description	Pass publicKey to navigator.credentials.create in the browser. Send the result, with challenge, to POST /users/me/passkeys within 5 minutes.
//	@Tags			passkeys
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		200		{object}	RegistrationOptions
//	@Failure		409		{object}	rest.Problem	"conflict: the user already has 20 passkeys"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: more than 50 registrations for the account in 15 minutes, too many wrong passwords (the limits of POST /auth) or too many wrong codes"
//	@Failure		501		{object}	rest.Problem	"not_supported: passkeys are off"
//	@x-tag			"Sign-in with Web Authentication (WebAuthn): a fingerprint, a face or a PIN instead of a password."
//	@Router			/users/me/passkeys/options [post]
func (c *controller) registrationOptions(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	options, limits, err := c.service.RegistrationOptions(g.Request.Context(), rest.Caller(g))
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return rest.OK(g, options)
}

// create registers a passkey.
//
//	@Summary		Register a passkey
//	@Description	Send the result of navigator.credentials.create as JSON in credential. Passkeys are also deleted when the user resets the password or undoes a change of the email address.
//	@Tags			passkeys
//	@Param			input	formData	CreateInput	true	"the challenge of the options, the credential, and a name for the list"
//	@Success		201		{object}	View
//	@Header			201		{string}	Location		"path of the passkey"
//	@Failure		400		{object}	rest.Problem	"validation_failed: for example, the challenge has expired or was used, or the credential is invalid; malformed_body"
//	@Failure		409		{object}	rest.Problem	"conflict: the passkey is already registered, or the user already has 20 passkeys"
//	@Failure		501		{object}	rest.Problem	"not_supported: passkeys are off"
//	@Router			/users/me/passkeys [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[CreateInput](g)
	if err != nil {
		return err
	}
	p, err := c.service.Create(g.Request.Context(), rest.Caller(g), in)
	if err != nil {
		return err
	}
	return rest.Created(g, p.Meta, p.View())
}

// list lists the caller's passkeys.
//
//	@Summary	List my passkeys
//	@Tags		passkeys
//	@Success	200	{object}	List
//	@Router		/users/me/passkeys [get]
func (c *controller) list(g *gin.Context) error {
	list, err := c.service.List(g.Request.Context(), rest.Caller(g).UserID)
	if err != nil {
		return err
	}
	return rest.OK(g, list)
}

// listOf lists the passkeys of a user.
//
//	@Summary	List the passkeys of a user
//	@Tags		passkeys
//	@Param		id	path		string	true	"id of the user"
//	@Success	200	{object}	List
//	@Router		/users/{id}/passkeys [get]
func (c *controller) listOf(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	list, err := c.service.List(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.OK(g, list)
}

// get returns a passkey.
//
//	@Summary	Get one of my passkeys
//	@Tags		passkeys
//	@Param		If-None-Match	header		string	false	"the ETag of an earlier response"
//	@Success	200				{object}	View
//	@Failure	404				{object}	rest.Problem	"not_found: the caller has no such passkey"
//	@Router		/users/me/passkeys/{id} [get]
func (c *controller) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	p, err := c.service.Get(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	return rest.Record(g, p.Meta, p.View())
}

// update renames a passkey.
//
//	@Summary		Rename a passkey
//	@Description	Changes the name of the passkey.
//	@Tags			passkeys
//	@Param			If-Match	header		string		false	"the ETag of the version to change"
//	@Param			input		formData	UpdateInput	false	"the new name; if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		200			{object}	View
//	@Failure		404			{object}	rest.Problem	"not_found: the caller has no such passkey"
//	@Router			/users/me/passkeys/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := rest.BindPatch[UpdateInput](g, View{})
	if err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	p, err := c.service.Update(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return rest.Record(g, p.Meta, p.View())
}

// delete deletes one of the caller's passkeys.
//
//	@Summary		Delete a passkey
//	@Description	Deletes the passkey. Ends the caller's other sessions, because they may have been opened with the passkey.
//	@Tags			passkeys
//	@Param			If-Match	header		string			false	"the ETag of the version to delete"
//	@Param			input		formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		404	{object}	rest.Problem	"not_found: the caller has no such passkey"
//	@Router			/users/me/passkeys/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id)); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// deleteOf deletes a passkey of a user.
//
//	@Summary		Delete a passkey of a user
//	@Description	Deletes the passkey and notifies the user by email. To end the sessions that were opened with the passkey, call DELETE /users/{id}/sessions.
//	@Tags			passkeys
//	@Param			id			path		string			true	"id of the user"
//	@Param			passkeyId	path		string			true	"id of the passkey"
//	@Param			input		formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Failure		404	{object}	rest.Problem	"not_found: the user has no such passkey"
//	@Router			/users/{id}/passkeys/{passkeyId} [delete]
func (c *controller) deleteOf(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	userID, err := rest.ID(g)
	if err != nil {
		return err
	}
	id, err := rest.PathID(g, "passkeyId")
	if err != nil {
		return err
	}
	if err := c.service.Remove(g.Request.Context(), userID, id); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// signInOptions begins a sign-in.
//
//	@Summary				Get options to sign in with a passkey
//	@Description			Pass publicKey to navigator.credentials.get in the browser. Send the result, with challenge, to POST /auth/passkey within 5 minutes. With PUBLIC_SIGNIN=true, the master key is not required.
//	@Tags					passkeys
//	@Success				200	{object}	SignInOptions
//	@Failure				429	{object}	rest.Problem	"too_many_requests: more than 300 requests from a network in 15 minutes without the master key"
//	@Failure				501	{object}	rest.Problem	"not_supported: passkeys are off"
//	@x-optional-security	true
//	@Router					/auth/passkey/options [post]
func (c *controller) signInOptions(g *gin.Context) error {
	if _, err := rest.Bind[struct{}](g); err != nil {
		return err
	}
	options, limits, err := c.service.SignInOptions(g.Request.Context(), rest.Client(g))
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	g.Header("Cache-Control", "no-store")
	return rest.OK(g, options)
}

// signIn signs a user in.
//
//	@Summary		Sign in with a passkey
//	@Description	Send the result of navigator.credentials.get as JSON in credential. A sign-in with a passkey does not require a code, even if two-factor sign-in is on.
//	@Tags			passkeys
//	@Param			input	formData	SignInInput	true	"the challenge of the options, and the credential"
//	@Success		201		{object}	user.SignedIn
//	@Failure		401		{object}	rest.Problem	"unauthorized: the challenge or the passkey is invalid"
//	@Failure		403		{object}	rest.Problem	"suspended: the passkey is valid, but an admin has suspended the account"
//	@Failure		429		{object}	rest.Problem	"too_many_requests: more than 100 rejected passkeys from a network in 15 minutes"
//	@Failure		501		{object}	rest.Problem	"not_supported: passkeys are off"
//	@Router			/auth/passkey [post]
func (c *controller) signIn(g *gin.Context) error {
	in, err := rest.Bind[SignInInput](g)
	if err != nil {
		return err
	}
	result, limits, err := c.service.SignIn(g.Request.Context(), rest.Client(g), in)
	rest.SetRateLimit(g, limits)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, result)
}
