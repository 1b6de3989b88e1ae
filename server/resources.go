package server

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/middleware"
)

// provideResources calls UseResources of the modules that implement it. Their calls run on an engine of its own, with the routes
// of resources and POST /batch.
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
	auth.Writes = middleware.NewUserWrites(userWriteBytes, writeWait) // with that of others, a call would wait for its own request
	mw.Auth = auth.Middleware()
	root := o.Settings.APIRoot
	mountResources(engine, root, o.Modules, mw)
	mountBatch(engine.Group(root), root, o.Deps.DB, o.Modules, auth, mw)
	for _, user := range users {
		user.UseResources(kit.Resources{Names: mw.Resources(), Root: root, OpenAPI: o.Documents.OpenAPI, Handler: engine})
	}
	return nil
}
