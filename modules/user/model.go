package user

import (
	"reflect"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// The codes of errors with the status 403.
const (
	EmailNotVerified apperr.Code = "email_not_verified" // SIGNUP_EMAIL=required, and the user has not verified the address
	Suspended        apperr.Code = "suspended"          // an admin has suspended the user
)

// User is a stored account.
type User struct {
	store.Meta `bson:",inline"`
	Fields     `bson:",inline"`
	Email      string `json:"email"`      // unique; in normal form: see kit/email/address
	EmailWords string `json:"emailWords"` // for search: the address with its domain in Unicode; "" if that is the same
	Name       string `json:"name"`
	Picture    string `json:"picture"` // URL of an image; see Service.View
	// PictureFile is the picture that the user has uploaded; nil: none.
	PictureFile *files.File `json:"pictureFile"`
	Role        access.Role `json:"role"`
	Password    string      `json:"password"` // hash; see package password
	// Epoch increases when all sessions end: a session is valid only in the epoch in which it began. A password change thus ends
	// all sessions in the same write, including the session of a concurrent sign-in with the old password.
	Epoch int64 `json:"epoch"`
	// EmailVerified reports whether the account belongs to the owner of the address: an identity provider had verified it at
	// sign-up, or the user opened a link, or entered a code, that was sent to it.
	EmailVerified bool `json:"emailVerified"`
	// Suspended users cannot sign in. Users that an earlier version stored have no such field.
	Suspended bool `json:"suspended"`
	// LinksFrom is an epoch: identities, passkeys and API keys that were added in an earlier epoch are invalid.
	LinksFrom int64 `json:"linksFrom"`
	// KeysFrom is an epoch: API keys that were created in an earlier epoch are invalid; see FirstKeyEpoch. A suspension sets it.
	KeysFrom int64 `json:"keysFrom"`
	// UndoFrom is an epoch: changes of the address that were made in an earlier epoch cannot be undone.
	UndoFrom int64 `json:"undoFrom"`
	Removals `bson:",inline"`
}

const (
	emailRules = "required,maxbytes=254,email,excludes=:,plain,normalizable"
	maxName    = 100 // characters
)

// MaySignIn fails with the error code Suspended if the user may not sign in. Call MaySignIn after the user has been
// authenticated.
func (u User) MaySignIn() error {
	if u.Suspended {
		return apperr.New(apperr.Forbidden, "An admin has suspended this account. Contact the operator of this service.").WithCode(Suspended)
	}
	return nil
}

// FirstKeyEpoch returns the first epoch whose API keys are valid. A suspension, a password reset, Service.Claim and
// Service.RestoreEmail invalidate the keys of earlier epochs. Other changes, such as a password change, invalidate no keys.
func (u User) FirstKeyEpoch() int64 { return max(u.KeysFrom, u.LinksFrom) }

// HasPassword reports whether the user can sign in with a password.
func (u User) HasPassword() bool { return u.Password != "" }

// Profile describes a new user. Email is required.
type Profile struct{ Email, Name, Picture string }

// CreateInput has the parameters of a new user. HTTP Basic cannot transmit an email address with a colon (RFC 7617 section 2).
type CreateInput struct {
	Email    string `json:"email" validate:"required,maxbytes=254,email,excludes=:,plain,normalizable" example:"ada@example.com" format:"email" maxLength:"254"`
	Password string `json:"password" trim:"no" unicode:"NFC" validate:"required,min=8,max=128,uncommon" example:"correct horse battery" format:"password"`
	Name     string `json:"name" validate:"max=100,plain" example:"Ada"`
	Picture  string `json:"picture" validate:"max=2048,plain_http_url" example:"https://example.com/ada.png"`
	createRole
	Fields
} //	@name	UserCreate

// UpdateInput has the parameters of a change. An empty name or picture is replaced by the default. The current values of email,
// role and suspended are accepted from every caller.
type UpdateInput struct {
	Name    string `json:"name" example:"Ada Lovelace" maxLength:"100"`
	Picture string `json:"picture" example:"https://example.com/ada.png" format:"uri" maxLength:"2048"`
	Email   string `json:"email" validate:"required" example:"ada@example.com" format:"email" maxLength:"254"` // only admins can change the address
	updateRole

	Suspended bool `json:"suspended"` // a suspended user has no sessions, and cannot sign in; only admins can change this field
	Fields
} //	@name	UserUpdate

// profile has the validation rules of names and pictures. Update applies the rules only to changed values: a client may send back
// a value that an earlier version stored.
type profile struct {
	Name    string `json:"name" validate:"max=100,plain"`
	Picture string `json:"picture" validate:"max=2048,plain_http_url"`
}

// check fails with ValidationFailed unless the name, picture and address are valid as new values.
func (in UpdateInput) check() error {
	return rest.Validate(struct {
		profile
		Email string `json:"email" validate:"maxbytes=254,email,excludes=:,plain,normalizable"`
	}{profile{in.Name, in.Picture}, in.Email})
}

// PasswordInput has the parameters of a password change.
type PasswordInput struct {
	Password string `json:"password" trim:"no" unicode:"NFC" validate:"required,min=8,max=128,uncommon" example:"a better horse battery" format:"password"`
	access.Proof
} //	@name	UserPassword

// PublicView is the representation of a user for everyone.
type PublicView struct {
	ID      store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name    string   `json:"name" example:"Ada"`
	Picture string   `json:"picture" example:"https://www.gravatar.com/avatar/84f4…?d=identicon&f=y"`
} //	@name	UserPublic

// View is the representation of a user for the user and for admins.
type View struct {
	ID      store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name    string   `json:"name" example:"Ada"`
	Picture string   `json:"picture" example:"https://www.gravatar.com/avatar/84f4…?d=identicon&f=y"`
	Email   string   `json:"email" example:"ada@example.com"`
	viewRole
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`

	EmailVerified bool `json:"emailVerified"`             // true if the user has proved that the email address is theirs
	HasPassword   bool `json:"hasPassword"`               // false if the user has no password, and signs in another way, such as with a provider
	Suspended     bool `json:"suspended" example:"false"` // true if an admin has suspended the user, who then cannot sign in
	Fields
} //	@name	User

// AnyView documents a response with a PublicView or a View.
type AnyView struct {
	PublicView
	Email string `json:"email,omitempty" extensions:"x-omitempty" example:"ada@example.com"`
	anyViewRole
	CreatedAt store.Time `json:"createdAt,omitzero" swaggertype:"string" format:"date-time" extensions:"x-omitempty" example:"2026-01-02T15:04:05.678Z"`

	EmailVerified bool `json:"emailVerified,omitempty" extensions:"x-omitempty"`
	HasPassword   bool `json:"hasPassword,omitempty" extensions:"x-omitempty"`
	Suspended     bool `json:"suspended,omitempty" extensions:"x-omitempty"`
	Fields
} //	@name	UserSeen

// SignedIn is the response to a sign-in.
type SignedIn struct {
	Token        string     `json:"token" example:"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…"` // user token; send it as Authorization: Bearer TOKEN, or as access_token
	User         View       `json:"user"`
	RefreshToken string     `json:"refreshToken" example:"Zk3n0cXGk2…"`                                                   // refresh token for POST /auth/refresh; valid once
	ExpiresAt    store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"` // time at which token expires
} //	@name	AuthResult

// Public returns the representation of a user for everyone.
func (s *Service) Public(u User) PublicView {
	return PublicView{ID: u.ID, Name: u.Name, Picture: s.picture(u)}
}

// viewFor returns the representation of a user for the caller.
func (s *Service) viewFor(caller access.Principal, u User) any {
	if caller.Is(u.ID) || caller.IsAdmin() {
		return s.View(u)
	}
	return s.Public(u)
}

// View returns the representation of a user for the user and for admins.
func (s *Service) View(u User) View {
	return View{
		ID: u.ID, Name: u.Name, Picture: s.picture(u), Email: u.Email, viewRole: viewRole{u.Role}, CreatedAt: u.CreatedAt,
		EmailVerified: u.EmailVerified, HasPassword: u.HasPassword(), Suspended: u.Suspended, Fields: u.Fields,
	}
}

// mayChange fails with Forbidden unless the caller is the user or an admin, and with PreconditionFailed if expected rejects the
// user.
func (s *Service) mayChange(u User, caller access.Principal, expected Expected) error {
	if err := caller.MayChange(u.ID); err != nil {
		return err
	}
	return s.check(u, expected)
}

// Expected reports whether a user with the view may be changed. nil accepts every user. See rest.IfMatchView.
type Expected func(view any) bool

// check fails with PreconditionFailed if expected rejects the user.
func (s *Service) check(u User, expected Expected) error {
	if expected == nil || expected(s.View(u)) {
		return nil
	}
	return store.ErrStale
}

func spec() listing.Spec {
	return listing.Spec{
		Name:   "users",
		Search: []string{"name", "email", "emailWords"},
		Sort:   []string{"name", "email", "createdAt"},
		Filter: []listing.Filter{
			{Field: "email", Type: listing.Email},
			{Field: "role", Type: listing.Enum, Values: Roles},
			{Field: "createdAt", Type: listing.Time},
			{Field: "emailVerified", Type: listing.Bool, Absent: true},
			{Field: "suspended", Type: listing.Bool, Absent: true},
		},
		View: View{},
		ETag: listing.ViewETag,
	}
}

// storeSpec records in the log of changes what can give an account to somebody else, or end it.
func storeSpec() store.Spec {
	s := spec().Store(store.Index{Fields: []string{"email"}, Unique: true})
	s.Changes, s.LogFields = true, append([]string{"email", "role", "suspended"}, store.FieldNames(reflect.TypeFor[Removals]())...)
	return s
}

// defaultName returns the name of a user who did not enter a name: the part of the address before the @, cleaned by CleanName.
func defaultName(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return CleanName(name)
}

// CleanName returns a name without control characters, trimmed and shortened to maxName characters.
func CleanName(name string) string {
	printable := strings.Map(func(r rune) rune {
		if rest.IsControl(r) {
			return -1
		}
		return r
	}, name)
	runes := []rune(strings.TrimSpace(printable))
	return strings.TrimSpace(string(runes[:min(len(runes), maxName)]))
}

// ValidEmail reports whether a user can have the address.
func ValidEmail(address string) bool { return rest.Valid(strings.TrimSpace(address), emailRules) }

// ValidPicture reports whether a user can have the URL as the picture.
func ValidPicture(address string) bool { return rest.Valid(address, "max=2048,plain_http_url") }
