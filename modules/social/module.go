// Package social provides sign-in with identity providers, and links their accounts to users. Each provider has its
// own file: to remove one, delete its file and the lines with its name in settings.go.
package social

import (
	"context"
	"time"

	"github.com/go-playground/validator/v10"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Sessions opens sessions for authenticated users.
type Sessions interface {
	Open(ctx context.Context, u user.User, client access.Client) (user.SignedIn, error)
}

// Module provides the routes of sign-in with identity providers.
type Module struct{ controller *controller }

// New creates the module. It unlinks the accounts of deleted users.
func New(d kit.Deps, s Settings, users *user.Module, sessions Sessions) *Module {
	return &Module{&controller{newService(d, s, users, sessions, providerTimeout)}}
}

func newService(d kit.Deps, s Settings, users *user.Module, sessions Sessions, timeout time.Duration) *Service {
	service := &Service{
		users:      users,
		sessions:   sessions,
		limits:     d.Limits,
		identities: store.Open[Identity](d.DB, storeSpec()),
		providers:  s.providers(newClient(d.HTTP, timeout), d.Now),
		timeout:    timeout,
		rules:      validator.New(),
		now:        d.Now,
	}
	users.OnDelete(service)
	return service
}

var _ kit.Module = (*Module)(nil)
