// Package passwordreset lets users who forgot their password set another: it mails them a link, and takes the password
// from whoever comes back with what is in it.
package passwordreset

import (
	"context"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
	"example.com/ginseng/modules/user"
)

// Options are what a Module is made of.
type Options struct {
	Users       *user.Service
	Resets      *Resets
	Limits      *ratelimit.Limiter
	Mail        Mailer
	Config      Settings
	Development bool // links may lead to any localhost
	Now         func() time.Time
	NewID       func() store.ID
}

// Mailer is package mail's Queue.
type Mailer interface {
	Enqueue(ctx context.Context, job email.Job) error
}

// Module mounts the routes of password resets.
type Module struct {
	*Service
	controller *controller
}

// New makes the module.
func New(o Options) *Module {
	service := &Service{
		users:  o.Users,
		resets: o.Resets,
		limits: o.Limits,
		mails:  o.Mail,
		ttl:    o.Config.TTL,
		links:  newLinks(o.Config.LinkOrigins, o.Development),
		now:    o.Now,
		newID:  o.NewID,
	}
	return &Module{Service: service, controller: &controller{service}}
}

var (
	_ middleware.Module = (*Module)(nil)
	_ user.Dependent    = (*Resets)(nil)
	_ Mailer            = (*email.Queue)(nil)
)
