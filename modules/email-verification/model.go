package emailverification

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// The purposes of a token.
const (
	verify = "verify" // verifies the address of the user
	change = "change" // gives the user another address
	undo   = "undo"   // gives the user the former address again; reserves that address if it was verified
)

// Input has the parameters of a request for an email.
type Input struct {
	Link string `json:"link" validate:"max=2000" example:"https://app.example.com/verify/{token}" maxLength:"2000"` // URL of the page, in which {token} is replaced by the token; required unless exactly one page in VERIFY_LINK_ORIGINS has a path
} //	@name	EmailVerificationCreate

// ChangeInput has the parameters of a change of address. HTTP Basic cannot transmit an address with a colon.
type ChangeInput struct {
	Email string `json:"email" validate:"required,maxbytes=254,email,excludes=:,plain,normalizable" example:"ada@example.org" format:"email" maxLength:"254"`
	Link  string `json:"link" validate:"max=2000" example:"https://app.example.com/verify/{token}" maxLength:"2000"` // URL of the page, in which {token} is replaced by the token; required unless exactly one page in VERIFY_LINK_ORIGINS has a path
	access.Proof
} //	@name	EmailChange

// View is the representation of a token.
type View struct {
	Purpose   string          `json:"purpose" enums:"verify,change,undo" example:"verify"` // verify: the link verifies email; change: the link changes the address to email; undo: the link restores the former address email
	Email     string          `json:"email" example:"ada@example.com"`                     // email address of the user after the link is confirmed
	User      user.PublicView `json:"user"`
	ExpiresAt store.Time      `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-03T15:04:05.000Z"`
} //	@name	EmailVerification

// Accepted is the empty response to a request for an email.
type Accepted struct{} //	@name	EmailVerificationAccepted

func storeSpec() store.Spec {
	return store.Spec{Name: "verifications", Indexes: []store.Index{{Fields: []string{"email"}}}}
}

func noToken() error {
	return apperr.New(apperr.NotFound, "This link does not work: it was used, has expired, or was replaced by a newer change. Request another link or, to undo a change of address, contact the operator of this service.")
}

func ownAddress() error {
	return apperr.New(apperr.Conflict, "This is already the email address of the account.").
		WithFields(apperr.Field{In: "body", Param: "email", Code: apperr.FieldConflict, Message: "Is already the address of the account."})
}
