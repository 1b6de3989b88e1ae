package twofactor

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.Codes(TwoFactorRequired)
	r.GET("/users/me/two-factor", route.User, c.get, route.AllowRestricted)
	r.POST("/users/me/two-factor", route.StepUp, c.create, route.AllowRestricted)
	r.PUT("/users/me/two-factor", route.User, c.confirm, route.AllowRestricted)
	r.DELETE("/users/me/two-factor", route.StepUp, c.disable, route.AllowRestricted)
	r.GET("/users/:id/two-factor", route.Admin, c.getOf, route.AllowAdminKey)
	r.DELETE("/users/:id/two-factor", route.StepUpAdmin, c.remove)
	r.POST("/auth/second-factor", route.Public, c.signIn, route.AllowRestricted)
}
