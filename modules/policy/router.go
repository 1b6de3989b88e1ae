package policy

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth
	r.POST("/policies", mw.LargeBody, auth.Admin, mw.Idempotency, rest.Handle(c.create))
	r.POST("/policies/evaluate", mw.LargeBody, auth.User, rest.Handle(c.evaluate))
	r.GET("/policies", auth.User, rest.Handle(c.index, rest.AnyQuery))
	r.GET("/policies/:id", auth.User, rest.Handle(c.show))
	r.PUT("/policies/:id", mw.LargeBody, auth.Admin, rest.Handle(c.update))
	r.PATCH("/policies/:id", mw.LargeBody, auth.Admin, rest.Handle(c.update))
	r.DELETE("/policies/:id", auth.Admin, rest.Handle(c.delete))
}
