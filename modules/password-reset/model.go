package passwordreset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Reset is one link that was mailed, as it is stored. Its token is not.
type Reset struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	Epoch      int64      `json:"epoch"` // the user's when it was made; see user.User. In another it is good for nothing.
	TokenHash  string     `json:"tokenHash"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

// CreateInput is what asking for a reset takes.
type CreateInput struct {
	Email string `json:"email" validate:"required,maxbytes=254,email,excludes=:" example:"ada@example.com" format:"email" maxLength:"254"`
	Link  string `json:"link" validate:"required,max=2000" example:"https://app.example.com/reset/{token}" format:"uri" maxLength:"2000"`
} //	@name	PasswordResetCreate

// View is a reset as everyone who has its token sees it.
type View struct {
	Token     string          `json:"token" example:"q4kcJm1s…"`
	User      user.PublicView `json:"user"`
	ExpiresAt store.Time      `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"`
} //	@name	PasswordReset

// Accepted is the answer to asking for a reset: nothing, so that it tells nothing.
type Accepted struct{} //	@name	PasswordResetAccepted

// Resets keeps the resets of all users.
type Resets struct{ all *store.Collection[Reset] }

// NewResets opens the collection.
func NewResets(db store.DB) *Resets {
	return &Resets{store.Open[Reset](db, store.Spec{
		Name: "resets",
		Indexes: []store.Index{
			{Fields: []string{"tokenHash"}, Unique: true},
			{Fields: []string{"userId"}},
			{Fields: []string{"expiresAt"}},
		},
	})}
}

// DeleteOf ends every reset of a user.
func (r *Resets) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := r.all.Delete(ctx, store.Eq("userId", userID))
	return err
}

// digest is what is stored of a token. The token has 256 random bits, so a fast hash does.
func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// noReset is the answer to a token that is unknown, used or expired alike.
func noReset() error {
	return apperr.New(apperr.NotFound, "There is no such reset: its link was used, or has expired. Ask for another.")
}
