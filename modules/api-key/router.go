package apikey

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth, account := m.controller, mw.Auth, mw.Auth.AllowRestricted()
	m.resources = mw.Resources
	r.POST("/users/me/api-keys", auth.StepUp, rest.Handle(c.create))
	r.GET("/users/:id/api-keys", auth.User, rest.Handle(c.list))
	r.GET("/users/:id/api-keys/:keyId", auth.User, rest.Handle(c.get))
	r.DELETE("/users/:id/api-keys/:keyId", account.StepUpOthers, rest.Handle(c.delete))
}
