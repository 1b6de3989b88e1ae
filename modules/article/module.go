// Package article provides articles.
package article

//go:generate go run example.com/ginseng/scripts/generate article title:string:required:search:sort content:text:search

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Module provides the routes of articles.
type Module struct{ controller *controller }

// New creates the module.
func New(d kit.Deps) *Module {
	service := &Service{articles: store.Open[Article](d.DB, storeSpec()), now: d.Now}
	return &Module{&controller{service: service, list: listing.NewLister(spec(), d.Cursors)}}
}

var _ kit.Module = (*Module)(nil)
