// Package emailcode signs users in with one-time codes that they receive by email.
package emailcode

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Sessions opens the sessions of users. *auth.Module implements it.
type Sessions interface {
	Open(ctx context.Context, u user.User, client access.Client, methods ...access.Method) (user.SignedIn, error)
}

// Module provides the routes of sign-in with codes by email.
type Module struct {
	*Service
	controller *controller
}

// Settings are the settings of this module.
type Settings struct {
	// Signup allows sign-up: a code for an unknown address creates an account, if the request for the code had the master key or
	// PUBLIC_SIGNUP is true.
	Signup bool `mapstructure:"EMAIL_CODE_SIGNUP" default:"false"`
}

// New creates the module and registers it with users: codes are deleted with their user.
func New(d kit.Deps, s Settings, users *user.Module, sessions Sessions) *Module {
	service := &Service{
		db: d.DB, users: users, sessions: sessions, codes: store.Open[Code](d.DB, storeSpec()), limiter: d.Limiter, emails: d.Email,
		digest: d.Digest, signup: s.Signup, now: d.Now,
	}
	d.Email.Handle(emailKind, service.build)
	users.OnDelete(service)
	return &Module{Service: service, controller: &controller{service}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-email-codes", Interval: job.SweepInterval, Run: m.sweep}}, EmailPreviews: emailPreviews}
}
