package emailverification

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, account := m.controller, mw.Auth.AllowRestricted()
	r.POST("/users/me/email-verification", account.User, rest.Handle(c.request))
	r.PUT("/users/me/email", account.StepUp, rest.Handle(c.requestChange))
	r.GET("/email-verifications/:token", account.Public, rest.Handle(c.get))
	r.PUT("/email-verifications/:token", account.Public, rest.Handle(c.confirm))
}
