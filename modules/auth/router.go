package auth

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth, account := m.controller, mw.Auth, mw.Auth.AllowRestricted()
	r.POST("/auth", m.users.SignInAuth(account), rest.Handle(c.signIn))
	r.POST("/auth/refresh", account.Refresh, rest.Handle(c.refresh))
	r.GET("/auth/sessions", auth.User, rest.Handle(c.list, rest.AnyQuery))
	r.DELETE("/auth", account.User, rest.Handle(c.signOut))
	r.DELETE("/auth/sessions", account.User, rest.Handle(c.endOthers))
	r.DELETE("/auth/sessions/:id", account.User, rest.Handle(c.end))
	r.DELETE("/users/:id/sessions", account.StepUpOthers, rest.Handle(c.endAll))
}
