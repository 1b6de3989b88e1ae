package article

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth, large := m.controller, mw.Auth, mw.Auth.AllowLargeBody()
	r = mw.Resource(r, "articles")
	r.POST("/articles", large.User, mw.Idempotency, rest.Handle(c.create))
	r.GET("/articles", auth.Public, rest.Handle(c.list, rest.AnyQuery))
	r.GET("/articles/changes", auth.Public, mw.Streams, rest.Handle(c.changes, rest.AnyQuery))
	r.GET("/articles/:id", auth.Public, rest.Handle(c.get, "expand"))
	r.PUT("/articles/:id", large.User, rest.Handle(c.update))
	r.PATCH("/articles/:id", large.User, rest.Handle(c.update))
	r.DELETE("/articles/:id", auth.User, rest.Handle(c.delete))
}
