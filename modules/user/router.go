package user

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/middleware"
)

// Routes mounts the routes of users.
func (m *Module) Routes(r *middleware.Router) {
	c := m.controller
	r.POST("/users", m.SignupRule(), r.Limited(r.Idempotent(c.create)))
	r.GET("/users", access.Admin, c.index)
	r.GET("/users/me", access.User, c.me)
	r.GET("/users/:id", access.Public, c.show)
	r.PUT("/users/:id", access.User, c.update)
	r.PATCH("/users/:id", access.User, c.update)
	r.PUT("/users/:id/password", access.Password, c.changePassword)
	r.DELETE("/users/:id", access.User, c.delete)
}
