package social

import (
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Identity is a stored link of a provider's account to a user.
type Identity struct {
	store.Meta `bson:",inline"`
	Provider   string   `json:"provider"`
	Subject    string   `json:"subject"` // the provider's ID of the account
	UserID     store.ID `json:"userId"`
	// Epoch is the user's when the account was linked. The link is invalid if Epoch is less than user.User.LinksFrom: a user
	// who signed up with another person's address loses the link when that person resets the password.
	Epoch int64 `json:"epoch"`
}

// displayNames are the names of the providers in emails.
var displayNames = map[string]string{"facebook": "Facebook", "github": "GitHub", "google": "Google"}

// Proof is what the client received from a provider: exactly one of AccessToken, IDToken and Code. Its characters are those
// of RFC 6749 appendix A and RFC 7636 section 4.1; these do not limit the lengths.
type Proof struct {
	AccessToken  string `json:"access_token" validate:"max=4096,printascii"`                                                                        // the provider's
	IDToken      string `json:"id_token" validate:"max=8192,printascii"`                                                                            // google only
	Code         string `json:"code" validate:"max=2048,printascii" example:"SplxlOBeZQQYbYS6WxSbIA"`                                               // with redirect_uri
	RedirectURI  string `json:"redirect_uri" validate:"max=2048" example:"https://app.example.com/callback"`                                        // of the authorization request
	CodeVerifier string `json:"code_verifier" validate:"omitempty,min=43,max=128,printascii" example:"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"` // if the authorization request used PKCE
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
		fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "access_token", Code: apperr.Required, Message: "Must be given, unless id_token, or code with redirect_uri, is."})
	case len(given) > 1:
		fieldErrs = given
	}
	if p.Code != "" && p.RedirectURI == "" {
		fieldErrs = append(fieldErrs, apperr.Field{In: "body", Param: "redirect_uri", Code: apperr.Required, Message: "Must be given with code: the redirect_uri of the authorization request."})
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
}

// IdentityView is the representation of a linked account.
type IdentityView struct {
	Provider  string     `json:"provider" enums:"facebook,github,google"`
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"` // when it was linked
} //	@name	Identity

// IdentityList has the linked accounts of a user, by provider.
type IdentityList struct {
	Rows  []IdentityView `json:"rows"`
	Count int            `json:"count" example:"1"`
} //	@name	IdentityList

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
