package auth

import (
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Session is a stored session. It has only digests of its refresh tokens: see token.go.
type Session struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	Epoch      int64      `json:"epoch"`      // the user's epoch at sign-in; see user.User
	ExpiresAt  store.Time `json:"expiresAt"`  // end of the session unless it is refreshed
	LastUsedAt store.Time `json:"lastUsedAt"` // time of the sign-in or the last refresh
	UserAgent  string     `json:"userAgent"`
	IP         string     `json:"ip"`
	// AMR has the authentication methods (RFC 8176) of the sign-in that opened the session at CreatedAt. Sessions of earlier
	// versions have no methods.
	AMR     []access.Method `json:"amr"`
	Family  string          `json:"family"`  // digest of the family of its refresh tokens
	Current string          `json:"current"` // digest of the valid refresh token
	Rotated []rotation      `json:"rotated"` // the previous refresh tokens, oldest first
}

// hasTwoFactors reports whether the sign-in that opened the session used two factors.
func (s Session) hasTwoFactors() bool { return slices.Contains(s.AMR, access.MultiFactor) }

// rotation is a refresh token that was replaced.
type rotation struct {
	Digest string     `json:"digest"`
	Salt   string     `json:"salt"` // to derive the next token
	At     store.Time `json:"at"`
}

// maxUserAgent is the maximum number of bytes of a User-Agent header that are stored.
const maxUserAgent = 256

// RefreshInput has the parameters of a refresh.
type RefreshInput struct {
	RefreshToken string `json:"refresh_token" validate:"required,max=200" example:"Zk3n0cXGk2…" maxLength:"200"`
} //	@name	RefreshInput

// SessionView is the representation of a session.
type SessionView struct {
	ID         store.ID   `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	CreatedAt  store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	LastUsedAt store.Time `json:"lastUsedAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"` // time of the sign-in or the last refresh
	UserAgent  string     `json:"userAgent" example:"Mozilla/5.0"`
	IP         string     `json:"ip" example:"192.0.2.1"`
	Current    bool       `json:"current"` // true for the session of this request
	// the methods of the sign-in (RFC 8176): pwd (password), otp (one-time code or recovery code), hwk (passkey), fed (provider), mfa (two factors); empty for sessions that an earlier version opened
	AMR []access.Method `json:"amr" swaggertype:"array,string" example:"pwd,otp,mfa"`
} //	@name	Session

// View returns the representation of the session. current is the session of the request.
func (s Session) View(current store.ID) SessionView {
	return SessionView{
		ID: s.ID, CreatedAt: s.CreatedAt, LastUsedAt: s.LastUsedAt, UserAgent: s.UserAgent, IP: s.IP, Current: s.ID == current,
		AMR: slices.Compact(append([]access.Method{}, s.AMR...)), // never null; two codes count as one method
	}
}

// spec declares the list of a user's sessions. A user has few sessions, so one index is sufficient for all sort orders.
func spec() listing.Spec {
	return listing.Spec{Name: "sessions", Sort: []string{"createdAt", "lastUsedAt"}, View: SessionView{}, ETag: listing.NoETag}
}

func storeSpec() store.Spec {
	return store.Spec{
		Name: spec().Name,
		Indexes: []store.Index{
			{Fields: []string{"family"}, Unique: true},
			{Fields: []string{"userId", "createdAt"}},
			{Fields: []string{"expiresAt"}},
		},
	}
}
