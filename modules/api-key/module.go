// Package apikey provides API keys. A program uses an API key to act as a user on the resources that the key's scopes name.
package apikey

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Module provides the routes of API keys, and verifies keys.
type Module struct {
	*Service
	controller *controller
}

// New creates the module and registers it with users: keys are deleted with their user.
func New(d kit.Deps, users *user.Module) *Module {
	service := &Service{db: d.DB, users: users, keys: store.Open[Key](d.DB, storeSpec()), now: d.Now, log: d.Log, resources: d.Routes.Resources}
	users.OnDelete(service)
	return &Module{Service: service, controller: &controller{service: service}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "expired-api-keys", Interval: job.SweepInterval, Run: m.sweep}}, APIKeys: m}
}
