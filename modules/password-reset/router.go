package passwordreset

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, account := m.controller, mw.Auth.AllowRestricted()
	r.POST("/password-resets", m.users.SignUpAuth(account), rest.Handle(c.create))
	r.GET("/password-resets/:token", account.Public, rest.Handle(c.get))
	r.PUT("/password-resets/:token", account.Public, rest.Handle(c.complete))
}
