package social

import (
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Identity is a stored link of a provider's account to a user.
type Identity struct {
	store.Meta `bson:",inline"`
	Provider   string   `json:"provider"`
	Subject    string   `json:"subject"` // the provider's ID of the account
	UserID     store.ID `json:"userId"`
	// Epoch is the user's epoch when the account was linked. The link is invalid if Epoch is less than user.User.LinksFrom: for
	// example, a user who signed up with another person's address loses the link when that person resets the password.
	Epoch int64 `json:"epoch"`
}

// Proof is what the client received from a provider: exactly one of AccessToken, IDToken and Code. RFC 6749 appendix A defines
// the characters of these strings, but no maximum lengths. RFC 7636 section 4.1 defines CodeVerifier.
type Proof struct {
	AccessToken  string `json:"access_token" validate:"max=4096,printascii"`                                                                        // access token of the provider (Facebook, GitHub, Google)
	IDToken      string `json:"id_token" validate:"max=8192,printascii"`                                                                            // ID token of the provider (OpenID providers)
	Code         string `json:"code" validate:"max=2048,printascii" example:"SplxlOBeZQQYbYS6WxSbIA"`                                               // authorization code of the provider; requires redirect_uri
	RedirectURI  string `json:"redirect_uri" validate:"max=2048" example:"https://app.example.com/callback"`                                        // redirect_uri of the authorization request
	CodeVerifier string `json:"code_verifier" validate:"omitempty,min=43,max=128,printascii" example:"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"` // required if the authorization request used PKCE
	Nonce        string `json:"nonce" validate:"max=255,printascii" example:"n-0S6_WzA2Mj"`                                                         // nonce of the authorization request, with id_token or code; the ID token must have it
	Name         string `json:"name" validate:"max=100" example:"Ada Lovelace"`                                                                     // name of a new user, if the token has no name; Apple sends the name only to the page, at the first sign-in
} //	@name	SocialProof

// check fails with ValidationFailed unless the proof has exactly one token or code, and a redirect_uri with a code.
func (p Proof) check() error {
	var given, fieldErrs []apperr.Field
	for _, proof := range [][2]string{{"access_token", p.AccessToken}, {"id_token", p.IDToken}, {"code", p.Code}} {
		if proof[1] != "" {
			given = append(given, apperr.Field{In: "body", Param: proof[0], Code: apperr.FieldConflict, Message: "Only one of access_token, id_token and code may be given."})
		}
	}
	switch {
	case len(given) == 0:
		fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "access_token", Code: apperr.Required, Message: "Must be given unless id_token, or code with redirect_uri, is given."})
	case len(given) > 1:
		fieldErrs = given
	}
	if p.Code != "" && p.RedirectURI == "" {
		fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "redirect_uri", Code: apperr.Required, Message: "Must be given with code: the redirect_uri of the authorization request."})
	}
	if p.Nonce != "" && p.AccessToken != "" {
		fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "nonce", Code: apperr.FieldConflict, Message: "Only id_token and code can have a nonce."})
	}
	if fieldErrs != nil {
		return apperr.Invalid(fieldErrs...)
	}
	return nil
}

// Profile is a provider's information about an account. Only Subject is always set.
type Profile struct {
	Subject       string // the provider's ID of the account; unique per provider
	Email         string
	EmailVerified bool
	Name          string
	Picture       string
	token         idToken // zero unless the proof was an ID token
}

// user returns the profile of a new user.
func (p Profile) user() user.Profile {
	profile := user.Profile{Email: p.Email, Name: user.CleanName(p.Name)}
	if user.ValidPicture(p.Picture) {
		profile.Picture = p.Picture
	}
	return profile
}

// checkEmail fails with Conflict if the profile has no email address, or an address that user.ValidEmail rejects.
func (p Profile) checkEmail() error {
	switch {
	case p.Email == "":
		return cannotLink("The provider returns no email address for this account. Allow this app to see the address at the provider,")
	case !user.ValidEmail(p.Email):
		return cannotLink("The email address of this account cannot be used here. Set another address at the provider,")
	}
	return nil
}

// IdentityView is the representation of a linked account.
type IdentityView struct {
	Provider  string     `json:"provider" example:"google"`
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"` // time at which the account was linked
} //	@name	Identity

// IdentityList has the linked accounts of a user, sorted by provider.
type IdentityList struct {
	Rows  []IdentityView `json:"rows"`
	Count int            `json:"count" example:"1"`
} //	@name	IdentityList

// The values of ProviderView.Type.
const (
	typeOpenID = "oidc"
	typeOAuth  = "oauth2"
)

// ProviderView describes a provider for a page that lets people sign in with it.
type ProviderView struct {
	ID               string   `json:"id" example:"google"` // value of provider in POST /auth/{provider}
	Name             string   `json:"name" example:"Google"`
	Type             string   `json:"type" enums:"oidc,oauth2"`
	ClientID         string   `json:"clientId" example:"1234-web.apps.googleusercontent.com"`
	AuthorizationURL string   `json:"authorizationUrl" example:"https://accounts.google.com/o/oauth2/v2/auth"` // address of the sign-in page of the provider; can have a query string
	Scopes           []string `json:"scopes" example:"openid,email,profile"`
	PKCE             bool     `json:"pkce" example:"true"` // true if the provider supports code_challenge with S256
} //	@name	Provider

// ProviderList has the configured providers, sorted by ID.
type ProviderList struct {
	Rows  []ProviderView `json:"rows"`
	Count int            `json:"count" example:"1"`
} //	@name	ProviderList

// View returns the representation of the linked account.
func (i Identity) View() IdentityView {
	return IdentityView{Provider: i.Provider, CreatedAt: i.CreatedAt}
}

func storeSpec() store.Spec {
	return store.Spec{
		Name: "identities",
		Indexes: []store.Index{
			{Fields: []string{"provider", "subject"}, Unique: true},
			{Fields: []string{"userId", "provider"}, Unique: true},
		},
	}
}

// account returns the filter that selects the identity of an account at a provider.
func account(provider, subject string) store.Filter {
	return store.And(store.Eq("provider", provider), store.Eq("subject", subject))
}

// link returns the filter that selects the identity that links a user to a provider.
func link(userID store.ID, provider string) store.Filter {
	return store.And(store.Eq("userId", userID), store.Eq("provider", provider))
}
