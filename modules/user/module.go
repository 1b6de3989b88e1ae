// Package user keeps the accounts: who may sign in, under which name, in which role.
package user

import (
	"context"
	"time"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
)

// Options are what a Module is made of.
type Options struct {
	DB         store.DB
	Config     Settings
	Hasher     Hasher
	Cursors    listing.Cursors
	Limits     *ratelimit.Limiter
	Dependents []Dependent // what goes with a user who is deleted
	Now        func() time.Time
	NewID      func() store.ID
}

// Hasher is package password's.
type Hasher interface {
	Hash(ctx context.Context, password string) (string, error)
	Verify(ctx context.Context, password, hash string) (match, outdated bool, err error)
}

// Dependent is something of a user's that another module keeps.
type Dependent interface {
	DeleteOf(ctx context.Context, userID store.ID) error
}

// Module mounts the routes of users. Its Service is what other modules use.
type Module struct {
	*Service
	controller *controller
}

// New makes the module.
func New(o Options) *Module {
	service := newService(o)
	return &Module{
		Service:    service,
		controller: &controller{service: service, list: listing.NewLister(spec(), o.Cursors)},
	}
}

var _ middleware.Module = (*Module)(nil)
