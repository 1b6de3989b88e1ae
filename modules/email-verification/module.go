// Package emailverification verifies email addresses, and changes them, with links that users receive by email.
package emailverification

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/emaillink"
	"example.com/ginseng/modules/user"
)

// Module provides the routes of email verification.
type Module struct {
	*Service
	controller *controller
}

// New creates the module. It sends an email at sign-up, reserves former addresses, and deletes the tokens of deleted users.
func New(d kit.Deps, s Settings, users *user.Module) *Module {
	if len(s.LinkOrigins) == 0 && !d.Development {
		d.Log.Warn("email addresses cannot be verified: VERIFY_LINK_ORIGINS is not set, so no link is allowed in the email")
	}
	service := &Service{
		Tokens: emaillink.NewTokens(d.DB, d.Now, storeSpec()),
		users:  users,
		limits: d.Limits,
		emails: d.Email,
		log:    d.Log,
		ttl:    s.TTL,
		links:  emaillink.NewLinks("VERIFY_LINK_ORIGINS", s.LinkOrigins, d.Development),
	}
	users.OnDelete(service)
	users.VerifyWith(service)
	return &Module{Service: service, controller: &controller{service}}
}

var (
	_ kit.Module         = (*Module)(nil)
	_ kit.Sweeper        = (*Module)(nil)
	_ kit.EmailPreviewer = (*Module)(nil)
)
