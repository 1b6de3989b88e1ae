package social

import (
	"maps"
	"slices"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/route"
)

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	for _, name := range slices.Sorted(maps.Keys(m.clientIDs)) { // a path parameter would add POST to the Allow header of /auth/sessions
		_, configured := c.service.providers[name]
		r.POST("/auth/"+name, route.Provider, func(g *gin.Context) error { return c.signIn(g, name) },
			route.Documented("/auth/{provider}"), route.Setting(m.clientIDs[name], configured))
	}
	r.GET("/auth/providers", route.Public, c.providers)
	r.GET("/users/:id/identities", route.Admin, c.listOf, route.AllowAdminKey)
	r.DELETE("/users/:id/identities/:provider", route.StepUpAdmin, c.unlinkOf)
	r.GET("/auth/identities", route.User, c.list)
	r.DELETE("/auth/identities/:provider", route.User, c.unlink)
}
