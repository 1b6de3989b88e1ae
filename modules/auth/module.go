// Package auth provides sign-in with email address and password, user tokens and sessions.
package auth

import (
	"context"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Module provides the routes of sign-in and sessions, and verifies user tokens.
type Module struct {
	*Service
	controller *controller
}

// Settings are the settings of this module.
type Settings struct {
	Secret string        `mapstructure:"JWT_SECRET" validate:"secret" example:"change-me-to-another-long-random-secret"`
	TTL    time.Duration `mapstructure:"JWT_TTL" default:"1h" validate:"min=1m,max=720h"`
	// RefreshTTL is the lifetime of a session after its creation or last refresh.
	RefreshTTL time.Duration `mapstructure:"REFRESH_TTL" default:"720h" validate:"min=1h,max=8760h,gtefield=TTL"`
}

// New creates the module. It registers the module with users, to delete the sessions of deleted users, and to keep the session of
// a caller who changes their password.
func New(d kit.Deps, s Settings, users *user.Module) *Module {
	service := &Service{
		db:         d.DB,
		users:      users,
		sessions:   store.Open[Session](d.DB, storeSpec()),
		limiter:    d.Limiter,
		tokens:     access.NewTokens(s.Secret, s.TTL, d.Now),
		refreshTTL: s.RefreshTTL,
		now:        d.Now,
		secret:     s.Secret,
	}
	users.OnDelete(service)
	users.SetSessions(service)
	return &Module{Service: service, controller: &controller{service: service, lister: listing.NewLister(spec(), d.Cursors)}}
}

// SecondFactor is implemented by the module that manages the second factors of users. If the user has no second factor, Challenge
// returns nil. Otherwise, Challenge returns an error that explains how to continue the sign-in. methods are the sign-in methods
// that the user has completed.
type SecondFactor = interface {
	Challenge(ctx context.Context, u user.User, methods []access.Method) error
}

// SetSecondFactor makes every sign-in with only one factor require the second factor. It must be called once, before the server
// starts.
func (m *Module) SetSecondFactor(f SecondFactor) {
	if m.secondFactor != nil {
		panic("auth: SetSecondFactor was already called; only one module can manage second factors")
	}
	m.secondFactor = f
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-sessions", Interval: job.SweepInterval, Run: m.sweep}}, Tokens: m}
}
