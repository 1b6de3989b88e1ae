package policy

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/middleware"
)

// Routes mounts the routes of policies.
func (m *Module) Routes(r *middleware.Router) {
	c := m.controller
	r.POST("/policies", access.Admin, r.Idempotent(c.create))
	r.POST("/policies/evaluate", access.User, c.evaluate)
	r.GET("/policies", access.User, c.index)
	r.GET("/policies/:id", access.User, c.show)
	r.PUT("/policies/:id", access.Admin, c.update)
	r.PATCH("/policies/:id", access.Admin, c.update)
	r.DELETE("/policies/:id", access.Admin, c.delete)
}
