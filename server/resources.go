package server

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/middleware"
)

// provideResources calls UseResources of the modules that implement kit.ResourceUser. Requests that these modules make run on a
// separate gin.Engine, which has only the routes of resources.
func provideResources(o HandlerOptions, auth middleware.Authenticator, mw kit.Middleware) error {
	var users []kit.ResourceUser
	for _, m := range o.Modules {
		if user, ok := m.(kit.ResourceUser); ok {
			users = append(users, user)
		}
	}
	if users == nil {
		return nil
	}
	engine, err := newEngine(o.Settings)
	if err != nil {
		return err
	}
	engine.Use(middleware.RequestLog(o.Deps.Log, o.Observer), middleware.Recovery())
	engine.NoRoute(noRoute)
	// With a shared limit, a call could wait for the request that makes the call.
	auth.Writes = middleware.NewUserWrites(userWriteBytes, writeWait)
	mw.Auth = auth.Middleware()
	mountResources(engine, o.Settings.APIRoot, o.Modules, mw)
	checked := gin.New()
	none := func(*gin.Context) {}
	mountResources(checked, o.Settings.APIRoot, o.Modules, kit.Middleware{
		Auth: middleware.CheckOnly(), Idempotency: none, Streams: none, Origin: none, Resources: mw.Resources,
	})
	allows := func(caller access.Principal, method, path string) bool {
		return middleware.Allows(checked, caller, method, o.Settings.APIRoot+path)
	}
	for _, user := range users {
		user.UseResources(kit.Resources{Names: mw.Resources(), Root: o.Settings.APIRoot, OpenAPI: o.Documents.OpenAPI, Handler: engine, Allows: allows})
	}
	return nil
}
