package webhook

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, admin, write := m.controller, mw.Auth.Admin, mw.Auth.StepUpAdmin // a webhook sends data of all users to its URL
	r.POST("/webhooks", write, rest.Handle(c.create))
	r.GET("/webhooks", admin, rest.Handle(c.list))
	r.GET("/webhooks/:id", admin, rest.Handle(c.get))
	r.PATCH("/webhooks/:id", write, rest.Handle(c.update))
	r.DELETE("/webhooks/:id", write, rest.Handle(c.delete))
	r.POST("/webhooks/:id/secret", write, rest.Handle(c.rotate))
	r.POST("/webhooks/:id/test", admin, rest.Handle(c.test))
	r.GET("/webhooks/:id/deliveries", admin, rest.Handle(c.deliveries, rest.AnyQuery))
	r.POST("/webhooks/:id/deliveries/:deliveryId/retry", admin, rest.Handle(c.retry))
}
