package admin

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/route"
)

// Routes implements kit.Module. All files are public: they have no data.
func (m *Module) Routes(r *route.Router) {
	r = r.AtRoot()
	on := route.Setting("ADMIN", m.on)
	r.GET("/admin", route.Open, func(g *gin.Context) error { m.page.Redirect(g); return nil }, on)
	r.GET("/admin/", route.Open, m.index, on, route.AnyQuery) // that of the response of a provider
	r.GET("/admin/:file", route.Open, m.page.ServeFile, on)
	r.GET("/admin/openapi.json", route.Admin, func(g *gin.Context) error { m.page.ServeDocument(g); return nil }, on)
}

func (m *Module) index(g *gin.Context) error {
	first, err := m.first(g.Request.Context())
	if err == nil {
		m.page.ServeIndex(g, first)
	}
	return err
}
