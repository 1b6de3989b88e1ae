// Package twofactor adds a second factor to sign-in: one-time codes of an authenticator app (TOTP, RFC 6238), and recovery
// codes.
package twofactor

import (
	"context"
	"slices"
	"strings"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Sessions opens and ends the sessions of users. *auth.Module implements it.
type Sessions interface {
	SetSecondFactor(interface {
		Challenge(ctx context.Context, u user.User, methods []access.Method) error
	})
	Open(ctx context.Context, u user.User, client access.Client, methods ...access.Method) (user.SignedIn, error)
	EndOthers(ctx context.Context, caller access.Principal) error
	DeriveKey(purpose string) []byte
}

// Module provides the routes of two-factor sign-in.
type Module struct {
	*Service
	controller *controller
}

// Settings are the settings of this module.
type Settings struct {
	Keys    []string `mapstructure:"TWO_FACTOR_KEY" validate:"omitempty,secret" example:"change-me-to-a-third-long-random-secret"`
	Require []string `mapstructure:"REQUIRE_TWO_FACTOR" example:"admin"`
}

// Check implements settings.Checker.
func (s *Settings) Check(report func(name, reason string)) {
	for _, role := range s.Require {
		if !slices.Contains(user.Roles, role) {
			report("REQUIRE_TWO_FACTOR", "must list roles, each one of "+strings.Join(user.Roles, ", "))
			return
		}
	}
}

// New creates the module and registers it with sessions and users. Every sign-in with only one factor then requires the user's
// second factor. Users who have no second factor, but whose role is in Settings.Require, are restricted. A second factor is
// deleted with its user. If the user undoes a change of the email address, a second factor that an attacker may have added is
// turned off.
func New(d kit.Deps, s Settings, users *user.Module, sessions Sessions) *Module {
	service := &Service{
		db:    d.DB,
		users: users, sessions: sessions, factors: store.Open[Factor](d.DB, storeSpec()),
		guesses: ratelimit.NewGuesses(d.Limiter), keys: newKeys(s.Keys, sessions.DeriveKey(keyPurpose)), issuer: d.Name, now: d.Now, required: s.Require,
	}
	sessions.SetSecondFactor(service)
	if len(s.Require) > 0 {
		users.Restrict(service.restrict)
	}
	users.OnDelete(service)
	users.SetSecondFactor(service)
	return &Module{Service: service, controller: &controller{service}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{SecondFactors: m} }

var _ user.Restorer = (*Service)(nil)
