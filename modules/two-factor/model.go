package twofactor

import (
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// TwoFactorRequired is the code of the error (status 403) for a user whose role requires a second factor and who has none.
const TwoFactorRequired apperr.Code = "two_factor_required"

// Factor is a stored second factor. Its ID is the ID of the user.
type Factor struct {
	store.Meta    `bson:",inline"`
	Secret        string      `json:"secret"`        // encrypted; see secretUse
	Epoch         int64       `json:"epoch"`         // the user's epoch at creation; the factor can be confirmed only in this epoch
	ConfirmedAt   *store.Time `json:"confirmedAt"`   // nil: it is not confirmed
	LastStep      int64       `json:"lastStep"`      // time step of the last accepted code (RFC 6238 section 5.2)
	RecoveryCodes []string    `json:"recoveryCodes"` // digests of the unused codes
}

// CodeInput has the parameters of a confirmation.
type CodeInput struct {
	Code string `json:"code" validate:"required,max=20" example:"123456"` // code of the authenticator app; spaces are ignored
} //	@name	TwoFactorCode

// SignInInput has the parameters of the second step of a sign-in.
type SignInInput struct {
	Challenge string `json:"challenge" validate:"required,max=200" example:"Zk3n0cXGk2…"` // challenge from the error second_factor_required of the sign-in
	access.Proof
} //	@name	TwoFactorSignIn

// checkProof removes the spaces of p.Code. It fails with ValidationFailed unless exactly one code is given. A given p.Code must
// have 6 digits.
func checkProof(p *access.Proof) error {
	p.Code = strings.ReplaceAll(p.Code, " ", "")
	if p.Code != "" && !rest.Valid(p.Code, "len=6,number") {
		return apperr.Invalid(apperr.Field{In: "body", Param: "code", Code: apperr.Format, Message: "Must be 6 digits."})
	}
	if (p.Code == "") != (p.RecoveryCode == "") {
		return nil
	}
	return apperr.Invalid(apperr.Field{In: "body", Param: "code", Code: apperr.Required, Message: "Exactly one of code and recovery_code must be given."})
}

// Enrolment is a second factor to confirm. It is shown once.
type Enrolment struct {
	Secret     string `json:"secret" example:"JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"`
	OTPAuthURL string `json:"otpauthUrl" example:"otpauth://totp/shop:ada@example.com?secret=JBSW…"` // link that opens an authenticator app on the same device
	QR         string `json:"qr" example:"data:image/svg+xml;base64,PHN2Zy…"`                        // QR code of otpauthUrl, as a data URL of an SVG image
} //	@name	TwoFactorEnrolment

// RecoveryCodes are the codes that replace a lost device. They are shown once.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recoveryCodes" example:"abcd-efgh-ijkl-mnop"` // each code can be used once
} //	@name	TwoFactorRecoveryCodes

// View is the representation of a user's second factor.
type View struct {
	Enabled           bool `json:"enabled" example:"true"` // true if sign-in requires a code
	RecoveryCodesLeft int  `json:"recoveryCodesLeft" example:"10" maximum:"10"`
} //	@name	TwoFactor

func storeSpec() store.Spec { return store.Spec{Name: "factors"} }
