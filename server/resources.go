package server

import (
	"example.com/ginseng/kit"
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
	for _, user := range users {
		user.UseResources(kit.Resources{Names: mw.Resources(), Root: o.Settings.APIRoot, OpenAPI: o.Documents.OpenAPI, Handler: engine})
	}
	return nil
}
