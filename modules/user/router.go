package user

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.Codes(EmailNotVerified, Suspended)
	r.POST("/users", m.SignUpCaller(route.Public), c.create, route.Idempotent)
	r.GET("/users", route.Admin, c.list, route.List(spec()))
	r.GET("/users/me", route.User, c.me, route.AllowRestricted, route.AllowAPIKey)
	r.GET("/users/:id", route.Public, c.get)
	r.PUT("/users/:id", route.User, c.update)
	r.PATCH("/users/:id", route.User, c.update)
	r.PUT("/users/:id/picture", route.User, c.putPicture, route.Upload(pictureField))
	r.DELETE("/users/:id/picture", route.User, c.deletePicture)
	r.GET("/users/:id/picture", route.Public, c.getPicture, route.Download, route.Query("v"))
	r.PUT("/users/:id/password", route.StepUp, c.changePassword, route.AllowRestricted)
	r.DELETE("/users/:id", route.StepUp, c.delete, route.AllowRestricted)
}

// SignUpCaller returns the callers of sign-up: those with the master key, unless PUBLIC_SIGNUP allows any caller. public is
// route.Public.
func (m *Module) SignUpCaller(public route.Caller) route.Caller {
	return unlessMaster(m.PublicSignUp(), public)
}

// SignInCaller returns the callers of routes that begin a sign-in or a password reset: those with the master key, unless
// PUBLIC_SIGNIN or OpenSignIn allows any caller. public is route.Public or, for a handler that reads HTTP Basic, route.SignIn.
func (m *Module) SignInCaller(public route.Caller) route.Caller {
	return unlessMaster(m.PublicSignIn(), public)
}

func unlessMaster(allowed bool, public route.Caller) route.Caller {
	if allowed {
		return public
	}
	return route.Master
}
