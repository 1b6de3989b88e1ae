// Package article keeps articles.
package article

//go:generate go run example.com/ginseng/scripts/generate article title:string:required:search:sort content:text:search

import (
	"time"

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

// Module mounts the routes of articles.
type Module struct{ controller *controller }

// New makes the module.
func New(o Options) *Module {
	return &Module{&controller{
		service: &Service{
			articles: store.Open[Article](o.DB, storeSpec()),
			now:      o.Now,
			newID:    o.NewID,
		},
		list: listing.NewLister(spec(), o.Cursors),
	}}
}

var _ middleware.Module = (*Module)(nil)
