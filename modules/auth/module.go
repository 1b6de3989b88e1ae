// Package auth signs users in: it trades an e-mail and a password for tokens, and keeps the session behind them.
package auth

import (
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
	"example.com/ginseng/modules/user"
)

// Options are what a Module is made of.
type Options struct {
	Users    *user.Service
	Sessions *Sessions
	Limits   *ratelimit.Limiter
	Config   Settings
	Now      func() time.Time
	NewID    func() store.ID
}

// Module mounts the routes of signing in and out and of sessions, and verifies tokens for the guard.
type Module struct {
	*Service
	controller *controller
}

// New makes the module.
func New(o Options) *Module {
	service := &Service{
		users:      o.Users,
		sessions:   o.Sessions,
		limits:     o.Limits,
		tokens:     access.NewTokens(o.Config.Secret, o.Config.TTL, o.Now),
		refreshTTL: o.Config.RefreshTTL,
		now:        o.Now,
		newID:      o.NewID,
	}
	return &Module{Service: service, controller: &controller{service}}
}

var (
	_ middleware.Module    = (*Module)(nil)
	_ access.TokenVerifier = (*Service)(nil)
	_ user.Dependent       = (*Sessions)(nil)
)
