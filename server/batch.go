package server

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/batch"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
)

// mountBatch mounts POST /batch on api. A batch runs on a separate gin.Engine, which has only the routes of resources.
// Authentication, limits and Idempotency-Key apply to the batch as a whole, before its transaction begins.
func mountBatch(api gin.IRouter, root string, db store.DB, modules []kit.Module, outer middleware.Authenticator, mw kit.Middleware) {
	handler := &batch.Handler{
		DB: db, Engine: gin.New(), Root: root, Resources: mw.Resources(), Authenticate: outer.Verify, Keep: middleware.KeepResponse,
	}
	handler.Engine.Use(batch.Use)
	none := func(*gin.Context) {}
	mountResources(handler.Engine, root, modules, kit.Middleware{
		Auth: middleware.Authenticator{Tokens: batch.Caller{}, Now: outer.Now}.Middleware(), Idempotency: none, Streams: none, Origin: none, Resources: mw.Resources,
	})
	outer.Alone = true // other writes wait for a batch
	api.POST(batch.Path, rest.JSONOnly, outer.Middleware().AllowLargeBody().AllowAPIKey().User, mw.Idempotency, rest.Handle(handler.Handle))
}

// mountResources mounts the routes of resources on an engine, and no others. It returns the names of the resources.
func mountResources(engine *gin.Engine, root string, modules []kit.Module, mw kit.Middleware) (names []string) {
	mw.Resource = func(_ gin.IRouter, name string) gin.IRouter {
		names = append(names, name)
		return engine.Group(root, middleware.Resource(name))
	}
	others := gin.New()
	for _, m := range modules {
		m.Routes(others.Group(root), mw)
	}
	return names
}
