package passwordreset

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/middleware"
)

// Routes mounts the routes of password resets.
func (m *Module) Routes(r *middleware.Router) {
	c := m.controller
	r.POST("/password-resets", m.users.SignupRule(), r.Limited(c.create))
	r.GET("/password-resets/:token", access.Public, c.show)
	r.PUT("/password-resets/:token", access.Public, c.complete)
}
