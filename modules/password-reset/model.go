package passwordreset

import (
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// CreateInput has the parameters of a new reset.
type CreateInput struct {
	Email string `json:"email" validate:"required,maxbytes=254,email,excludes=:,plain,normalizable" example:"ada@example.com" format:"email" maxLength:"254"`
	Link  string `json:"link" validate:"max=2000" example:"https://app.example.com/reset/{token}" maxLength:"2000"` // URL of the page, in which {token} is replaced by the token; required unless exactly one page in RESET_LINK_ORIGINS has a path
} //	@name	PasswordResetCreate

// View is the representation of a reset.
type View struct {
	Token     string          `json:"token" example:"q4kcJm1s…"`
	User      user.PublicView `json:"user"`
	ExpiresAt store.Time      `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"`
} //	@name	PasswordReset

// Accepted is the response to a new reset. It is empty, so that it does not reveal whether the address is known.
type Accepted struct{} //	@name	PasswordResetAccepted

func storeSpec() store.Spec { return store.Spec{Name: "resets"} }

func noReset() error {
	return apperr.New(apperr.NotFound, "This reset does not exist: its link was used or has expired. Request another reset.")
}
