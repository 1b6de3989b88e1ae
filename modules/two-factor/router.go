package twofactor

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, account := m.controller, mw.Auth.AllowRestricted()
	r.GET("/users/me/two-factor", account.User, rest.Handle(c.get))
	r.POST("/users/me/two-factor", account.StepUp, rest.Handle(c.create))
	r.PUT("/users/me/two-factor", account.User, rest.Handle(c.confirm))
	r.DELETE("/users/me/two-factor", account.StepUp, rest.Handle(c.disable))
	r.DELETE("/users/:id/two-factor", mw.Auth.StepUpAdmin, rest.Handle(c.remove))
	r.POST("/auth/second-factor", account.Public, rest.Handle(c.signIn))
}
