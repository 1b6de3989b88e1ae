// Ginseng is a REST API service over MongoDB or an embedded database.
package main

import (
	"example.com/ginseng/config"
	"example.com/ginseng/docs"
	"example.com/ginseng/kit"
	"example.com/ginseng/modules"
	"example.com/ginseng/server"
)

// version is set by the linker: go build -ldflags "-X main.version=v1.2.3".
var version = "unknown"

// The general annotations of the API documents.
//
//	@title						Ginseng
//	@version					1.0
//	@description				Send parameters in a form or as JSON, with the same names. Every error is a Problem (RFC 9457) with a stable code.
//	@BasePath					/
//	@accept						x-www-form-urlencoded,mpfd,json
//	@produce					json
//
//	@securityDefinitions.basic	BasicAuth
//
//	@securityDefinitions.apikey	MasterKey
//	@in							query
//	@name						access_token
//	@description				The value of the setting MASTER_KEY, which in development is in .env. Send it only from your own servers, as Authorization: Bearer KEY, or as access_token in the body or query.
//
//	@securityDefinitions.apikey	UserToken
//	@in							header
//	@name						Authorization
//	@description				The token in the response to POST /auth. Send it as Authorization: Bearer TOKEN, or as access_token in the body or query.
func main() {
	server.Main(server.Service[config.Settings]{
		Name: "ginseng", Version: version,
		Modules: func(d kit.Deps, s config.Settings) []kit.Module { return modules.New(d, s.Modules) },
		OpenAPI: docs.OpenAPI, Swagger: docs.Swagger,
	})
}
