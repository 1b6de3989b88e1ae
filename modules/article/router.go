package article

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/middleware"
)

// Routes mounts the routes of articles.
func (m *Module) Routes(r *middleware.Router) {
	c := m.controller
	r.POST("/articles", access.User, r.Idempotent(c.create))
	r.GET("/articles", access.Public, c.index)
	r.GET("/articles/:id", access.Public, c.show)
	r.PUT("/articles/:id", access.User, c.update)
	r.PATCH("/articles/:id", access.User, c.update)
	r.DELETE("/articles/:id", access.User, c.delete)
}
