package user

import (
	"context"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/ratelimit"
)

// SecondFactor is implemented by the module with the second factors of users.
type SecondFactor interface {
	// StepUp is Service.StepUp.
	StepUp(ctx context.Context, caller access.Principal, client access.Client, p Proof) (ratelimit.States, error)
}

// StepUpWith registers the module with the second factors of users. It must be called before the server starts.
func (m *Module) StepUpWith(f SecondFactor) { m.secondFactor = f }

// Proof proves that the caller has their second factor: exactly one of Code and RecoveryCode. Each is accepted once.
type Proof struct {
	Code         string `json:"code" validate:"max=20" example:"123456" maxLength:"20"`                       // of the authenticator app; spaces are ignored
	RecoveryCode string `json:"recovery_code" validate:"max=40" example:"abcd-efgh-ijkl-mnop" maxLength:"40"` // instead of code
} //	@name	TwoFactorProof

// StepUp checks the second factor of the caller before a change with which somebody else could take over the account or end
// it. It accepts every proof of a user without one. It is called for a request, as the verification of a password is.
// SecondFactorRequired: the proof is empty. ValidationFailed: it is wrong. TooManyRequests: too many were wrong. The states of
// the rate limits are also returned with an error.
func (s *Service) StepUp(ctx context.Context, caller access.Principal, client access.Client, p Proof) (ratelimit.States, error) {
	if s.secondFactor == nil {
		return nil, nil
	}
	return s.secondFactor.StepUp(ctx, caller, client, p)
}
