package webhook

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, admin := m.controller, mw.Auth.Admin
	r.POST("/webhooks", admin, rest.Handle(c.create))
	r.GET("/webhooks", admin, rest.Handle(c.list))
	r.GET("/webhooks/:id", admin, rest.Handle(c.get))
	r.PATCH("/webhooks/:id", admin, rest.Handle(c.update))
	r.DELETE("/webhooks/:id", admin, rest.Handle(c.delete))
	r.POST("/webhooks/:id/secret", admin, rest.Handle(c.rotate))
	r.POST("/webhooks/:id/test", admin, rest.Handle(c.test))
	r.GET("/webhooks/:id/deliveries", admin, rest.Handle(c.deliveries, rest.AnyQuery))
	r.POST("/webhooks/:id/deliveries/:deliveryId/retry", admin, rest.Handle(c.retry))
}
