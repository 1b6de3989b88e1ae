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
	s := &service{name: d.Name, log: d.Log, routes: d.Routes}
	s.catalog = sync.OnceValue(func() *catalog { return newCatalog(s.routes) })
	return &Module{service: s, controller: newController(s)}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{} }
