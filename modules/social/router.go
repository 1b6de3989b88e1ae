package social

import (
	"example.com/ginseng/kit/access"
	"example.com/ginseng/middleware"
)

// Routes mounts the routes of signing in with a provider.
func (m *Module) Routes(r *middleware.Router) {
	c := m.controller
	r.POST("/auth/:provider", access.Foreign, r.Limited(c.signIn))
	r.GET("/auth/identities", access.User, c.index)
	r.DELETE("/auth/identities/:provider", access.User, c.unlink)
}
