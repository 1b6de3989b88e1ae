package passkey

import (
	"encoding/base64"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Passkey is a stored passkey: the credential record of Web Authentication section 4.
type Passkey struct {
	store.Meta   `bson:",inline"`
	UserID       store.ID `json:"userId"`
	Name         string   `json:"name"`
	CredentialID string   `json:"credentialId"` // base64url; unique
	PublicKey    string   `json:"publicKey"`    // COSE, base64url
	// Epoch is the user's epoch at registration. The passkey is invalid if Epoch is less than user.User.LinksFrom. Passkeys
	// that an attacker may have added become invalid when the user resets the password, claims the email address
	// (user.Service.Claim) or undoes a change of the email address.
	Epoch          int64       `json:"epoch"`
	SignCount      int64       `json:"signCount"`
	BackupEligible bool        `json:"backupEligible"`
	BackupState    bool        `json:"backupState"`
	Transports     []string    `json:"transports"`
	LastUsedAt     *store.Time `json:"lastUsedAt"` // nil: never
}

// challenge is the state of a registration or a sign-in. challengeID returns its ID.
type challenge struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`  // the user who registers; zero for a sign-in
	Epoch      int64      `json:"epoch"`   // the user's epoch
	Session    string     `json:"session"` // webauthn.SessionData as JSON
	ExpiresAt  store.Time `json:"expiresAt"`
}

// encoding is the encoding that Web Authentication uses.
var encoding = base64.RawURLEncoding

func newPasskey(meta store.Meta, u user.User, name string, c *webauthn.Credential) Passkey {
	p := Passkey{
		Meta: meta, UserID: u.ID, Epoch: u.Epoch, Name: name, CredentialID: encoding.EncodeToString(c.ID), PublicKey: encoding.EncodeToString(c.PublicKey),
		SignCount: int64(c.Authenticator.SignCount), BackupEligible: c.Flags.BackupEligible, BackupState: c.Flags.BackupState, Transports: []string{},
	}
	for _, t := range c.Transport[:min(len(c.Transport), maxTransports)] {
		if len(t) <= maxTransport && rest.CheckString(string(t)) == nil {
			p.Transports = append(p.Transports, string(t))
		}
	}
	return p
}

// Limits of the transports of an authenticator, which the client reports.
const (
	maxTransports = 10
	maxTransport  = 32 // bytes
)

// credential returns the passkey in the form that package webauthn uses.
func (p Passkey) credential() webauthn.Credential {
	id, _ := encoding.DecodeString(p.CredentialID) // never fails: newPasskey encoded it
	key, _ := encoding.DecodeString(p.PublicKey)
	c := webauthn.Credential{
		ID: id, PublicKey: key,
		Flags:         webauthn.CredentialFlags{UserPresent: true, UserVerified: true, BackupEligible: p.BackupEligible, BackupState: p.BackupState},
		Authenticator: webauthn.Authenticator{SignCount: uint32(p.SignCount)},
	}
	for _, t := range p.Transports {
		c.Transport = append(c.Transport, protocol.AuthenticatorTransport(t))
	}
	return c
}

// account is a user with passkeys. It implements webauthn.User.
type account struct {
	user.User
	credentials webauthn.Credentials
}

func (a account) WebAuthnID() []byte                         { return a.ID[:] }
func (a account) WebAuthnName() string                       { return a.Email }
func (a account) WebAuthnDisplayName() string                { return a.Name }
func (a account) WebAuthnCredentials() []webauthn.Credential { return a.credentials }

// Registration is the value of the credential parameter in CreateInput.
type Registration struct {
	*protocol.ParsedCredentialCreationData
}

// ParseInput implements rest.Parser.
func (r *Registration) ParseInput(name string, value json.RawMessage) (fields []apperr.Field) {
	r.ParsedCredentialCreationData, fields = parse(name, value, protocol.ParseCredentialCreationResponseBytes)
	return fields
}

// Assertion is the value of the credential parameter in SignInInput.
type Assertion struct {
	*protocol.ParsedCredentialAssertionData
}

// ParseInput implements rest.Parser.
func (a *Assertion) ParseInput(name string, value json.RawMessage) (fields []apperr.Field) {
	a.ParsedCredentialAssertionData, fields = parse(name, value, protocol.ParseCredentialRequestResponseBytes)
	return fields
}

// parse reads the JSON form of a PublicKeyCredential. The codes of its errors are apperr.Type and apperr.Format.
func parse[T any](name string, value json.RawMessage, read func([]byte) (T, error)) (T, []apperr.Field) {
	var none T
	if len(value) == 0 || value[0] != '{' {
		return none, []apperr.Field{{Param: name, Code: apperr.Type, Message: "Must be a JSON object: credential.toJSON() in the browser."}}
	}
	parsed, err := read(value)
	if err != nil {
		return none, []apperr.Field{{Param: name, Code: apperr.Format, Message: "Must be the credential that the browser returned for these options, as JSON: credential.toJSON()."}}
	}
	return parsed, nil
}

// CreateInput has the parameters of a new passkey.
type CreateInput struct {
	Challenge  string       `json:"challenge" validate:"required,max=200" example:"Zk3n0cXGk2…" maxLength:"200"` // challenge from the options
	Credential Registration `json:"credential" validate:"required" swaggertype:"string" extensions:"x-json=object" example:"{\"id\": \"pQ3…\", \"type\": \"public-key\"}"`
	Name       string       `json:"name" default:"Passkey" validate:"max=100,plain" example:"Ada's phone" maxLength:"100"`
} //	@name	PasskeyCreate

// UpdateInput has the parameters of a change.
type UpdateInput struct {
	Name string `json:"name" validate:"required,max=100,plain" example:"Ada's phone" maxLength:"100"`
	access.Proof
} //	@name	PasskeyUpdate

// SignInInput has the parameters of a sign-in.
type SignInInput struct {
	Challenge  string    `json:"challenge" validate:"required,max=200" example:"Zk3n0cXGk2…" maxLength:"200"` // challenge from the options
	Credential Assertion `json:"credential" validate:"required" swaggertype:"string" extensions:"x-json=object" example:"{\"id\": \"pQ3…\", \"type\": \"public-key\"}"`
} //	@name	PasskeySignIn

// RegistrationOptions are the options of navigator.credentials.create.
type RegistrationOptions struct {
	Challenge string                                      `json:"challenge" example:"Zk3n0cXGk2…"` // for POST /users/me/passkeys; valid for 5 minutes and one request
	PublicKey protocol.PublicKeyCredentialCreationOptions `json:"publicKey" swaggertype:"object"`  // value of the type PublicKeyCredentialCreationOptionsJSON (Web Authentication)
} //	@name	PasskeyRegistrationOptions

// SignInOptions are the options of navigator.credentials.get.
type SignInOptions struct {
	Challenge string                                     `json:"challenge" example:"Zk3n0cXGk2…"` // for POST /auth/passkey; valid for 5 minutes and one request
	PublicKey protocol.PublicKeyCredentialRequestOptions `json:"publicKey" swaggertype:"object"`  // value of the type PublicKeyCredentialRequestOptionsJSON (Web Authentication)
} //	@name	PasskeySignInOptions

// View is the representation of a passkey.
type View struct {
	ID             store.ID    `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name           string      `json:"name" example:"Ada's phone"`
	CredentialID   string      `json:"credentialId" example:"pQ3cXGk2…"` // ID that the authenticator chose
	BackupEligible bool        `json:"backupEligible" example:"true"`    // true if the passkey can be copied to other devices of the user
	BackupState    bool        `json:"backupState" example:"true"`       // true if the passkey has been backed up
	Transports     []string    `json:"transports" example:"internal,hybrid"`
	CreatedAt      store.Time  `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	LastUsedAt     *store.Time `json:"lastUsedAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-02T15:04:05.678Z"` // time of the last sign-in; null: never used
} //	@name	Passkey

// List has the passkeys of a user, oldest first.
type List struct {
	Rows  []View `json:"rows"`
	Count int    `json:"count" example:"1"`
} //	@name	PasskeyList

// View returns the representation of the passkey.
func (p Passkey) View() View {
	return View{
		ID: p.ID, Name: p.Name, CredentialID: p.CredentialID, BackupEligible: p.BackupEligible, BackupState: p.BackupState, Transports: p.Transports,
		CreatedAt: p.CreatedAt, LastUsedAt: p.LastUsedAt,
	}
}

func storeSpec() store.Spec {
	return store.Spec{
		Name: "passkeys",
		Indexes: []store.Index{
			{Fields: []string{"credentialId"}, Unique: true},
			{Fields: []string{"userId", "createdAt"}},
		},
	}
}

func challengeSpec() store.Spec {
	return store.Spec{Name: "passkey-challenges", Indexes: []store.Index{{Fields: []string{"expiresAt"}}}}
}
