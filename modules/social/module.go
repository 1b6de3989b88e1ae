// Package social provides sign-in with identity providers, and links the providers' accounts to users. Each provider has its own
// file. To remove a provider, delete its file and the lines with its name in settings.go. To add an OpenID provider, set
// OIDC_PROVIDERS.
package social

import (
	"context"
	"strings"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Sessions opens sessions for authenticated users.
type Sessions interface {
	Open(ctx context.Context, u user.User, client access.Client, methods ...access.Method) (user.SignedIn, error)
}

// Module provides the routes of sign-in with identity providers.
type Module struct {
	*Service
	controller *controller
	clientIDs  map[string]string // see Settings.clientIDs
}

// New creates the module. It registers the module with users, so that the links of a deleted user are deleted too.
func New(d kit.Deps, s Settings, users *user.Module, sessions Sessions) *Module {
	service := newService(d, s, users, sessions, providerTimeout)
	return &Module{Service: service, controller: &controller{service}, clientIDs: s.clientIDs()}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-id-tokens", Interval: job.SweepInterval, Run: m.sweep}}}
}

func newService(d kit.Deps, s Settings, users *user.Module, sessions Sessions, timeout time.Duration) *Service {
	service := &Service{
		db:         d.DB,
		users:      users,
		sessions:   sessions,
		limiter:    d.Limiter,
		identities: store.Open[Identity](d.DB, storeSpec()),
		tokens:     store.Open[usedToken](d.DB, usedTokenSpec()),
		providers:  s.providers(environment{newClient(d.HTTP, timeout), d.Log, d.Now}),
		timeout:    timeout,
		now:        d.Now,
	}
	warnPlain(d, service.providers)
	users.OnDelete(service)
	return service
}

// warnPlain logs a warning for each provider whose URL begins with http://, except in development.
func warnPlain(d kit.Deps, all map[string]provider) {
	for name, p := range all {
		if strings.HasPrefix(p.address, "http://") && !d.Development {
			d.Log.Warn("sign-in with a provider is not safe: the provider's URL begins with http://, so its responses can be forged", "provider", name)
		}
	}
}
