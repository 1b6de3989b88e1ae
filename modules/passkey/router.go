package passkey

import "example.com/ginseng/kit/route"

// Routes implements kit.Module.
func (m *Module) Routes(r *route.Router) {
	c := m.controller
	r.POST("/users/me/passkeys/options", route.StepUp, c.registrationOptions)
	r.POST("/users/me/passkeys", route.User, c.create) // the challenge proves that the same user passed StepUp
	r.GET("/users/me/passkeys", route.User, c.list)
	r.GET("/users/me/passkeys/:id", route.User, c.get)
	r.PATCH("/users/me/passkeys/:id", route.StepUp, c.update)
	r.DELETE("/users/me/passkeys/:id", route.StepUp, c.delete)
	r.GET("/users/:id/passkeys", route.Admin, c.listOf)
	r.DELETE("/users/:id/passkeys/:passkeyId", route.StepUpAdmin, c.deleteOf)
	r.POST("/auth/passkey/options", m.users.SignInCaller(route.Public), c.signInOptions, route.AllowRestricted)
	r.POST("/auth/passkey", route.Public, c.signIn, route.AllowRestricted)
}
