package emailverification

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/users/me/email-verification", route.User, c.request, route.AllowRestricted)
	r.PUT("/users/me/email", route.StepUp, c.requestChange, route.AllowRestricted)
	r.GET("/email-verifications/:token", route.Public, c.get, route.AllowRestricted)
	r.PUT("/email-verifications/:token", route.Public, c.confirm, route.AllowRestricted)
}
