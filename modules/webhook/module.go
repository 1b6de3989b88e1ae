// Package webhook notifies customers' servers of changes to resources. Requests are signed as Standard Webhooks specifies
// (https://www.standardwebhooks.com).
package webhook

import (
	"context"
	"net/netip"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
)

// Users finds the users to notify. *user.Module implements it.
type Users interface {
	Admins(ctx context.Context) ([]user.User, error)
	Get(ctx context.Context, id store.ID) (user.User, error)
}

// Settings are the settings of this module.
type Settings struct {
	Networks []string `mapstructure:"WEBHOOK_NETWORKS" example:"10.1.0.0/16"`
}

// Check implements settings.Checker.
func (s *Settings) Check(report func(name, reason string)) {
	for _, text := range s.Networks {
		if _, err := netip.ParsePrefix(text); err != nil {
			report("WEBHOOK_NETWORKS", "must list networks in CIDR notation, such as 10.1.0.0/16")
			return
		}
	}
}

// Module provides the routes of webhooks, and sends their deliveries.
type Module struct {
	*Service
	controller *controller
}

// New creates the module.
func New(d kit.Deps, s Settings, users Users) *Module {
	var networks []netip.Prefix
	for _, text := range s.Networks {
		networks = append(networks, netip.MustParsePrefix(text)) // never panics: Check has parsed it
	}
	service := newService(d, users, newSender(d.Name, networks))
	d.Email.Handle(disabledKind, service.buildDisabled)
	return &Module{service, &controller{service, listing.NewLister(deliverySpec(), d.Cursors)}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{
		Jobs:          []job.Job{{Name: "expired-webhook-deliveries", Interval: job.SweepInterval, Run: m.sweep}},
		Workers:       []func(context.Context){m.sendDue},
		EmailPreviews: emailPreviews,
		Metrics:       m.metrics(),
	}
}
