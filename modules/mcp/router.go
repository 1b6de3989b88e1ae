package mcp

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module. The routes that the tools call check the scopes of API keys and the restrictions of users.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	auth := mw.Auth.AllowRestricted().AllowLargeBody().AllowAPIKey()
	r.POST("/mcp", mw.Origin, rest.JSONOnly, auth.User, rest.Handle(m.controller.handle))
}
