// Package passwordreset lets users set a new password with a link that they receive by email.
package passwordreset

import (
	"context"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/link"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/modules/user"
)

// Queue sends emails. *email.Queue implements it.
type Queue interface {
	Enqueue(ctx context.Context, e email.Entry) error
}

// Module provides the routes of password resets.
type Module struct {
	*Service
	controller *controller
}

// Settings are the settings of this module.
type Settings struct {
	// TTL is how long the link in a reset email is valid.
	TTL time.Duration `mapstructure:"RESET_TTL" default:"1h" validate:"min=1m,max=24h"`
	// LinkOrigins are the URLs that the link in an email may lead to. A URL with a path allows that page and all pages below it.
	// A URL without a path allows the whole origin. In development, localhost is allowed too.
	LinkOrigins []string `mapstructure:"RESET_LINK_ORIGINS" validate:"dive,web_page" example:"https://app.example.com/reset"`
}

// New creates the module and registers it with users: resets are deleted with their user, and if exactly one page in
// RESET_LINK_ORIGINS has a path, new admins get a link to it.
func New(d kit.Deps, s Settings, users *user.Module) *Module {
	if len(s.LinkOrigins) == 0 && !d.Development {
		d.Log.Warn("password resets are rejected: RESET_LINK_ORIGINS is not set, so no link is allowed in the email")
	}
	service := &Service{
		Tokens:  link.NewTokens(d.DB, d.Now, storeSpec()),
		users:   users,
		limiter: d.Limiter,
		emails:  d.Email,
		ttl:     s.TTL,
		links:   link.NewLinks("RESET_LINK_ORIGINS", s.LinkOrigins, d.Development),
	}
	d.Email.Handle(emailKind, service.build)
	users.OnDelete(service)
	if page := service.links.Standard(); page != "" {
		users.ResetWith(func(ctx context.Context, u user.User) (string, error) { return service.issueLink(ctx, u, page) })
	}
	return &Module{Service: service, controller: &controller{service}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-resets", Interval: job.SweepInterval, Run: m.Sweep}}, EmailPreviews: m.emailPreviews}
}
