// Package policy keeps policies, each of which applies to workloads that its selector names, and tells which apply to a
// proxy. What a selector says is in package v1beta1; how evaluation is quick and still true, in replica.go.
package policy

import (
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
)

// Options are what a Module is made of.
type Options struct {
	DB      store.DB
	Cursors listing.Cursors
	Now     func() time.Time
	NewID   func() store.ID
}

// Module mounts the routes of policies.
type Module struct{ controller *controller }

// New makes the module.
func New(o Options) *Module {
	return &Module{&controller{service: newService(kit.Deps{DB: o.DB, Now: o.Now}), list: listing.NewLister(spec(), o.Cursors)}}
}

var _ middleware.Module = (*Module)(nil)
