// Package article provides articles.
package article

//go:generate go run example.com/ginseng/scripts/generate article title:string:required:search:sort content:text:search --changes

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
)

// Module provides the routes of articles, to which records of other modules can refer.
type Module struct {
	resource.Parent
	controller *controller
}

// New creates the module.
func New(d kit.Deps, users resource.Target) *Module {
	articles := resource.Open(d, storeSpec(), Article.View, resource.Public, resource.Own,
		resource.Owner(users, resource.Keep))
	service := &Service{articles: articles, now: d.Now}
	service.Creator = resource.NewCreator(articles, service.New, nil)
	return &Module{articles, &controller{service: service, lister: listing.NewLister(spec(), d.Cursors)}}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{} }
