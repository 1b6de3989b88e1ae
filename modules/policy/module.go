// Package policy provides policies, each of which applies to the workloads that its selector matches, and evaluates which
// policies apply to a proxy. Package v1beta1 defines selectors.
package policy

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/listing"
)

// Module provides the routes of policies.
type Module struct{ controller *controller }

// New creates the module.
func New(d kit.Deps) *Module {
	return &Module{&controller{service: newService(d), lister: listing.NewLister(spec(), d.Cursors)}}
}
