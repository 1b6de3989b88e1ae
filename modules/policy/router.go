package policy

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth, large := m.controller, mw.Auth, mw.Auth.AllowLargeBody()
	r.POST("/policies", large.Admin, mw.Idempotency, rest.Handle(c.create))
	r.POST("/policies/evaluate", large.User, rest.Handle(c.evaluate))
	r.GET("/policies", auth.User, rest.Handle(c.list, rest.AnyQuery))
	r.GET("/policies/:id", auth.User, rest.Handle(c.get))
	r.PUT("/policies/:id", large.Admin, rest.Handle(c.update))
	r.PATCH("/policies/:id", large.Admin, rest.Handle(c.update))
	r.DELETE("/policies/:id", auth.Admin, rest.Handle(c.delete))
}
