package social

import (
	"context"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Identity is an account at a provider that is linked to a user, as it is stored.
type Identity struct {
	store.Meta `bson:",inline"`
	Provider   string   `json:"provider"`
	Subject    string   `json:"subject"` // the provider's id of the account
	UserID     store.ID `json:"userId"`
	// Epoch is the user's when it was linked. It is good only from user.User's LinksFrom on: somebody who signed up with
	// another's address and linked her own account loses that link when the address's owner resets the password.
	Epoch int64 `json:"epoch"`
}

// Proof is what a provider gave the client, as the client sends it: just one of AccessToken, IDToken and Code. The
// lengths are what RFC 6749 leaves to us; the characters are its (appendix A), and the verifier's those of RFC 7636
// section 4.1.
type Proof struct {
	AccessToken  string `json:"access_token" validate:"max=4096,printascii"`                                                                        // the provider's
	IDToken      string `json:"id_token" validate:"max=8192,printascii"`                                                                            // google only
	Code         string `json:"code" validate:"max=2048,printascii" example:"SplxlOBeZQQYbYS6WxSbIA"`                                               // with redirect_uri
	RedirectURI  string `json:"redirect_uri" validate:"max=2048" example:"https://app.example.com/callback"`                                        // the one that the code was asked for with
	CodeVerifier string `json:"code_verifier" validate:"omitempty,min=43,max=128,printascii" example:"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"` // if the code was asked for with PKCE
} //	@name	SocialProof

// check finds what the tags cannot say.
func (p Proof) check() error {
	var given, faults []apperr.Field
	for _, proof := range [][2]string{{"access_token", p.AccessToken}, {"id_token", p.IDToken}, {"code", p.Code}} {
		if proof[1] != "" {
			given = append(given, apperr.Field{In: "body", Param: proof[0], Code: apperr.FieldConflict, Message: "Only one of access_token, id_token and code may be given."})
		}
	}
	switch {
	case len(given) == 0:
		faults = append(faults, apperr.Field{In: "body", Param: "access_token", Code: apperr.Required, Message: "Must be given, or id_token, or code with redirect_uri."})
	case len(given) > 1:
		faults = given
	}
	if p.Code != "" && p.RedirectURI == "" {
		faults = append(faults, apperr.Field{In: "body", Param: "redirect_uri", Code: apperr.Required, Message: "Must be given with code: the one that the code was asked for with."})
	}
	if faults != nil {
		return apperr.Invalid(faults...)
	}
	return nil
}

// Profile is what a provider says of the account that a Proof is of. Only Subject is always there.
type Profile struct {
	Subject       string // the provider's id of the account; another provider may have the same
	Email         string
	EmailVerified bool
	Name          string
	Picture       string
}

// IdentityView is a linked account as its user sees it.
type IdentityView struct {
	Provider  string     `json:"provider" enums:"facebook,github,google" example:"github"`
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"` // when it was linked
} //	@name	Identity

// IdentityList is the linked accounts of a user, by the provider's name.
type IdentityList struct {
	Rows  []IdentityView `json:"rows"`
	Count int            `json:"count" example:"1"`
} //	@name	IdentityList

// View is the linked account as its user sees it.
func (i Identity) View() IdentityView {
	return IdentityView{Provider: i.Provider, CreatedAt: i.CreatedAt}
}

// Identities keeps the linked accounts of all users.
type Identities struct{ all *store.Collection[Identity] }

// NewIdentities opens the collection.
func NewIdentities(db store.DB) *Identities {
	return &Identities{store.Open[Identity](db, store.Spec{
		Name: "identities",
		Indexes: []store.Index{
			{Fields: []string{"provider", "subject"}, Unique: true},
			{Fields: []string{"userId", "provider"}, Unique: true},
		},
	})}
}

// DeleteOf unlinks every account of a user.
func (i *Identities) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := i.all.Delete(ctx, store.Eq("userId", userID))
	return err
}

// account selects the identity of an account at a provider.
func account(provider, subject string) store.Filter {
	return store.And(store.Eq("provider", provider), store.Eq("subject", subject))
}

// link selects the identity that links a user to a provider.
func link(userID store.ID, provider string) store.Filter {
	return store.And(store.Eq("userId", userID), store.Eq("provider", provider))
}
