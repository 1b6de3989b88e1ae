package apikey

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/users/me/api-keys", route.StepUp, c.create)
	r.GET("/users/:id/api-keys", route.User, c.list)
	r.GET("/users/:id/api-keys/:keyId", route.User, c.get)
	r.DELETE("/users/:id/api-keys/:keyId", route.StepUpOthers, c.delete, route.AllowRestricted)
}
