// Package twofactor adds a second factor to sign-in: one-time codes of an authenticator app (TOTP, RFC 6238), and recovery
// codes.
package twofactor

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Sessions opens and ends the sessions of users. *auth.Module implements it.
type Sessions interface {
	SetSecondFactor(interface {
		Challenge(ctx context.Context, u user.User) error
	})
	OpenVerified(ctx context.Context, u user.User, client access.Client) (user.SignedIn, error)
	EndOthers(ctx context.Context, caller access.Principal) error
	DeriveKey(purpose string) ([]byte, error)
}

// Module provides the routes of two-factor sign-in.
type Module struct{ controller *controller }

// New creates the module. Every sign-in of a user with a second factor requires it. It is deleted with its user.
func New(d kit.Deps, s Settings, users *user.Module, sessions Sessions) *Module {
	last, err := sessions.DeriveKey(keyPurpose)
	if err != nil {
		panic(err) // unreachable: the length is valid
	}
	k, err := newKeys(s.Keys, last)
	if err != nil {
		panic(err) // likewise
	}
	service := &Service{
		users: users, sessions: sessions, factors: store.Open[Factor](d.DB, storeSpec()),
		guesses: ratelimit.NewGuesses(d.Limits), keys: k, issuer: d.Name, now: d.Now,
	}
	sessions.SetSecondFactor(service)
	if s.Require == requireAdmin {
		users.Restrict(service.restrict)
	}
	users.OnDelete(service)
	return &Module{&controller{service}}
}

var (
	_ kit.Module    = (*Module)(nil)
	_ user.Restorer = (*Service)(nil)
)
