// Package auth provides sign-in with email address and password, user tokens and sessions.
package auth

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Module provides the routes of sign-in and sessions, and verifies user tokens.
type Module struct {
	*Service
	controller *controller
}

// New creates the module. It deletes the sessions of deleted users.
func New(d kit.Deps, s Settings, users *user.Module) *Module {
	service := &Service{
		users:      users,
		sessions:   store.Open[Session](d.DB, storeSpec()),
		limits:     d.Limits,
		tokens:     access.NewTokens(s.Secret, s.TTL, d.Now),
		refreshTTL: s.RefreshTTL,
		now:        d.Now,
	}
	users.OnDelete(service)
	return &Module{Service: service, controller: &controller{service: service, list: listing.NewLister(spec(), d.Cursors)}}
}

var (
	_ kit.Module           = (*Module)(nil)
	_ kit.Sweeper          = (*Module)(nil)
	_ access.TokenVerifier = (*Module)(nil)
)
