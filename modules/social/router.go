package social

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth := m.controller, mw.Auth
	for name := range c.service.providers { // a path parameter would add POST to the Allow header of /auth/sessions
		r.POST("/auth/"+name, auth.Provider, rest.Handle(func(g *gin.Context) error { return c.signIn(g, name) }))
	}
	r.GET("/auth/providers", auth.Public, rest.Handle(c.providers))
	r.GET("/auth/identities", auth.User, rest.Handle(c.list))
	r.DELETE("/auth/identities/:provider", auth.User, rest.Handle(c.unlink))
}
