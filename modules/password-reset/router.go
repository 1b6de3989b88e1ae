package passwordreset

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth
	r.POST("/password-resets", auth.Restricted, m.users.SignUpAuth(auth), rest.Handle(c.create))
	r.GET("/password-resets/:token", auth.Restricted, auth.Public, rest.Handle(c.show))
	r.PUT("/password-resets/:token", auth.Restricted, auth.Public, rest.Handle(c.complete))
}
