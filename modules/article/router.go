package article

import (
	"example.com/ginseng/kit/route"
)

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r = r.Resource(spec())
	r.POST("/articles", route.User, c.create, route.LargeBody, route.Idempotent)
	r.GET("/articles", route.Public, c.list, route.AnyQuery)
	r.GET("/articles/changes", route.Public, c.changes, route.Stream)
	r.GET("/articles/:id", route.Public, c.get, route.Query("expand"))
	r.PUT("/articles/:id", route.User, c.update, route.LargeBody)
	r.PATCH("/articles/:id", route.User, c.update, route.LargeBody)
	r.DELETE("/articles/:id", route.User, c.delete)
}
