package auth

import (
	"example.com/ginseng/internal/access"
	"example.com/ginseng/middleware"
)

// Routes mounts the routes of signing in and out.
func (m *Module) Routes(r *middleware.Router) {
	c := m.controller
	r.POST("/auth", m.users.SignupRule(), c.signIn)
	r.DELETE("/auth", access.User, c.signOut)
}
