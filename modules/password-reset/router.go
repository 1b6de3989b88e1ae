package passwordreset

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/password-resets", m.users.SignInCaller(route.Public), c.create, route.AllowRestricted)
	r.GET("/password-resets/:token", route.Public, c.get, route.AllowRestricted)
	r.PUT("/password-resets/:token", route.Public, c.complete, route.AllowRestricted)
}
