package webhook

import "example.com/ginseng/kit/route"

// Routes implements kit.Module. A webhook sends data of all users to its URL, so that a stolen token must not suffice to change one.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/webhooks", route.StepUpAdmin, c.create)
	r.GET("/webhooks", route.Admin, c.list)
	r.GET("/webhooks/:id", route.Admin, c.get)
	r.PATCH("/webhooks/:id", route.StepUpAdmin, c.update)
	r.DELETE("/webhooks/:id", route.StepUpAdmin, c.delete)
	r.POST("/webhooks/:id/secret", route.StepUpAdmin, c.rotate)
	r.POST("/webhooks/:id/test", route.Admin, c.test)
	r.GET("/webhooks/:id/deliveries", route.Admin, c.deliveries, route.List(deliverySpec()))
	r.POST("/webhooks/:id/deliveries/:deliveryId/retry", route.Admin, c.retry)
}
