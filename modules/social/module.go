// Package social signs people in with their accounts at identity providers, and links such accounts to users. What a
// provider says of itself is in one file each; a project leaves a provider out by deleting that file and the lines that
// name it in config.go.
package social

import (
	"context"
	"net/http"
	"time"

	"github.com/go-playground/validator/v10"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
	"example.com/ginseng/modules/user"
)

// Options are what a Module is made of.
type Options struct {
	Users      *user.Service
	Sessions   Opener
	Limits     *ratelimit.Limiter
	Identities *Identities
	Config     Settings
	Transport  func(http.RoundTripper) http.RoundTripper // wraps what calls providers; nil leaves it as it is
	Now        func() time.Time
	NewID      func() store.ID
}

// Opener opens a session for a user who has proved who she is.
type Opener interface {
	Open(ctx context.Context, u user.User, client access.Client) (user.SignedIn, error)
}

// Module mounts the routes of signing in with a provider.
type Module struct{ controller *controller }

// New makes the module.
func New(o Options) *Module { return &Module{&controller{newService(o, patience)}} }

func newService(o Options, patience time.Duration) *Service {
	calls := newClient(patience)
	if o.Transport != nil {
		calls.http.Transport = o.Transport(calls.http.Transport)
	}
	return &Service{
		users:      o.Users,
		sessions:   o.Sessions,
		limits:     o.Limits,
		identities: o.Identities.all,
		providers:  o.Config.providers(calls, o.Now),
		patience:   patience,
		rules:      validator.New(),
		now:        o.Now,
		newID:      o.NewID,
	}
}

var (
	_ middleware.Module = (*Module)(nil)
	_ user.Dependent    = (*Identities)(nil)
)
