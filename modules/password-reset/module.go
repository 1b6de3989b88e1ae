// Package passwordreset lets users set a new password with a link that they receive by email.
package passwordreset

import (
	"context"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/emaillink"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
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
	// LinkOrigins are the URLs that the link in an email may lead to. A URL with a path allows that page and all pages
	// below it, one without a path the whole origin. In development, localhost is allowed too.
	LinkOrigins []string `mapstructure:"RESET_LINK_ORIGINS" validate:"dive,web_page" example:"https://app.example.com/reset"`
}

// New creates the module and registers it with users: resets are deleted with their user.
func New(d kit.Deps, s Settings, users *user.Module) *Module {
	if len(s.LinkOrigins) == 0 && !d.Development {
		d.Log.Warn("password resets are rejected: RESET_LINK_ORIGINS is not set, so no link is allowed in the email")
	}
	service := &Service{
		Tokens: emaillink.NewTokens(d.DB, d.Now, storeSpec()),
		users:  users,
		limits: d.Limits,
		emails: d.Email,
		ttl:    s.TTL,
		links:  emaillink.NewLinks("RESET_LINK_ORIGINS", s.LinkOrigins, d.Development),
	}
	d.Email.Handle(emailKind, service.build)
	users.OnDelete(service)
	return &Module{Service: service, controller: &controller{service}}
}

// Jobs implements job.Module.
func (m *Module) Jobs() []job.Job {
	return []job.Job{{Name: "expired-resets", Interval: job.SweepInterval, Run: m.Sweep}}
}

var (
	_ kit.Module         = (*Module)(nil)
	_ job.Module         = (*Module)(nil)
	_ kit.EmailPreviewer = (*Module)(nil)
)

// CreateInput has the parameters of a new reset.
type CreateInput struct {
	Email string `json:"email" validate:"required,maxbytes=254,email,excludes=:,plain,normalizable" example:"ada@example.com" format:"email" maxLength:"254"`
	Link  string `json:"link" validate:"max=2000" example:"https://app.example.com/reset/{token}" maxLength:"2000"` // a URL, in which {token} is replaced; required unless exactly one page in RESET_LINK_ORIGINS has a path
} //	@name	PasswordResetCreate

// View is the representation of a reset.
type View struct {
	Token     string          `json:"token" example:"q4kcJm1s…"`
	User      user.PublicView `json:"user"`
	ExpiresAt store.Time      `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-02T16:04:05.000Z"`
} //	@name	PasswordReset

// Accepted is the response to a new reset. It is empty, so that it does not reveal whether the address is known.
type Accepted struct{} //	@name	PasswordResetAccepted

func storeSpec() store.Spec { return store.Spec{Name: "resets"} }

// noReset returns the error for a token that is unknown, used or expired.
func noReset() error {
	return apperr.New(apperr.NotFound, "This reset does not exist: its link was used or has expired. Request another one.")
}
