// Package modules is the registry: the one place that names every module, dependencies first.
package modules

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/middleware"
	"example.com/ginseng/modules/article"
	"example.com/ginseng/modules/auth"
	passwordreset "example.com/ginseng/modules/password-reset"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/modules/social"
	"example.com/ginseng/modules/user"
)

// Settings are the sections of the modules.
type Settings struct {
	Auth          auth.Settings
	PasswordReset passwordreset.Settings
	Social        social.Settings
	User          user.Settings
}

// Host is what the service lends to its modules.
type Host struct {
	DB         store.DB
	MasterKeys []string // at least one
	Now        func() time.Time
	NewID      func() store.ID
	Log        *slog.Logger
	// Development has mails that are not sent printed to Print, and lets their links lead to this machine.
	Development bool
	Print       io.Writer
	Mail        email.Sender // nil sends mails as the settings say
	Hasher      user.Hasher
	Observer    *telemetry.Observer // nil sees nothing
}

// Service is what the modules make together.
type Service struct {
	Modules []middleware.Module
	Guard   middleware.Guard
	// Idempotency keeps answers for clients who repeat a request.
	Idempotency *middleware.Idempotency
	Sweeps      []func(context.Context) error // each deletes what has expired; to be called now and then
	// Closers finish what goes on after the answers; to be called before the database is closed.
	Closers []func(context.Context)
}

// New makes every module.
func New(h Host, s Settings) (Service, error) {
	h.DB = h.Observer.Database(h.DB)
	h.Hasher = h.Observer.Hasher(h.Hasher)
	cursors := listing.NewCursors(h.MasterKeys...)
	idempotency := middleware.NewIdempotency(h.DB, h.MasterKeys, h.Now, h.NewID)
	limits := ratelimit.New(h.DB, h.Now)
	h.Observer.Register(limits)
	mails, err := newMails(h, s.PasswordReset)
	if err != nil {
		return Service{}, err
	}
	sessions, identities, resets := auth.NewSessions(h.DB), social.NewIdentities(h.DB), passwordreset.NewResets(h.DB)
	users := user.New(user.Options{
		DB: h.DB, Config: s.User, Hasher: h.Hasher, Cursors: cursors, Limits: limits,
		Dependents: []user.Dependent{sessions, identities, resets}, Now: h.Now, NewID: h.NewID,
	})
	auths := auth.New(auth.Options{Users: users.Service, Sessions: sessions, Limits: limits, Config: s.Auth, Now: h.Now, NewID: h.NewID})
	socials := social.New(social.Options{
		Users: users.Service, Sessions: auths.Service, Limits: limits, Identities: identities, Config: s.Social, Transport: h.Observer.Transport,
		Now: h.Now, NewID: h.NewID,
	})
	passwordResets := passwordreset.New(passwordreset.Options{
		Users: users.Service, Resets: resets, Limits: limits, Mail: mails, Config: s.PasswordReset, Development: h.Development, Now: h.Now, NewID: h.NewID,
	})
	articles := article.New(article.Options{DB: h.DB, Cursors: cursors, Now: h.Now, NewID: h.NewID})
	policies := policy.New(policy.Options{DB: h.DB, Cursors: cursors, Now: h.Now, NewID: h.NewID})
	return Service{
		Modules: []middleware.Module{
			users,
			auths,
			socials,
			passwordResets,
			articles,
			policies,
		},
		Guard:       middleware.Guard{Keys: access.NewKeys(h.MasterKeys), Tokens: auths, Passwords: users},
		Idempotency: idempotency,
		Sweeps:      []func(context.Context) error{auths.Sweep, passwordResets.Sweep, idempotency.Sweep, limits.Sweep},
		Closers:     []func(context.Context){mails.Close},
	}, nil
}

// newMails starts the queue of mails.
func newMails(h Host, c passwordreset.Settings) (*email.Queue, error) {
	sender := h.Mail
	if sender == nil {
		var err error
		if sender, err = email.New(c.Mail, email.Options{Print: h.Print, Log: h.Log, Transport: h.Observer.Transport}); err != nil {
			return nil, fmt.Errorf("modules: %w", err)
		}
		if !c.Mail.Sends() && !h.Development {
			h.Log.Warn("no mail is sent, because MAIL_URL is not set, or log:; so nobody can reset a password")
		}
		if len(c.LinkOrigins) == 0 && !h.Development {
			h.Log.Warn("no password reset is taken, because RESET_LINK_ORIGINS is not set: no link is allowed in its mail")
		}
	}
	queue := email.NewQueue(sender, email.Backoff[:], h.Log)
	h.Observer.Emails(queue)
	return queue, nil
}
