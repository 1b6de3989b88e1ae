// Package emailverification verifies and changes email addresses with links that users receive by email.
package emailverification

import (
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/modules/user"
)

// Module provides the routes of email verification.
type Module struct {
	*Service
	controller *controller
}

// Settings are the settings of this module.
type Settings struct {
	// TTL is how long a link that verifies an address is valid.
	TTL time.Duration `mapstructure:"VERIFY_TTL" default:"24h" validate:"min=1m,max=168h"`
	// LinkOrigins are the URLs that the link in an email may lead to. A URL with a path allows that page and all pages below it.
	// A URL without a path allows the whole origin. In development, localhost is allowed too. If exactly one URL has a path, an
	// email is sent at sign-up.
	LinkOrigins []string `mapstructure:"VERIFY_LINK_ORIGINS" validate:"dive,web_page" example:"https://app.example.com/verify"`
}

// New creates the module and registers it with users. The module sends an email at sign-up, reserves former addresses, and
// deletes the tokens of deleted users.
func New(d kit.Deps, s Settings, users *user.Module) *Module {
	if len(s.LinkOrigins) == 0 && !d.Development {
		d.Log.Warn("email addresses cannot be verified: VERIFY_LINK_ORIGINS is not set, so no link is allowed in the email")
	}
	service := &Service{
		db:      d.DB,
		Tokens:  link.NewTokens(d.DB, d.Now, storeSpec()),
		users:   users,
		limiter: d.Limiter,
		emails:  d.Email,
		log:     d.Log,
		ttl:     s.TTL,
		links:   link.NewLinks("VERIFY_LINK_ORIGINS", s.LinkOrigins, d.Development),
	}
	d.Email.Handle(verifyKind, service.build)
	d.Email.Handle(changeKind, service.build)
	d.Email.Handle(undoKind, service.buildUndo)
	users.OnDelete(service)
	users.VerifyWith(service)
	return &Module{Service: service, controller: &controller{service}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-verifications", Interval: job.SweepInterval, Run: m.Sweep}}, EmailPreviews: m.emailPreviews}
}
