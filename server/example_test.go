package server_test

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/server"
)

// Config has the settings of the service: those of the server, and its own.
type Config struct {
	server.Settings
	Greeting string `mapstructure:"GREETING" default:"Hello"`
}

// Greetings is a module with one route.
type Greetings struct{ greeting string }

// Parts implements kit.Module.
func (m Greetings) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (m Greetings) Routes(r *route.Router) {
	r.GET("/greetings", route.Public, func(g *gin.Context) error {
		return rest.OK(g, map[string]string{"greeting": m.greeting})
	})
}

// This is a whole program. It has the commands of every service, such as serve, migrate and backup.
func ExampleMain() {
	server.Main(server.Service[Config]{
		Name: "greeter",
		Modules: func(d kit.Deps, c Config) []kit.Module {
			return []kit.Module{Greetings{c.Greeting}}
		},
	})
}
