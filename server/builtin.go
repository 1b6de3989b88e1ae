package server

import (
	"context"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/audit"
	"example.com/ginseng/kit/batch"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/middleware"
)

// builtIn returns the modules that every service has.
func builtIn(o HandlerOptions, table *route.Table, authenticator middleware.Authenticator) []kit.Module {
	modules := []kit.Module{health{o.Ready}}
	if o.Settings.Docs {
		modules = append(modules, newDocumentation(o.Documents, o.Settings.APIRoot))
	}
	if o.Deps.Development {
		modules = append(modules, newPreviews(o.Modules))
	}
	return append(modules,
		newEmailQueue(o.Deps),
		&audit.Module{DB: o.Deps.DB, Cursors: o.Deps.Cursors},
		&batch.Module{DB: o.Deps.DB, Table: table, Authenticate: authenticator.Verify, Keep: middleware.KeepResponse})
}

const livez, readyz = "/livez", "/readyz"

// health has the health checks: /livez responds 200 while the process runs, /readyz while the service can serve requests.
type health struct {
	ready func(context.Context) error
}

// Routes implements kit.Module.
func (h health) Routes(r *route.Router) {
	ok := func(g *gin.Context) error { return rest.OK(g, map[string]string{"status": "ok"}) }
	r = r.AtRoot()
	r.GET(livez, route.Open, ok)
	r.GET(readyz, route.Open, func(g *gin.Context) error {
		if err := h.ready(g.Request.Context()); err != nil {
			return err
		}
		return ok(g)
	})
}
