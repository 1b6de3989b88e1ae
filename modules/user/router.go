package user

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth, account := m.controller, mw.Auth, mw.Auth.AllowRestricted()
	r.POST("/users", m.SignUpAuth(auth), mw.Idempotency, rest.Handle(c.create))
	r.GET("/users", auth.Admin, rest.Handle(c.list, rest.AnyQuery))
	r.GET("/users/me", account.AllowAPIKey().User, rest.Handle(c.me))
	r.GET("/users/:id", auth.Public, rest.Handle(c.get))
	r.PUT("/users/:id", auth.User, rest.Handle(c.update))
	r.PATCH("/users/:id", auth.User, rest.Handle(c.update))
	r.PUT("/users/:id/password", account.StepUp, rest.Handle(c.changePassword))
	r.DELETE("/users/:id", account.StepUp, rest.Handle(c.delete))
}

// SignUpAuth returns the middleware for sign-up and other routes that require no user token, such as requests for password
// resets. The middleware requires the master key, unless PUBLIC_SIGNUP allows any caller.
func (m *Module) SignUpAuth(auth kit.Auth) gin.HandlerFunc {
	if m.settings.PublicSignup {
		return auth.Public
	}
	return auth.Master
}

// SignInAuth is like SignUpAuth, for a handler that reads HTTP Basic.
func (m *Module) SignInAuth(auth kit.Auth) gin.HandlerFunc {
	auth.Public = auth.SignIn
	return m.SignUpAuth(auth)
}
