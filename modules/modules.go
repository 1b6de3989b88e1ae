// Package modules is the registry: the one place that names every module, dependencies first.
package modules

import (
	"context"
	"time"

	"example.com/ginseng/internal/access"
	"example.com/ginseng/internal/limit"
	"example.com/ginseng/internal/listing"
	"example.com/ginseng/internal/password"
	"example.com/ginseng/internal/store"
	"example.com/ginseng/middleware"
	"example.com/ginseng/modules/article"
	"example.com/ginseng/modules/auth"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/modules/user"
)

// Settings are the sections of the modules.
type Settings struct {
	Auth auth.Config
	User user.Config
}

// Host is what the service lends to its modules.
type Host struct {
	DB         store.DB
	MasterKeys []string // at least one
	Now        func() time.Time
	NewID      func() store.ID
}

// Service is what the modules make together.
type Service struct {
	Modules []middleware.Module
	Guard   middleware.Guard
	// Idempotency keeps answers for clients who repeat a request.
	Idempotency *middleware.Idempotency
	Sweeps      []func(context.Context) error // each deletes what has expired; to be called now and then
}

// New makes every module.
func New(h Host, s Settings) Service {
	cursors := listing.NewCursors(h.MasterKeys...)
	idempotency := middleware.NewIdempotency(h.DB, h.Now, h.NewID)
	limits := limit.New(h.DB, h.Now)
	sessions := auth.NewSessions(h.DB)
	users := user.New(user.Options{
		DB: h.DB, Config: s.User, Hasher: password.NewHasher(), Cursors: cursors, Limits: limits,
		Dependents: []user.Dependent{sessions}, Now: h.Now, NewID: h.NewID,
	})
	auths := auth.New(auth.Options{Users: users.Service, Sessions: sessions, Limits: limits, Config: s.Auth, Now: h.Now, NewID: h.NewID})
	articles := article.New(article.Options{DB: h.DB, Cursors: cursors, Now: h.Now, NewID: h.NewID})
	policies := policy.New(policy.Options{DB: h.DB, Cursors: cursors, Now: h.Now, NewID: h.NewID})
	return Service{
		Modules: []middleware.Module{
			users,
			auths,
			articles,
			policies,
		},
		Guard:       middleware.Guard{Keys: access.NewKeys(h.MasterKeys), Tokens: auths, Passwords: users},
		Idempotency: idempotency,
		Sweeps:      []func(context.Context) error{auths.Sweep, idempotency.Sweep, limits.Sweep},
	}
}
