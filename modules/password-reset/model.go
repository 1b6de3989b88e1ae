package passwordreset

import (
	"crypto/sha256"
	"encoding/hex"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Reset is a stored password reset. Its token is not stored.
type Reset struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	Epoch      int64      `json:"epoch"` // of the user at creation; invalid in another. See user.User.
	TokenHash  string     `json:"tokenHash"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

// CreateInput has the parameters of a new reset.
type CreateInput struct {
	Email string `json:"email" validate:"required,maxbytes=254,email,excludes=:" example:"ada@example.com" format:"email" maxLength:"254"`
	Link  string `json:"link" validate:"max=2000" example:"https://app.example.com/reset/{token}" maxLength:"2000"` // a URL, in which {token} is replaced; required unless exactly one page in RESET_LINK_ORIGINS has a path
} //	@name	PasswordResetCreate

// View is the representation of a reset.
type View struct {
	Token     string          `json:"token" example:"q4kcJm1s…"`
	User      user.PublicView `json:"user"`
	ExpiresAt store.Time      `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"`
} //	@name	PasswordReset

// Accepted is the response to a new reset. It is empty, so that it does not reveal whether the address is known.
type Accepted struct{} //	@name	PasswordResetAccepted

func storeSpec() store.Spec {
	return store.Spec{
		Name: "resets",
		Indexes: []store.Index{
			{Fields: []string{"tokenHash"}, Unique: true},
			{Fields: []string{"userId"}},
			{Fields: []string{"expiresAt"}},
		},
	}
}

// digest returns the stored form of a token. A token is random, so a fast hash is sufficient.
func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// noReset returns the error for a token that is unknown, used or expired.
func noReset() error {
	return apperr.New(apperr.NotFound, "This reset does not exist: its link was used or has expired. Request another one.")
}
