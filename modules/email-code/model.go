package emailcode

import (
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Code is the stored form of a challenge. Its ID is a keyed hash of the challenge that the client receives. The code in the email
// is derived from the ID and not stored. Every request stores a Code, even if no email is sent.
type Code struct {
	store.Meta `bson:",inline"`
	Email      string     `json:"email"`  // in normal form
	UserID     store.ID   `json:"userId"` // zero: there is no user with the address
	Epoch      int64      `json:"epoch"`  // the user's epoch when the email was sent; the code is invalid in a later one
	Sent       bool       `json:"sent"`   // false: no email was sent, and every code is wrong
	Attempts   int64      `json:"attempts"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

// Input has the parameters of a request for a code.
type Input struct {
	Email string `json:"email" validate:"required,maxbytes=254,email,excludes=:,plain,normalizable" example:"ada@example.com" format:"email" maxLength:"254"`
} //	@name	EmailCodeCreate

// Accepted is the response to a request for a code. It does not reveal whether the address is known.
type Accepted struct {
	Challenge string `json:"challenge" example:"K5GXQ3ZVMNRHE5DTOB2XI2LPNY"` // the code in the email is valid with this challenge only
} //	@name	EmailCodeAccepted

// SignInInput has the parameters of a sign-in.
type SignInInput struct {
	Challenge string `json:"challenge" validate:"required,max=200" example:"K5GXQ3ZVMNRHE5DTOB2XI2LPNY"` // challenge from the response to POST /auth/email-code
	Code      string `json:"code" validate:"required,max=20" example:"123456"`                           // code in the email; spaces are ignored
} //	@name	EmailCodeSignIn

// check fails with ValidationFailed unless the code has 6 digits.
func (in SignInInput) check() error {
	if rest.Valid(in.Code, "len=6,number") {
		return nil
	}
	return apperr.Invalid(apperr.Field{In: "body", Param: "code", Code: apperr.Format, Message: "Must be 6 digits."})
}

func storeSpec() store.Spec {
	return store.Spec{Name: "email-codes", Indexes: []store.Index{{Fields: []string{"userId"}}, {Fields: []string{"expiresAt"}}}}
}

func noChallenge() error {
	return apperr.New(apperr.Unauthorized, "The challenge is invalid, was used or has expired, or too many wrong codes were entered. Request another code.")
}

func wrongCode() error {
	return apperr.Invalid(apperr.Field{In: "body", Param: "code", Code: apperr.Wrong, Message: "Is wrong. Enter the code of the email that this challenge belongs to."})
}
