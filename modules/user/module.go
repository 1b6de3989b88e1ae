// Package user provides accounts: email address, name, role and password.
package user

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// Dependent is implemented by modules with data of users that no reference of package resource deletes. For records with an
// owner, resource.Owner is enough.
type Dependent interface {
	// DeleteOf deletes the data of a user. It is called in the store.DB.Together that deletes the user, before the user is
	// deleted, and must follow the rules of Together. DeleteOf is called again after the deletion, outside of it, to delete
	// data that was stored in the meantime.
	DeleteOf(ctx context.Context, userID store.ID) error
}

// Guard is implemented by a Dependent that can reject the deletion of a user.
type Guard interface {
	// MayDelete fails with Conflict if the user must not be deleted. It is called before anything is deleted.
	MayDelete(ctx context.Context, userID store.ID) error
}

// Restorer is implemented by a Dependent whose data an attacker can use to lock the owner out of an account.
type Restorer interface {
	// RestoreOf removes the data that an attacker may have added to the account. changed is the time at which the attacker
	// changed the address.
	RestoreOf(ctx context.Context, userID store.ID, changed store.Time) error
}

// Module provides the routes of users, and a Service for other modules. Records of other modules can refer to users.
type Module struct {
	*Service
	resource.Target
	controller *controller
}

// Settings are the settings of this module.
type Settings struct {
	// PublicSignup allows sign-up, sign-in and password resets without the master key, for frontends without a server that
	// could keep the key secret.
	PublicSignup bool `mapstructure:"PUBLIC_SIGNUP" default:"false"`
	// PublicSignin allows sign-in with a password, a code or a passkey, and password resets, without the master key: true or
	// false. The default is the value of PUBLIC_SIGNUP.
	PublicSignin string `mapstructure:"PUBLIC_SIGNIN" validate:"omitempty,oneof=true false" example:"true"`
	// SignupEmail is "optional" or "required". If required, a user whose email address is not verified can only read, and call
	// the routes with route.AllowRestricted.
	SignupEmail string `mapstructure:"SIGNUP_EMAIL" default:"optional" validate:"oneof=optional required"`
	// SecurityNotices sends users an email about changes to their account that somebody else may have made, and admins an email
	// about a new admin.
	SecurityNotices bool `mapstructure:"SECURITY_NOTICES" default:"true"`
}

// New creates the module.
func New(d kit.Deps, s Settings) *Module {
	service := newService(d, s)
	return &Module{
		Service:    service,
		Target:     service.referred,
		controller: &controller{service: service, lister: listing.NewLister(spec(), d.Cursors)},
	}
}

// OnDelete registers a Dependent, whose data about a user is deleted with the user. If it is a Restorer, RestoreOf is called, too. It
// must be called before the server starts.
func (m *Module) OnDelete(dependent Dependent) {
	m.dependents = append(m.dependents, dependent)
}

// Restrict registers a check that returns the restriction of a user, or nil. All registered checks run for every request of a
// user and must be fast. If several return a restriction, one that rejects reads applies. Restrict must be called before the
// server starts.
func (m *Module) Restrict(check func(context.Context, User) (*access.Restriction, error)) {
	m.restrictions = append(m.restrictions, check)
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-networks", Interval: job.SweepInterval, Run: m.sweep}, m.removals.Job()}, EmailPreviews: m.emailPreviews, Passwords: m, Admins: m}
}
