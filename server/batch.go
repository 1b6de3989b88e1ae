package server

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/batch"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
)

// mountBatch mounts POST /batch on api. A batch runs on an engine of its own, with the routes of resources: it is
// authenticated, limited and repeated as a whole, before its transaction begins.
func mountBatch(api gin.IRouter, root string, db store.DB, modules []kit.Module, outer middleware.Authenticator, mw kit.Middleware) {
	handler := &batch.Handler{
		DB: db, Engine: gin.New(), Root: root, Resources: mw.Resources(), Authenticate: outer.Again, Keep: middleware.KeepResponse,
	}
	handler.Engine.Use(batch.Use)
	none := func(*gin.Context) {}
	inner := kit.Middleware{
		Auth: middleware.Authenticator{Tokens: batch.Caller{}, Now: outer.Now}.Middleware(), Idempotency: none,
		Resource: func(_ gin.IRouter, name string) gin.IRouter {
			return handler.Engine.Group(root, middleware.Resource(name))
		},
		Resources: mw.Resources,
	}
	others := gin.New() // routes that a batch cannot call
	for _, m := range modules {
		m.Routes(others.Group(root), inner)
	}
	api.POST(batch.Path, mw.Auth.APIKey, mw.Auth.AllowLargeBody().User, mw.Idempotency, rest.Handle(handler.Handle))
}
