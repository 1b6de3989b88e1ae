package twofactor

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth
	r.GET("/users/me/two-factor", auth.Restricted, auth.User, rest.Handle(c.show))
	r.POST("/users/me/two-factor", auth.Restricted, auth.Basic, rest.Handle(c.create))
	r.PUT("/users/me/two-factor", auth.Restricted, auth.User, rest.Handle(c.confirm))
	r.DELETE("/users/me/two-factor", auth.Restricted, auth.Basic, rest.Handle(c.disable))
	r.DELETE("/users/:id/two-factor", auth.Admin, rest.Handle(c.remove))
	r.POST("/auth/second-factor", auth.Restricted, auth.Public, rest.Handle(c.signIn))
}
