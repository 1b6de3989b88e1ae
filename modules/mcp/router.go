package mcp

import "example.com/ginseng/kit/route"

// Routes implements kit.Module. The routes that the tools call check the scopes of API keys and the restrictions of users.
func (m *Module) Routes(r *route.Router) {
	r.POST("/mcp", route.User, m.controller.handle, route.AllowRestricted, route.CheckOrigin, route.JSONOnly, route.LargeBody, route.AllowAPIKey)
}
