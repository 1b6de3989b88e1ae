// Package passkey lets users sign in with passkeys (Web Authentication) instead of a password.
package passkey

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Sessions opens and ends the sessions of users. *auth.Module implements it.
type Sessions interface {
	Open(ctx context.Context, u user.User, client access.Client, methods ...access.Method) (user.SignedIn, error)
	EndOthers(ctx context.Context, caller access.Principal) error
}

// Module provides the routes of passkeys.
type Module struct {
	*Service
	controller *controller
}

// New creates the module. It registers the module with users, so that passkeys are deleted with their user.
func New(d kit.Deps, s Settings, users *user.Module, sessions Sessions) *Module {
	service := &Service{
		db:    d.DB,
		users: users, sessions: sessions, limiter: d.Limiter, log: d.Log, now: d.Now,
		passkeys: store.Open[Passkey](d.DB, storeSpec()), challenges: store.Open[challenge](d.DB, challengeSpec()),
		party: s.relyingParty(d),
	}
	users.OnDelete(service)
	return &Module{Service: service, controller: &controller{service}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-passkey-challenges", Interval: job.SweepInterval, Run: m.sweep}}}
}
