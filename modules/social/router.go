package social

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth
	r.POST("/auth/:provider", auth.Provider, rest.Handle(c.signIn))
	r.GET("/auth/identities", auth.User, rest.Handle(c.index))
	r.DELETE("/auth/identities/:provider", auth.User, rest.Handle(c.unlink))
}
