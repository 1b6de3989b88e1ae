// Package policy stores policies, and finds the policies that apply to a proxy. A policy applies to the workloads that its
// selector matches. Package v1beta1 defines selectors.
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

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{} }
