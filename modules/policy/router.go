package policy

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/policies", route.Admin, c.create, route.LargeBody, route.Idempotent)
	r.POST("/policies/evaluate", route.User, c.evaluate, route.LargeBody)
	r.GET("/policies", route.User, c.list, route.List(spec()))
	r.GET("/policies/:id", route.User, c.get)
	r.PUT("/policies/:id", route.Admin, c.update, route.LargeBody)
	r.PATCH("/policies/:id", route.Admin, c.update, route.LargeBody)
	r.DELETE("/policies/:id", route.Admin, c.delete)
}
