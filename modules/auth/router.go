package auth

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/auth", m.users.SignInCaller(route.SignIn), c.signIn, route.AllowRestricted)
	r.POST("/auth/refresh", route.Refresh, c.refresh, route.AllowRestricted)
	r.GET("/auth/sessions", route.User, c.list, route.List(spec()))
	r.DELETE("/auth", route.User, c.signOut, route.AllowRestricted)
	r.DELETE("/auth/sessions", route.User, c.endOthers, route.AllowRestricted)
	r.DELETE("/auth/sessions/:id", route.User, c.end, route.AllowRestricted)
	r.GET("/users/:id/sessions", route.Admin, c.listOf, route.List(spec()), route.AllowAdminKey)
	r.DELETE("/users/:id/sessions/:sessionId", route.StepUpAdmin, c.endOf)
	r.DELETE("/users/:id/sessions", route.StepUpOthers, c.endAll, route.AllowRestricted)
}
