package auth

import (
	"context"

	"example.com/ginseng/kit/store"
)

// Session is one sign-in, as it is stored. Of its refresh tokens there are only digests: see token.go.
type Session struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	Epoch      int64      `json:"epoch"`      // the user's at sign-in; see user.User
	ExpiresAt  store.Time `json:"expiresAt"`  // unless it is refreshed before
	LastUsedAt store.Time `json:"lastUsedAt"` // sign-in or the last refresh
	UserAgent  string     `json:"userAgent"`
	IP         string     `json:"ip"`
	Family     string     `json:"family"`  // digest of what all of its refresh tokens have in common
	Current    string     `json:"current"` // digest of the refresh token that is good
	Rotated    []rotation `json:"rotated"` // the last refresh tokens before it, oldest first
}

// rotation is a refresh token that was traded for the next one.
type rotation struct {
	Digest string     `json:"digest"`
	Salt   string     `json:"salt"` // what makes the next one of it
	At     store.Time `json:"at"`
}

// maxUserAgent is how many bytes of a User-Agent header are kept.
const maxUserAgent = 256

// RefreshInput is what a refresh takes.
type RefreshInput struct {
	RefreshToken string `json:"refresh_token" validate:"required,max=200" example:"Zk3n0cXGk2…" maxLength:"200"`
} //	@name	RefreshInput

// SessionView is a session as its user sees it.
type SessionView struct {
	ID         store.ID   `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	CreatedAt  store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	LastUsedAt store.Time `json:"lastUsedAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"` // sign-in or the last refresh
	UserAgent  string     `json:"userAgent" example:"Mozilla/5.0"`
	IP         string     `json:"ip" example:"192.0.2.1"`
	Current    bool       `json:"current"` // the session that asks
} //	@name	Session

// SessionList is the sessions of a user, newest first: at most 100, and how many there are.
type SessionList struct {
	Rows  []SessionView `json:"rows"`
	Count int64         `json:"count" example:"1"`
} //	@name	SessionList

// View is the session as its user sees it, who asks from the session with the id.
func (s Session) View(current store.ID) SessionView {
	return SessionView{
		ID: s.ID, CreatedAt: s.CreatedAt, LastUsedAt: s.LastUsedAt, UserAgent: s.UserAgent, IP: s.IP, Current: s.ID == current,
	}
}

// Sessions keeps the sessions of all users.
type Sessions struct{ all *store.Collection[Session] }

// NewSessions opens the collection.
func NewSessions(db store.DB) *Sessions {
	return &Sessions{store.Open[Session](db, store.Spec{
		Name: "sessions",
		Indexes: []store.Index{
			{Fields: []string{"family"}, Unique: true},
			{Fields: []string{"userId", "createdAt"}},
			{Fields: []string{"expiresAt"}},
		},
	})}
}

// DeleteOf ends every session of a user.
func (s *Sessions) DeleteOf(ctx context.Context, userID store.ID) error {
	_, err := s.all.Delete(ctx, store.Eq("userId", userID))
	return err
}
