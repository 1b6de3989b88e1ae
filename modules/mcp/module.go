// Package mcp provides the resources of the service to agents, as tools of the Model Context Protocol
// (https://modelcontextprotocol.io).
package mcp

import (
	"sync"

	"example.com/ginseng/kit"
)

// Module provides the route of the protocol.
type Module struct {
	service    *service
	controller *controller
}

// New creates the module.
func New(d kit.Deps) *Module {
	s := &service{name: d.Name}
	return &Module{service: s, controller: newController(s)}
}

// UseResources implements kit.ResourceUser.
func (m *Module) UseResources(r kit.Resources) {
	m.service.handler, m.service.root, m.service.allows = r.Handler, r.Root, r.Allows
	m.service.catalog = sync.OnceValue(func() *catalog { return newCatalog(r.Names, r.OpenAPI) })
}

var _ kit.ResourceUser = (*Module)(nil)
