package user

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// User is an account as it is stored.
type User struct {
	store.Meta `bson:",inline"`
	Email      string      `json:"email"` // trimmed, lower case, unique
	Name       string      `json:"name"`
	Picture    string      `json:"picture"` // address of an image
	Role       access.Role `json:"role"`
	Password   string      `json:"password"` // hash; see package password
	// Epoch is raised when all sessions end at once: a session is good only in the epoch it began in. So a password
	// change ends them in the same atomic write, and no sign-in with the old password can slip past it.
	Epoch int64 `json:"epoch"`
	// EmailVerified tells that the owner of the address is known to hold the account: a provider said so when it was made,
	// or she completed a password reset.
	EmailVerified bool `json:"emailVerified"`
	// LinksFrom is the first epoch whose linked identities are good.
	LinksFrom int64 `json:"linksFrom"`
}

// HasPassword reports whether the user can sign in with a password.
func (u User) HasPassword() bool { return u.Password != "" }

// Profile is what is known of somebody who is to have an account. Email is needed.
type Profile struct{ Email, Name, Picture string }

// CreateInput is what sign-up takes. An address with a colon could not be sent as HTTP Basic (RFC 7617 section 2).
type CreateInput struct {
	Email    string `json:"email" validate:"required,maxbytes=254,email,excludes=:" example:"ada@example.com" format:"email" maxLength:"254"`
	Password string `json:"password" trim:"no" validate:"required,min=8,max=128,uncommon" example:"correct horse battery" format:"password"`
	Name     string `json:"name" validate:"max=100" example:"Ada"`
	Picture  string `json:"picture" validate:"omitempty,max=2048,http_url" example:"https://example.com/ada.png"`
	Role     string `json:"role" validate:"omitempty,oneof=user admin" enums:"user,admin"`
} //	@name	UserCreate

// UpdateInput is what a change of a user takes: nil leaves a field as it is, and an empty name or picture goes back to
// its default.
type UpdateInput struct {
	Name    *string `json:"name" null:"clear" validate:"omitnil,max=100" example:"Ada Lovelace" extensions:"x-nullable"`
	Picture *string `json:"picture" null:"clear" validate:"omitnil,max=2048,len=0|http_url" example:"https://example.com/ada.png" extensions:"x-nullable"`
	Role    *string `json:"role" validate:"omitnil,oneof=user admin" enums:"user,admin"`
} //	@name	UserUpdate

// PasswordInput is what a change of password takes.
type PasswordInput struct {
	Password string `json:"password" trim:"no" validate:"required,min=8,max=128,uncommon" example:"a better horse battery" format:"password"`
} //	@name	UserPassword

// PublicView is a user as everyone sees it.
type PublicView struct {
	ID      store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name    string   `json:"name" example:"Ada"`
	Picture string   `json:"picture" example:"https://www.gravatar.com/avatar/84f4…?d=identicon"`
} //	@name	UserPublic

// View is a user as she and admins see it. The password never leaves the server.
type View struct {
	ID        store.ID    `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name      string      `json:"name" example:"Ada"`
	Picture   string      `json:"picture" example:"https://www.gravatar.com/avatar/84f4…?d=identicon"`
	Email     string      `json:"email" example:"ada@example.com"`
	Role      access.Role `json:"role" swaggertype:"string" enums:"user,admin" example:"user"`
	CreatedAt store.Time  `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
} //	@name	User

// AnyView documents an answer that is a PublicView or a View.
type AnyView struct {
	PublicView
	Email     string      `json:"email,omitempty" extensions:"x-omitempty" example:"ada@example.com"`
	Role      access.Role `json:"role,omitempty" swaggertype:"string" enums:"user,admin" extensions:"x-omitempty" example:"user"`
	CreatedAt store.Time  `json:"createdAt,omitzero" swaggertype:"string" format:"date-time" extensions:"x-omitempty" example:"2026-01-02T15:04:05.678Z"`
} //	@name	UserSeen

// SignedIn is the answer to every way of signing in (seed: token, user).
type SignedIn struct {
	Token        string     `json:"token" example:"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…"` // send it as access_token
	User         View       `json:"user"`
	RefreshToken string     `json:"refreshToken" example:"Zk3n0cXGk2…"`                                                   // trade it for the next pair, once
	ExpiresAt    store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"` // of token
} //	@name	AuthResult

// Public is the user as everyone sees it.
func (u User) Public() PublicView { return PublicView{ID: u.ID, Name: u.Name, Picture: u.Picture} }

// View is the user as she and admins see it.
func (u User) View() View {
	return View{ID: u.ID, Name: u.Name, Picture: u.Picture, Email: u.Email, Role: u.Role, CreatedAt: u.CreatedAt}
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

// NormalEmail is the form in which an e-mail address is stored and looked up: ASCII in lower case, and nothing else
// changed. Beyond ASCII other people's letters become these: the Kelvin sign, U+212A, is a k in lower case.
func NormalEmail(email string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, strings.TrimSpace(email))
}

// defaultName is the part of the address before @, as far as a name may be long.
func defaultName(email string) string {
	name, _, _ := strings.Cut(email, "@")
	runes := []rune(name)
	return string(runes[:min(len(runes), 100)])
}

// defaultPicture is the address's Gravatar, or a pattern made from it where there is none.
func defaultPicture(email string) string {
	sum := sha256.Sum256([]byte(email))
	return "https://www.gravatar.com/avatar/" + hex.EncodeToString(sum[:]) + "?d=identicon"
}
