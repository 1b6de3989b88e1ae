package organization

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/organizations", route.User, c.create, route.Idempotent)
	r.GET("/organizations", route.User, c.list, route.List(spec()))
	r.GET("/organizations/:id", route.User, c.get)
	r.PATCH("/organizations/:id", route.User, c.update)
	r.DELETE("/organizations/:id", route.StepUp, c.delete)
	r.GET("/organizations/:id/members", route.User, c.members)
	r.PATCH("/organizations/:id/members/:userId", route.User, c.changeMember)
	r.DELETE("/organizations/:id/members/:userId", route.User, c.removeMember)
	r.POST("/organizations/:id/invitations", route.User, c.invite)
	r.GET("/organizations/:id/invitations", route.User, c.invitations)
	r.DELETE("/organizations/:id/invitations/:invitationId", route.User, c.withdraw)
	r.GET("/organization-invitations/:token", route.Public, c.invitation, route.AllowRestricted)
	r.PUT("/organization-invitations/:token", route.User, c.accept)
}
