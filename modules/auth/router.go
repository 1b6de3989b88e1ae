package auth

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/middleware"
)

// Routes mounts the routes of signing in and out, and of sessions.
func (m *Module) Routes(r *middleware.Router) {
	c := m.controller
	r.POST("/auth", m.users.SignupRule(), r.Limited(c.signIn))
	r.POST("/auth/refresh", access.Public, r.Limited(c.refresh))
	r.GET("/auth/sessions", access.User, c.index)
	r.DELETE("/auth", access.User, c.signOut)
	r.DELETE("/auth/sessions", access.User, c.endOthers)
	r.DELETE("/auth/sessions/:id", access.User, c.end)
}
