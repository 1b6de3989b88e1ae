package passkey

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
)

// Routes implements kit.Module.
func (m *Module) Routes(r gin.IRouter, mw kit.Middleware) {
	c, auth, account := m.controller, mw.Auth, mw.Auth.AllowRestricted()
	r.POST("/users/me/passkeys/options", auth.StepUp, rest.Handle(c.registrationOptions))
	r.POST("/users/me/passkeys", auth.User, rest.Handle(c.create)) // the challenge proves that the same user passed StepUp
	r.GET("/users/me/passkeys", auth.User, rest.Handle(c.list))
	r.GET("/users/me/passkeys/:id", auth.User, rest.Handle(c.get))
	r.PATCH("/users/me/passkeys/:id", auth.StepUp, rest.Handle(c.update))
	r.DELETE("/users/me/passkeys/:id", auth.StepUp, rest.Handle(c.delete))
	r.GET("/users/:id/passkeys", auth.Admin, rest.Handle(c.listOf))
	r.DELETE("/users/:id/passkeys/:passkeyId", auth.StepUpAdmin, rest.Handle(c.deleteOf))
	r.POST("/auth/passkey/options", m.users.SignUpAuth(account), rest.Handle(c.signInOptions))
	r.POST("/auth/passkey", account.Public, rest.Handle(c.signIn))
}
