package emailcode

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth.AllowRestricted()
	r.POST("/auth/email-code", m.users.SignUpAuth(auth), rest.Handle(c.request))
	r.PUT("/auth/email-code", auth.Public, rest.Handle(c.signIn))
}
