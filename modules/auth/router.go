package auth

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth
	r.POST("/auth", auth.Restricted, m.users.SignInAuth(auth), rest.Handle(c.signIn))
	r.POST("/auth/refresh", auth.Restricted, auth.Public, rest.Handle(c.refresh))
	r.GET("/auth/sessions", auth.User, rest.Handle(c.index, rest.AnyQuery))
	r.DELETE("/auth", auth.Restricted, auth.User, rest.Handle(c.signOut))
	r.DELETE("/auth/sessions", auth.Restricted, auth.User, rest.Handle(c.endOthers))
	r.DELETE("/auth/sessions/:id", auth.Restricted, auth.User, rest.Handle(c.end))
	r.DELETE("/users/:id/sessions", auth.Restricted, auth.User, rest.Handle(c.endAll))
}
