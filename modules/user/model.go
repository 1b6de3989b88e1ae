package user

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// User is a stored account.
type User struct {
	store.Meta `bson:",inline"`
	Fields     `bson:",inline"`
	Email      string      `json:"email"` // trimmed, lower case, unique
	Name       string      `json:"name"`
	Picture    string      `json:"picture"` // URL of an image
	Role       access.Role `json:"role"`
	Password   string      `json:"password"` // hash; see package password
	// Epoch increases when all sessions end: a session is valid only in the epoch it began in. So a password change ends
	// them in the same atomic write, including a concurrent sign-in with the old password.
	Epoch int64 `json:"epoch"`
	// EmailVerified reports that the account belongs to the owner of the address: it was created with an address that a
	// provider had verified, or a password reset was completed.
	EmailVerified bool `json:"emailVerified"`
	// LinksFrom is the first epoch whose linked identities are valid.
	LinksFrom int64 `json:"linksFrom"`
}

// HasPassword reports whether the user can sign in with a password.
func (u User) HasPassword() bool { return u.Password != "" }

// Profile describes a new user. Email is required.
type Profile struct{ Email, Name, Picture string }

// CreateInput has the parameters of a new user. HTTP Basic cannot transmit an address with a colon (RFC 7617 section 2).
type CreateInput struct {
	Email    string `json:"email" validate:"required,maxbytes=254,email,excludes=:" example:"ada@example.com" format:"email" maxLength:"254"`
	Password string `json:"password" trim:"no" validate:"required,min=8,max=128,uncommon" example:"correct horse battery" format:"password"`
	Name     string `json:"name" validate:"max=100" example:"Ada"`
	Picture  string `json:"picture" validate:"max=2048,http_url" example:"https://example.com/ada.png"`
	Role     string `json:"role" validate:"oneof=user admin" enums:"user,admin"`
	Fields
} //	@name	UserCreate

// UpdateInput has the parameters of a change. An empty name or picture resets it to the default.
type UpdateInput struct {
	Name    string `json:"name" validate:"max=100" example:"Ada Lovelace"`
	Picture string `json:"picture" validate:"max=2048,http_url" example:"https://example.com/ada.png"`
	Role    string `json:"role" validate:"required,oneof=user admin" enums:"user,admin"`
	Fields
} //	@name	UserUpdate

// PasswordInput has the parameters of a password change.
type PasswordInput struct {
	Password string `json:"password" trim:"no" validate:"required,min=8,max=128,uncommon" example:"a better horse battery" format:"password"`
} //	@name	UserPassword

// PublicView is the representation of a user for everyone.
type PublicView struct {
	ID      store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name    string   `json:"name" example:"Ada"`
	Picture string   `json:"picture" example:"https://www.gravatar.com/avatar/84f4…?d=identicon"`
} //	@name	UserPublic

// View is the representation of a user for the user and for admins.
type View struct {
	ID        store.ID    `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name      string      `json:"name" example:"Ada"`
	Picture   string      `json:"picture" example:"https://www.gravatar.com/avatar/84f4…?d=identicon"`
	Email     string      `json:"email" example:"ada@example.com"`
	Role      access.Role `json:"role" swaggertype:"string" enums:"user,admin" example:"user"`
	CreatedAt store.Time  `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	Fields
} //	@name	User

// AnyView documents a response with a PublicView or a View.
type AnyView struct {
	PublicView
	Email     string      `json:"email,omitempty" extensions:"x-omitempty" example:"ada@example.com"`
	Role      access.Role `json:"role,omitempty" swaggertype:"string" enums:"user,admin" extensions:"x-omitempty" example:"user"`
	CreatedAt store.Time  `json:"createdAt,omitzero" swaggertype:"string" format:"date-time" extensions:"x-omitempty" example:"2026-01-02T15:04:05.678Z"`
	Fields
} //	@name	UserSeen

// SignedIn is the response to a sign-in.
type SignedIn struct {
	Token        string     `json:"token" example:"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…"` // send it as access_token
	User         View       `json:"user"`
	RefreshToken string     `json:"refreshToken" example:"Zk3n0cXGk2…"`                                                   // for POST /auth/refresh, valid once
	ExpiresAt    store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"` // of token
} //	@name	AuthResult

// Public returns the representation for everyone.
func (u User) Public() PublicView { return PublicView{ID: u.ID, Name: u.Name, Picture: u.Picture} }

// View returns the representation for the user and for admins.
func (u User) View() View {
	return View{ID: u.ID, Name: u.Name, Picture: u.Picture, Email: u.Email, Role: u.Role, CreatedAt: u.CreatedAt, Fields: u.Fields}
}

func spec() listing.Spec {
	return listing.Spec{
		Name:   "users",
		Search: []string{"name", "email"},
		Sort:   []string{"name", "email", "createdAt"},
		Filter: []listing.Filter{{Field: "role", Type: listing.Enum, Values: []string{"user", "admin"}}, {Field: "createdAt", Type: listing.Time}},
		View:   View{},
	}
}

func storeSpec() store.Spec {
	return spec().Store(store.Index{Fields: []string{"email"}, Unique: true})
}

// NormalEmail returns the form in which an email address is stored and looked up: trimmed, ASCII in lower case. Other
// letters are not changed, because some become ASCII: the Kelvin sign, U+212A, is k in lower case.
func NormalEmail(email string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, strings.TrimSpace(email))
}

// defaultName returns the part of the address before @, up to the maximum length of a name.
func defaultName(email string) string {
	name, _, _ := strings.Cut(email, "@")
	runes := []rune(name)
	return string(runes[:min(len(runes), 100)])
}

// defaultPicture returns the URL of the address's Gravatar, or of a generated pattern if there is none.
func defaultPicture(email string) string {
	sum := sha256.Sum256([]byte(email))
	return "https://www.gravatar.com/avatar/" + hex.EncodeToString(sum[:]) + "?d=identicon"
}
