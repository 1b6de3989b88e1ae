package emailverification

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth
	r.POST("/users/me/email-verification", auth.Restricted, auth.User, rest.Handle(c.request))
	r.PUT("/users/me/email", auth.Restricted, auth.Basic, rest.Handle(c.requestChange))
	r.GET("/email-verifications/:token", auth.Restricted, auth.Public, rest.Handle(c.show))
	r.PUT("/email-verifications/:token", auth.Restricted, auth.Public, rest.Handle(c.confirm))
}
