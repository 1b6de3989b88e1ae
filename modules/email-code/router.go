package emailcode

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/auth/email-code", m.users.SignInCaller(route.Public), c.request, route.AllowRestricted)
	r.PUT("/auth/email-code", route.Public, c.signIn, route.AllowRestricted)
}
