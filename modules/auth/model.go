package auth

import (
	"context"

	"example.com/ginseng/internal/store"
	"example.com/ginseng/modules/user"
)

// Session is one sign-in, as it is stored.
type Session struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	Epoch      int64      `json:"epoch"` // the user's at sign-in; see user.User
	ExpiresAt  store.Time `json:"expiresAt"`
	UserAgent  string     `json:"userAgent"`
	IP         string     `json:"ip"`
}

// Client is where a sign-in comes from.
type Client struct {
	UserAgent string
	IP        string
}

// maxUserAgent is how many bytes of a User-Agent header are kept.
const maxUserAgent = 256

// Result is the answer to a sign-in (seed: token, user).
type Result struct {
	Token     string     `json:"token" example:"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…"` // send it as access_token
	User      user.View  `json:"user"`
	ExpiresAt store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"` // of the token
} //	@name	AuthResult

// Sessions keeps the sessions of all users.
type Sessions struct{ all *store.Collection[Session] }

// NewSessions opens the collection.
func NewSessions(db store.DB) *Sessions {
	return &Sessions{store.Open[Session](db, store.Spec{
		Name:    "sessions",
		Indexes: []store.Index{{Fields: []string{"userId"}}, {Fields: []string{"expiresAt"}}},
	})}
}

// DeleteOf ends every session of a user.
func (s *Sessions) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.all.Delete(ctx, store.Eq("userId", userID))
	return err
}
